/**
 * Deletes all that is stored of a person: every record one of whose versions names an id of theirs, or that a filter finds
 * now, with all its versions and the files that it alone names. What is left is a certificate, which names nobody.
 */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceView } from '../../access/service-view.ts'
import type { Attachments } from '../../attachment/attachments.ts'
import { contentName } from '../../attachment/content-store.ts'
import type { BackupState } from '../../backup/backup-state.ts'
import type { Actor } from '../../catalog/audit-trail.ts'
import type { CatalogObject } from '../../catalog/catalog.ts'
import type { Engine } from '../../engine.ts'
import { contentHash } from '../../storage/content-hash.ts'
import type { Sought } from '../../storage/maintenance/find-versions.ts'
import { writeExactJson } from '../../type/exact-json.ts'
import type { ExportedCopies, WrittenVersions } from '../export/exported-copies.ts'
import type { ScheduledExports } from '../export/scheduled-exports.ts'
import { eachRow } from '../query-rows.ts'
import { deleteRecords } from './retention.ts'
import { checkFilter, usualHoldTags } from './rule.ts'
import { heldRecords, quoted } from './select-traces.ts'

export interface PersonRequest {
  readonly organizationId: string
  /** All projects of the organization when not given. */
  readonly projectId?: string | undefined
  /** Values that name the person. */
  readonly userIds: readonly string[]
  /** A condition on records as they are now. */
  readonly filter?: string | undefined
  /** Only counts. */
  readonly isDryRun: boolean
}

export interface DeletedObject {
  readonly object_type: string
  readonly object_id: string
  readonly records: number
  /** Records that stay, since a tag holds their traces. */
  readonly held: number
  readonly transactions: readonly string[]
}

export interface Certificate {
  readonly created: string
  readonly org_id: string
  readonly project_id: string | null
  /** SHA-256 of each of the ids, and of the filter: the certificate itself names nobody. */
  readonly user_id_hashes: readonly string[]
  readonly filter_hash: string | null
  readonly records: number
  readonly held: number
  readonly attachments: number
  readonly objects: readonly DeletedObject[]
  /** What is left elsewhere, as far as the service knows. */
  readonly copies: {
    /** Files that may have records that were deleted. */
    readonly exports: readonly ExportedCopies[]
    /** When the last backup was taken: it and those before it have what was deleted, later ones do not. */
    readonly last_backup: string | null
  }
  /** What a search of all that is stored found afterwards. */
  readonly proof: {
    /** Row versions that name an id. */
    readonly versions: number
    /** Files of the data directory that have the bytes of an id anywhere, and how many bytes were searched. */
    readonly files: readonly string[]
    readonly bytes: number
  } | null
  /** SHA-256 of all the rest of the certificate, as JSON. */
  readonly hash: string
}

interface Chosen {
  readonly object: CatalogObject
  readonly ids: readonly string[]
  readonly held: number
}

export interface DeletionParts {
  readonly engine: Engine
  readonly attachments: Attachments
  readonly exports: Pick<ScheduledExports, 'copiesOf'>
  readonly backups: Pick<BackupState, 'last'>
  readonly dataDirectory: string
}

/** Records of one request, and of one stored plan. */
const recordsPerStep = 1000

export async function deletePerson(
  parts: DeletionParts,
  request: PersonRequest,
  actor: Actor,
): Promise<Certificate> {
  checkFilter(request.filter)
  const chosen: Chosen[] = []
  for (const object of objectsIn(parts.engine, request)) {
    const one = await choose(parts.engine, object, request)
    if (one.ids.length + one.held > 0) chosen.push(one)
  }
  const { files, written } = await readVersions(parts.engine, chosen)
  const findCopies = async (): Promise<Certificate['copies']> => {
    const { last } = parts.backups
    return {
      exports: await parts.exports.copiesOf(request.organizationId, written),
      last_backup: last ? new Date(last.time).toISOString() : null,
    }
  }
  if (request.isDryRun) {
    return certificate(request, chosen, new Map(), 0, await findCopies(), null)
  }
  const transactions = await deleteChosen(parts.engine, chosen)
  const removed = await removeFiles(parts, request, files)
  const copies = await findCopies()
  const proof = await prove(parts, request)
  const certified = certificate(request, chosen, transactions, removed, copies, proof)
  const done = { deleted_person: certified }
  const [kind, id] = request.projectId
    ? (['project', request.projectId] as const)
    : (['organization', request.organizationId] as const)
  await parts.engine.catalog.noteInTrail(kind, id, done, actor)
  return certified
}

function objectsIn({ catalog }: Engine, request: PersonRequest): CatalogObject[] {
  const { organizationId, projectId } = request
  const projects = [...catalog.list('project', { organizationId })].map(({ id }) => id)
  const wanted = projectId ? projects.filter((id) => id === projectId) : projects
  return wanted.flatMap((id) => [...catalog.objectsInProject(id)])
}

