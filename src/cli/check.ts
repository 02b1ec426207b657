/** Reads all of a data directory, tells what is damaged, and makes again what can be made again. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SingleBar } from 'cli-progress'
import { repairCatalog } from '../catalog/repair-catalog.ts'
import { readEvictedIds } from '../clickhouse/evicted-ids.ts'
import { targetOf } from '../clickhouse/export-state.ts'
import { type ConfigFlags, readConfig } from '../config.ts'
import { AssayError, toAssayError } from '../error.ts'
import { lockDirectory } from '../storage/directory-lock.ts'
import {
  closeSegments,
  openRecords,
  openSegments,
  type RecordsEnvironment,
  segmentFolders,
} from '../storage/environment.ts'
import { finishSegment } from '../storage/maintenance/finish-segment.ts'
import { flush } from '../storage/maintenance/flush.ts'
import { rebuildSegments } from '../storage/maintenance/rebuild-segments.ts'
import {
  type EvictedId,
  idsToRepair,
  repairRecords,
} from '../storage/maintenance/repair-records.ts'
import { segmentFiles, spaceOf } from '../storage/maintenance/segment-files.ts'
import { isOfRows, isUnreadable, keepAside, setAside } from '../storage/maintenance/set-aside.ts'
import { readEvictedMark } from '../storage/read/evicted-mark.ts'
import { readLeftOut } from '../storage/read/left-out.ts'
import { verifyRecords } from '../storage/read/verify-records.ts'
import type { RecordDamage } from '../storage/record-damage.ts'
import { namedBy } from '../storage/segment/manifest.ts'
import { defaultLimits } from '../storage/segment/segment-sink.ts'
import { SegmentStore } from '../storage/segment/segment-store.ts'
import { type SegmentFault, verifySegments } from '../storage/segment/verify-segments.ts'
import { withCluster } from './clickhouse/open-cluster.ts'
import { counted } from './counted.ts'

/** Where records are whose bodies have left the directory is only asked where ids of them are damaged. */
export interface CheckFlags extends ConfigFlags {
  readonly dataDir: string
  readonly repair?: true
}

/** Exit codes, for scripts. */
const exitCodes = { whole: 0, damaged: 1, unchecked: 2 } as const

/** Without `repair` nothing is written. */
export async function runCheck(flags: CheckFlags): Promise<void> {
  const { dataDir, repair } = flags
  process.exitCode = exitCodes.unchecked
  const directory = resolve(dataDir)
  if (!existsSync(join(directory, 'records', 'data.mdb'))) {
    throw new AssayError('COMMAND_INVALID', `there are no records in ${directory}`, {
      hint: 'name the data directory of a service with --data-dir',
    })
  }
  const lock = await lockDirectory(directory).catch((thrown: unknown) => {
    const { message } = toAssayError(thrown)
    throw new AssayError('COMMAND_INVALID', message, {
      hint: 'stop the service first; while it runs, it checks by itself: see assay_scrub_damages in GET /metrics',
      cause: thrown,
    })
  })
  try {
    const found = await check(directory)
    report(found)
    if (isWhole(found)) process.exitCode = exitCodes.whole
    else if (!repair) {
      process.exitCode = exitCodes.damaged
      say(
        `Nothing was changed. "assay check --repair" makes again what follows from the rest, and moves what does not to a file.`,
      )
    } else {
      const isAllMadeAgain = await repairAll(directory, found, flags)
      say('\nChecking again.')
      const left = await check(directory)
      report(left)
      process.exitCode = isWhole(left) && isAllMadeAgain ? exitCodes.whole : exitCodes.damaged
    }
  } finally {
    await lock.release()
  }
}

interface Found {
  readonly segments: readonly SegmentFault[]
  readonly records: readonly RecordDamage[]
  readonly segmentCount: number
  readonly bytes: number
}

function isWhole({ segments, records }: Found): boolean {
  return segments.length === 0 && records.length === 0
}

async function check(directory: string): Promise<Found> {
  const records = openRecords(directory, { readOnly: true })
  try {
    const ofSegments = await checkSegments(directory)
    const damages: RecordDamage[] = []
    const bar = progressBar('records', recordBytes(records))
    let bytes = 0
    for (const step of verifyRecords(records, (damage) => damages.push(damage))) {
      bytes = step.bytes
      bar?.update(bytes)
    }
    bar?.stop()
    return { ...ofSegments, records: damages, bytes: ofSegments.bytes + bytes }
  } finally {
    await records.root.close()
  }
}

