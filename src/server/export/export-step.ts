/**
 * One step of an export: the next range of transactions that has rows for it becomes one file. It is noted before and
 * after, so that each record is in one file, whenever the service is killed.
 */
import { setImmediate } from 'node:timers/promises'
import type { Access } from '../../access/access.ts'
import type { Gate } from '../../access/gate.ts'
import type { Engine, QueryRequest } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { ExportPlaces } from '../../object-store/export-places.ts'
import type { WrittenRange } from '../../storage/read/written-range.ts'
import { parseTransaction } from '../../type/transaction.ts'
import { type Destination, openDestination } from './destination.ts'
import {
  type ExportManifest,
  listManifests,
  manifestOf,
  manifestPath,
  readExportManifest,
  writeExportManifest,
} from './export-manifest.ts'
import { type Automation, type ExportRule, filePath, periodSeconds } from './export-rule.ts'
import type { ExportState } from './export-states.ts'
import { type RangeTask, writeRange } from './write-range.ts'

export interface StepParts {
  readonly engine: Engine
  readonly access: Access
  readonly places: ExportPlaces
}

export interface StepTask extends StepParts {
  readonly automation: Automation
  readonly rule: ExportRule
  /** Whether somebody waits for all that there is; otherwise what belongs to the next run is left to it. */
  readonly isAsked: boolean
  readonly signal: AbortSignal
  /** Resolves once it is on disk. */
  save(state: ExportState): Promise<void>
}

export interface StepResult {
  readonly state: ExportState
  /** Undefined: there was nothing to write, and all is written. */
  readonly written:
    | { readonly files: number; readonly rows: number; readonly bytes: number }
    | undefined
}

/** Throws what keeps it from going on. */
export async function exportStep(task: StepTask, before: ExportState): Promise<StepResult> {
  const { engine, rule, automation } = task
  const destination = await openDestination(rule.path, task.places)
  const state = await settled(task, destination, before)
  const request: QueryRequest = {
    query: rule.query,
    project: automation.project_id,
    view: gateOf(task),
  }
  const { kind, objects } = await engine.watch(request)
  const query = { request, isOfRecords: kind === 'rows' }
  if (state.begun)
    return writeBegun(task, destination, query, { ...state, begun: state.begun }, true)
  const after = state.through ?? 0
  const numbers = new Set(objects.map(({ number }) => number))
  const isCut = query.isOfRecords || rule.kind === 'traces'
  const { first, through } = await nextRange(task, numbers, after, isCut)
  if (first === undefined) return { state: { ...state, through }, written: undefined }
  const range = { after, first, through }
  const file = filePath(rule, automation.id, range)
  const begun = { ...state, begun: { ...range, path: rule.path, file } }
  await task.save(begun)
  return writeBegun(task, destination, query, begun, false)
}

type Begun = ExportState & { readonly begun: NonNullable<ExportState['begun']> }

/** @param isAgain whether a kill may have left a part of the file, or all */
async function writeBegun(
  task: StepTask,
  destination: Destination,
  query: Pick<RangeTask, 'request' | 'isOfRecords'>,
  { begun, ...state }: Begun,
  isAgain: boolean,
): Promise<StepResult> {
  const { engine, rule, automation, signal } = task
  const { path: _, file, ...range } = begun
  if (isAgain) await removeUnfinished(destination, automation, begun)
  const rangeTask = { engine, rule, ...query, range, signal }
  const { rows, bytes, sha256 } = await writeRange(rangeTask, destination, file)
  const hasFile = sha256 !== undefined
  if (isAgain && !hasFile) await destination.remove(file)
  const ids = {
    automation_id: automation.id,
    project_id: automation.project_id,
    query: rule.query,
  }
  const content = { file: hasFile ? file : null, rows, bytes, sha256: sha256 ?? null }
  await writeExportManifest(destination, manifestOf(ids, range, content))
  const files = hasFile ? 1 : 0
  const ended: ExportState = {
    ...state,
    through: range.through,
    files: state.files + files,
    rows: state.rows + rows,
    bytes: state.bytes + bytes,
  }
  await task.save(ended)
  return { state: ended, written: { files, rows, bytes } }
}

/** In whose name the rows are read, with the rights of this moment. */
function gateOf({ engine, access, automation }: StepTask): Gate {
  const { user_id: userId, project_id } = automation
  const project = engine.catalog.get('project', project_id)
  if (!userId || !project) {
    throw new AssayError('ACCESS_DENIED', 'the export is in nobody’s name', {
      hint: 'have somebody who may read the rows save it',
    })
  }
  const principal = { userId, organizationId: project.org_id, keyId: null }
  try {
    access.requireValid(principal)
  } catch {
    throw new AssayError('ACCESS_DENIED', 'who saved the export last is no member any more', {
      hint: 'have somebody who may read the rows save it',
    })
  }
  return access.gate(principal)
}