async function choose(
  engine: Engine,
  object: CatalogObject,
  { userIds, filter }: PersonRequest,
): Promise<Chosen> {
  const view = serviceView(engine.catalog, object.projectId)
  const ids = new Set<string>()
  if (userIds.length > 0) {
    for (const id of (await engine.findVersions(object.number, named(userIds))).ids) ids.add(id)
  }
  if (filter) {
    const source = `${object.type}(${quoted(object.id)})`
    const query = `select: id | from: ${source} | filter: (${filter}\n)`
    for await (const { id } of eachRow(engine, { query, view })) ids.add(String(id))
  }
  if (ids.size === 0) return { object, ids: [], held: 0 }
  const rule = { hold_tags: [...usualHoldTags] }
  const before = ids.size
  for (const id of await heldRecords({ engine, view, object, rule })) ids.delete(id)
  return { object, ids: [...ids], held: before - ids.size }
}

async function deleteChosen(
  engine: Engine,
  chosen: readonly Chosen[],
): Promise<Map<CatalogObject, string[]>> {
  const transactions = new Map<CatalogObject, string[]>()
  const steps = chosen.flatMap(({ object, ids }) =>
    Array.from({ length: Math.ceil(ids.length / recordsPerStep) }, (_, i) => ({
      object,
      ids: ids.slice(i * recordsPerStep, (i + 1) * recordsPerStep),
    })),
  )
  if (steps.length === 0) return transactions
  const purges = steps.map(
    ({ object, ids }) => ({ kind: 'deleted', object: object.number, ids }) as const,
  )
  await engine.purge(purges, async () => {
    for (const { object, ids } of steps) {
      const known = transactions.get(object) ?? []
      transactions.set(object, [...known, await deleteRecords(engine, object, ids)])
    }
  })
  return transactions
}

/** Keys of the attachments that the records name in any version, and what wrote these. */
async function readVersions(engine: Engine, chosen: readonly Chosen[]) {
  const files = new Set<string>()
  const written: WrittenVersions[] = []
  for (const { object, ids } of chosen) {
    if (ids.length === 0) continue
    const sought = { by: 'ids', ids: new Set(ids) } as const
    const { attachments, transactions } = await engine.findVersions(object.number, sought)
    for (const key of attachments) files.add(key)
    written.push({ object, transactions })
  }
  return { files, written }
}

function named(texts: readonly string[]): Sought {
  return { by: 'texts', texts }
}

/** Removes the files that no record names any more. */
async function removeFiles(
  { engine, attachments }: DeletionParts,
  { organizationId }: PersonRequest,
  keys: ReadonlySet<string>,
): Promise<number> {
  let removed = 0
  for (const key of keys) {
    const name = contentName({ organizationId, kind: 'attachment', key })
    const { objects } = engine.catalog.filePlaces(name)
    let isNamed = false
    for (const { number } of objects) {
      isNamed ||= (await engine.findVersions(number, named([key]))).ids.size > 0
    }
    if (isNamed) continue
    await attachments.store.remove(name)
    await engine.catalog.forgetFile(name)
    removed++
  }
  return removed
}

async function prove(
  { engine, dataDirectory }: DeletionParts,
  request: PersonRequest,
): Promise<NonNullable<Certificate['proof']>> {
  const { userIds } = request
  let versions = 0
  if (userIds.length > 0) {
    for (const { number } of objectsIn(engine, request)) {
      versions += (await engine.findVersions(number, named(userIds))).versions
    }
  }
  const texts = userIds.flatMap((id) => {
    const digits = id.replaceAll('-', '')
    const isPacked = digits.length >= 16 && digits.length % 2 === 0 && /^[0-9a-f]+$/.test(digits)
    return isPacked ? [Buffer.from(id), Buffer.from(digits, 'hex')] : [Buffer.from(id)]
  })
  const files: string[] = []
  let bytes = 0
  if (texts.length > 0) {
    for (const entry of await readdir(dataDirectory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const found = await searchFile(path, texts)
      bytes += found.bytes
      if (found.isFound) files.push(path.slice(dataDirectory.length + 1))
    }
  }
  return { versions, files, bytes }
}

/** A file that goes meanwhile has nothing. */
async function searchFile(path: string, texts: readonly Buffer[]) {
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1
  let [bytes, isFound] = [0, false]
  let before: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
      const part = Buffer.concat([before, chunk as Buffer])
      bytes += (chunk as Buffer).length
      isFound ||= texts.some((text) => part.includes(text))
      before = part.subarray(Math.max(0, part.length - overlap))
    }
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) throw thrown
  }
  return { bytes, isFound }
}

function certificate(
  { organizationId, projectId, userIds, filter }: PersonRequest,
  chosen: readonly Chosen[],
  transactions: ReadonlyMap<CatalogObject, readonly string[]>,
  attachments: number,
  copies: Certificate['copies'],
  proof: Certificate['proof'],
): Certificate {
  const objects = chosen.map(({ object, ids, held }) => ({
    object_type: object.type,
    object_id: object.id,
    records: ids.length,
    held,
    transactions: transactions.get(object) ?? [],
  }))
  const rest = {
    created: new Date().toISOString(),
    org_id: organizationId,
    project_id: projectId ?? null,
    user_id_hashes: userIds.map(contentHash),
    filter_hash: filter ? contentHash(filter) : null,
    records: objects.reduce((sum, { records }) => sum + records, 0),
    held: objects.reduce((sum, { held }) => sum + held, 0),
    attachments,
    objects,
    copies,
    proof,
  }
  return { ...rest, hash: contentHash(writeExactJson(rest)) }
}