async function checkSegments(directory: string): Promise<Omit<Found, 'records'>> {
  const isThere = segmentFolders(directory).every((folder) => existsSync(join(folder, 'data.mdb')))
  if (!isThere) {
    const what = 'the segments, or a part of them, are not there'
    return { segments: [{ segment: undefined, kind: 'manifest', what }], segmentCount: 0, bytes: 0 }
  }
  const environment = openSegments(directory, { readOnly: true })
  try {
    const store = new SegmentStore(environment)
    const used = segmentFiles(environment).reduce((sum, file) => sum + spaceOf(file).usedBytes, 0)
    const bar = progressBar('segments', used)
    const segments: SegmentFault[] = []
    let bytes = 0
    for (const step of verifySegments(store, (fault) => segments.push(fault))) {
      bytes = step.bytes
      bar?.update(bytes)
    }
    bar?.stop()
    return { segments, segmentCount: namedBy(store.manifest()).length, bytes }
  } finally {
    await closeSegments(environment)
  }
}

/** Returns whether all that was damaged could be made again. */
async function repairAll(directory: string, found: Found, flags: ConfigFlags): Promise<boolean> {
  const records = openRecords(directory, { readOnly: false })
  const environment = openSegments(directory, { readOnly: false })
  try {
    const store = new SegmentStore(environment)
    const evicted = await evictedIds(records, found, flags)
    const { gone, isAllMadeAgain, isLeftOutLost } = repairValues(directory, records, found, evicted)
    const isAnyLeftOut = isLeftOutLost || readLeftOut(records.progress).length > 0
    if (isAnyLeftOut || found.segments.some(({ kind }) => kind === 'manifest')) {
      makeAllSegments(records, store)
    } else makeSegments(records, store, found.segments, gone)
    while (finishSegment(store));
    removeUnnamed(store)
    return isAllMadeAgain
  } finally {
    await closeSegments(environment)
    await records.root.close()
  }
}

/** Those that are damaged, and those with rows that the row store has no more. */
function makeSegments(
  records: RecordsEnvironment,
  store: SegmentStore,
  faults: readonly SegmentFault[],
  gone: ReturnType<typeof setAside>,
): void {
  const damaged = new Set(
    faults.flatMap(({ kind, segment = 0 }) => (kind === 'segment' ? [segment] : [])),
  )
  for (const { id, metadata } of store.manifest().segments) {
    const hasSome = metadata.objects.some((part) =>
      gone.some(
        ({ object, first, last }) =>
          object === part.object && first <= part.lastTransaction && last >= part.firstTransaction,
      ),
    )
    if (hasSome) damaged.add(id)
  }
  if (damaged.size > 0) {
    say(`Making ${counted(damaged.size, 'segment')} again.`)
    rebuildSegments(records, store, [...damaged], defaultLimits)
  }
  for (const { kind, segment } of faults) {
    if (kind === 'key index' && !damaged.has(segment!)) store.writeKeys(segment!)
  }
}

/** From the records, as if there were none. What flushes have left out is among them then, as far as it can be read. */
function makeAllSegments(records: RecordsEnvironment, store: SegmentStore): void {
  say('Making all segments again; this takes about a minute for each 2 GB of records.')
  const manifest = store.manifest()
  const { nextSegment } = manifest
  if (manifest.flushedThrough > 0) {
    store.commit(manifest, { flushedThrough: 0, nextSegment, segments: [] }, undefined)
  }
  removeUnnamed(store)
  flush(records, store, defaultLimits)
}

function removeUnnamed(store: SegmentStore): void {
  const named = new Set(namedBy(store.manifest()))
  store.remove(store.storedIds().filter((id) => !named.has(id)))
}