/** Brings the state to where a range may begin: what is to be removed is, and where it has come to is known. */
async function settled(
  task: StepTask,
  destination: Destination,
  before: ExportState,
): Promise<ExportState> {
  let state = before
  if (state.through === undefined) {
    state = { ...state, ...(await foundState(task.automation.id, destination)) }
    await task.save(state)
  }
  const { begun } = state
  const { rule, automation } = task
  const isOther =
    begun && (begun.path !== rule.path || begun.file !== filePath(rule, automation.id, begun))
  if (begun && (isOther || state.rewindTo !== undefined)) {
    await removeBegun(task, begun)
    state = { ...state, begun: undefined }
    await task.save(state)
  }
  if (state.rewindTo === undefined) return state
  state = await rewound(task, destination, state, state.rewindTo)
  await task.save(state)
  return state
}

/** What was begun at another place stays there only if that is not allowed any more. */
async function removeBegun(
  { automation, places, rule }: StepTask,
  begun: NonNullable<ExportState['begun']>,
) {
  const isSame = begun.path === rule.path
  const place = await openDestination(begun.path, places).catch((thrown: unknown) => {
    if (isSame) throw thrown
    return undefined
  })
  if (!place) return
  await removeUnfinished(place, automation, begun)
  await place.remove(begun.file)
  await place.remove(manifestPath(automation.id, begun))
}

/** What a kill has left of a file and of its manifest that were not whole. */
async function removeUnfinished(
  destination: Destination,
  { id }: Automation,
  begun: NonNullable<ExportState['begun']>,
): Promise<void> {
  await destination.removeUnfinished(begun.file)
  await destination.removeUnfinished(manifestPath(id, begun))
}

/** What manifests tell of an export whose state is lost, as after a restore. */
async function foundState(id: string, destination: Destination): Promise<Partial<ExportState>> {
  const total = { through: 0, files: 0, rows: 0, bytes: 0 }
  for (const { path, through } of await listManifests(destination, id)) {
    const manifest = await readExportManifest(destination, path)
    if (!manifest) continue
    total.through = Math.max(total.through, through)
    total.files += manifest.file === null ? 0 : 1
    total.rows += manifest.rows
    total.bytes += manifest.bytes
  }
  return total
}

/**
 * Removes the files that have rows of after the transaction, the newest first; the export goes on before the oldest of
 * them. Where that is, is on disk before the first is removed.
 */
async function rewound(task: StepTask, destination: Destination, before: ExportState, to: number) {
  const all = await listManifests(destination, task.automation.id)
  const oldest = all.find(({ through }) => through > to)
  const start = oldest && parseTransaction((await required(destination, oldest.path)).after)
  const through = Math.min(to, before.through ?? 0, start ?? to)
  let state: ExportState = { ...before, rewindTo: through }
  await task.save(state)
  for (const { path } of all.filter((each) => each.through > through).reverse()) {
    task.signal.throwIfAborted()
    const { file, rows, bytes } = await required(destination, path)
    if (file !== null) await destination.remove(file)
    await destination.remove(path)
    state = {
      ...state,
      files: state.files - (file === null ? 0 : 1),
      rows: state.rows - rows,
      bytes: state.bytes - bytes,
    }
    await task.save(state)
  }
  const { rewindTo: _, ...rest } = state
  return { ...rest, through }
}

async function required(destination: Destination, path: string): Promise<ExportManifest> {
  const manifest = await readExportManifest(destination, path)
  if (manifest) return manifest
  throw new AssayError(
    'STORAGE_CORRUPT',
    `${destination.name}/${path} is no manifest of an export`,
    {
      hint: 'remove it, and the file of the same range, and try again',
    },
  )
}

/** The next transactions with rows for the export, with pauses for others. */
async function nextRange(
  task: StepTask,
  objects: ReadonlySet<number>,
  after: number,
  isCut: boolean,
): Promise<WrittenRange> {
  const { engine, rule, signal } = task
  const through = lastOf(task)
  if (through <= after) return { first: undefined, rows: 0, through: after, isWhole: true }
  const bounds = isCut
    ? { mostRows: rule.mostRows, periodSeconds: periodSeconds(rule) }
    : { mostRows: Number.POSITIVE_INFINITY, periodSeconds: Number.POSITIVE_INFINITY }
  let found: WrittenRange = { first: undefined, rows: 0, through: after, isWhole: false }
  while (!found.isWhole) {
    found = engine.writtenRange({ objects, after: found.through, through, ...bounds, found })
    await setImmediate()
    signal.throwIfAborted()
  }
  return found
}

/** The last transaction that there is; of a run at its time, the last of before that. */
function lastOf({ engine, rule, isAsked }: StepTask): number {
  const last = parseTransaction(engine.lastTransactionId())
  if (isAsked) return last
  const { intervalMs } = rule
  const seconds = Math.floor((Math.floor(engine.now() / intervalMs) * intervalMs) / 1000)
  return Math.min(last, seconds * 0x10000 - 1)
}