/** Ids that are to be made again and have left with the bodies: the cluster has them. */
async function evictedIds(
  records: RecordsEnvironment,
  found: Found,
  flags: ConfigFlags,
): Promise<readonly EvictedId[]> {
  const mark = readEvictedMark(records.progress)
  const isWanted = mark && idsToRepair(records, found.records)
  if (!isWanted) return []
  const { clickhouse } = readConfig(flags, process.env)
  if (!clickhouse || targetOf(clickhouse) !== mark.database) {
    throw new AssayError(
      'COMMAND_INVALID',
      `ids are damaged, and those of older records are in ClickHouse alone, in ${mark.database}`,
      { hint: 'give --clickhouse and the other flags of it that the service has' },
    )
  }
  say('Asking ClickHouse for the ids of older records.')
  return withCluster(clickhouse, (cluster) => readEvictedIds(cluster, mark.through, isWanted))
}

/** Makes again what follows from the rest, and takes damaged rows, and entries of the catalog that are lost, away. */
function repairValues(
  directory: string,
  records: RecordsEnvironment,
  found: Found,
  evicted: readonly EvictedId[],
) {
  const unreadable = found.records.filter((damage) => isUnreadable(records, damage))
  if (unreadable.length > 0) {
    const time = new Date().toISOString().replaceAll(':', '-')
    const path = join(directory, `damaged-values-${time}.jsonl`)
    keepAside(records, unreadable, path)
    say(`What is stored of ${counted(unreadable.length, 'damaged value')} was written to ${path}.`)
  }
  const rows = unreadable.filter(isOfRows)
  const gone = rows.length === 0 ? [] : setAside(records, rows)
  const { madeAgain, isLeftOutLost } = repairRecords(records, unreadable, evicted)
  const entries = unreadable.filter(({ database }) => database === 'catalog')
  const ofCatalog =
    entries.length === 0
      ? { madeAgain: [], removed: [], left: [] }
      : repairCatalog(
          records,
          entries.map(({ key }) => Buffer.from(key, 'hex')),
        )
  tell('made again from what else is stored', [...madeAgain, ...ofCatalog.madeAgain])
  tell('removed, and lost; queries go on without them', [
    ...rows.map(({ what }) => what),
    ...ofCatalog.removed,
  ])
  const others = found.records.filter((damage) => !unreadable.includes(damage))
  tell('left: restore a backup of the directory, if you have one', [
    ...ofCatalog.left.map((what) => `${what}, which others belong to`),
    ...others.map(({ what }) => what),
  ])
  const isAllMadeAgain =
    unreadable.length === found.records.length &&
    rows.length + ofCatalog.removed.length + ofCatalog.left.length === 0
  return { gone, isAllMadeAgain, isLeftOutLost }
}

function tell(became: string, names: readonly string[]): void {
  if (names.length === 0) return
  say(`\n${counted(names.length, 'damaged value')} ${names.length === 1 ? 'is' : 'are'} ${became}:`)
  sayEach(names)
}

/** Of what is found, told one by one; of more than that, only how many. */
const mostTold = 200

function report({ segments, records, segmentCount, bytes }: Found): void {
  const megabytes = Math.round(bytes / 2 ** 20).toLocaleString('en')
  say(`Read ${megabytes} MB: the records and ${counted(segmentCount, 'segment')}.`)
  if (segments.length === 0 && records.length === 0) {
    say('All is as it was written.')
    return
  }
  if (segments.length > 0) {
    say(
      `\n${counted(segments.length, 'fault')} in segments, which are made again from the records:`,
    )
    for (const { what } of segments.slice(0, mostTold)) say(`  ${what}`)
  }
  if (records.length > 0) {
    say(`\n${counted(records.length, 'damage')} in the records:`)
    sayEach(records.map(({ what, id }) => `${what}${id === undefined ? '' : ` (record ${id})`}`))
  }
}

function sayEach(names: readonly string[]): void {
  for (const name of names.slice(0, mostTold)) say(`  ${name}`)
  if (names.length > mostTold) say(`  and ${counted(names.length - mostTold, 'more', 'more')}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function recordBytes({ root }: RecordsEnvironment): number {
  const {
    pageSize,
    mapSize: _,
    lastPageNumber = 0,
  } = root.getStats() as {
    pageSize: number
    mapSize: number
    lastPageNumber?: number
  }
  return pageSize * lastPageNumber
}

function progressBar(what: string, totalBytes: number): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined
  const format = `${what} {bar} {percentage}% | {eta_formatted} left`
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
  bar.start(Math.max(totalBytes, 1), 0)
  return bar
}
