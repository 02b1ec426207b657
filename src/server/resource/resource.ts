/**
 * The routes of a kind of entry, all made from one description: create, replace, list, read, change,
 * remove. Resources whose rules differ bring functions for what they do in another way.
 */
import { z } from 'zod'
import type { Gate, GivenToGate } from '../../access/gate.ts'
import {
  type Entries,
  type EntryKind,
  entrySchemas,
  type FoundOrCreated,
  type Patch,
} from '../../catalog/entry.ts'
import { furtherFields, isFurtherField } from '../../catalog/further-fields.ts'
import { missingAccess, missingReference } from '../../catalog/missing-access.ts'
import type { Fields } from '../../catalog/schema/field.ts'
import { AssayError } from '../../error.ts'
import { operation, requireShort } from '../operation.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'
import { isOwnOrganization, type PageQuery, pageQuery, readPage } from './list-query.ts'
import { mergedFields } from './merge.ts'

type Values = { readonly [field: string]: unknown }

export interface Resource<K extends EntryKind> {
  readonly kind: K
  /** `/v1/project_tag` */
  readonly path: string
  /** The name of its id in paths and of its name in lists: `project_tag`. */
  readonly parameter: string
  /** For people: "project tag". */
  readonly title: string
  /** What answers have. */
  readonly schema: z.ZodObject
  readonly list: ListForm<K>
  readonly creation?: CreationForm<K>
  readonly patch?: PatchForm<K>
  readonly isRemovable: boolean
  /** More than the entry's own fields. */
  present?(entry: Entries[K], gate: Gate): Values
}

export interface ListForm<K extends EntryKind> {
  /** Parameters beside those of all lists. */
  readonly query?: z.ZodRawShape
  /** What the list is narrowed to; null if that cannot have anything. */
  scope?(query: Values, gate: Gate): { readonly parentId?: string } | null
  matches?(query: Values): (entry: Entries[K]) => boolean
}

export interface CreationForm<K extends EntryKind> {
  readonly body: z.ZodObject
  /**
   * What PUT does with an entry that is there already: answers it like POST, or gives it the fields of
   * the body. There is no PUT without it.
   */
  readonly put?: 'find' | 'replace'
  /** What PUT clears if the body does not have it; all that the body can have, if not given. */
  readonly replacement?: readonly string[]
  /** The body may name a project, and need not: without one the entry is of the organization. */
  readonly mayLackProject?: boolean
  /** The new entry from the body; its fields as they are, if not given. */
  given?(body: Values, gate: Gate): Values | Promise<Values>
  create?(given: GivenToGate<K>, body: Values, gate: Gate): Promise<FoundOrCreated<Entries[K]>>
}

export interface PatchForm<K extends EntryKind> {
  readonly body: z.ZodObject
  /** What null takes away; everywhere else null is the same as leaving a field out. */
  readonly clearable?: readonly string[]
  /** What changes; fields of the body merged into those of the entry, if not given. */
  changes?(body: Values, gate: Gate): (before: Entries[K]) => Patch<K>
}

export function resourceRoutes<K extends EntryKind>(resource: Resource<K>): Route[] {
  const { creation, patch, isRemovable } = resource
  return [
    ...(creation ? [createRoute(resource, creation)] : []),
    ...(creation?.put ? [putRoute(resource, creation)] : []),
    listRoute(resource),
    readRoute(resource),
    ...(patch ? [patchRoute(resource, patch)] : []),
    ...(isRemovable ? [removeRoute(resource)] : []),
  ]
}

function createRoute<K extends EntryKind>(resource: Resource<K>, creation: CreationForm<K>): Route {
  return operation({
    method: 'POST',
    path: resource.path,
    tag: resource.title,
    summary: `Makes ${article(resource.title)}, or answers the one that is there as it is`,
    body: creation.body,
    answer: resource.schema,
    keeps: (name) => isFurtherField(resource.kind, name),
    handle: async ({ body, further }, gate) => {
      const given = { ...(await givenOf(creation, body, gate)), ...further }
      return createdReply(resource, await create(resource, creation, given, body, gate), gate)
    },
  })
}

function putRoute<K extends EntryKind>(resource: Resource<K>, creation: CreationForm<K>): Route {
  const replaces = creation.put === 'replace'
  return operation({
    method: 'PUT',
    path: resource.path,
    tag: resource.title,
    summary: replaces
      ? `Makes ${article(resource.title)}, or gives the one that is there these fields`
      : 'The same as POST',
    body: creation.body,
    answer: resource.schema,
    isDeprecated: true,
    keeps: (name) => isFurtherField(resource.kind, name),
    handle: async ({ body, further }, gate) => {
      const given = { ...(await givenOf(creation, body, gate)), ...further }
      const made = await create(resource, creation, given, body, gate)
      const isReplaced = replaces && made.found
      const changes = (before: Entries[K]) => replacement(resource.kind, creation, given, before)
      const entry = isReplaced
        ? await gate.update(resource.kind, made.entry.id, changes)
        : made.entry
      const reply = createdReply(resource, { ...made, entry }, gate)
      return { ...reply, headers: { ...reply.headers, ...putIsDeprecated(resource.path) } }
    },
  })
}

function listRoute<K extends EntryKind>(resource: Resource<K>): Route {
  const { list, parameter } = resource
  const names = z.array(z.string()).optional()
  const query = pageQuery.extend({ [`${parameter}_name`]: names, name: names, ...list.query })
  return operation({
    method: 'GET',
    path: resource.path,
    tag: resource.title,
    summary: `Lists what may be read, newest first`,
    query,
    answer: z.object({ objects: z.array(resource.schema) }),
    handle: ({ query }, gate) => {
      const values: Values = query
      const scope = list.scope ? list.scope(values, gate) : {}
      const given = [values[`${parameter}_name`], values.name].flat()
      const wanted = given.filter((name) => typeof name === 'string')
      const selection = {
        scope: scope ?? {},
        names: wanted.length > 0 ? wanted : undefined,
        matches: list.matches?.(values) ?? (() => true),
      }
      const page = scope ? readPage(gate, resource.kind, query as PageQuery, selection) : []
      return jsonReply({ objects: page.map((entry) => present(resource, entry, gate)) })
    },
  })
}

function readRoute<K extends EntryKind>(resource: Resource<K>): Route {
  return operation({
    method: 'GET',
    path: `${resource.path}/:${resource.parameter}_id`,
    tag: resource.title,
    summary: `Reads ${article(resource.title)}`,
    answer: resource.schema,
    handle: ({ ids }, gate) =>
      jsonReply(present(resource, gate.require('read', resource.kind, ids[0]!), gate)),
  })
}

function patchRoute<K extends EntryKind>(resource: Resource<K>, patch: PatchForm<K>): Route {
  return operation({
    method: 'PATCH',
    path: `${resource.path}/:${resource.parameter}_id`,
    tag: resource.title,
    summary: `Changes fields of ${article(resource.title)}; objects are merged into those that are there`,
    body: patch.body,
    answer: resource.schema,
    keeps: (name) => isFurtherField(resource.kind, name),
    handle: async ({ ids, body, further, request }, gate) => {
      const cleared = patch.clearable ? nulls(await request.body, patch.clearable) : {}
      const fields = { ...withoutNulls(body), ...cleared }
      const known = patch.changes
        ? patch.changes(fields, gate)
        : (before: Entries[K]) => mergedFields(before, fields) as Patch<K>
      const changes = (before: Entries[K]) => ({
        ...known(before),
        ...mergedFurther(resource.kind, before, further),
      })
      const entry = await gate.update(resource.kind, ids[0]!, changes)
      return jsonReply(present(resource, entry, gate))
    },
  })
}

function removeRoute<K extends EntryKind>(resource: Resource<K>): Route {
  return operation({
    method: 'DELETE',
    path: `${resource.path}/:${resource.parameter}_id`,
    tag: resource.title,
    summary: `Removes ${article(resource.title)}, with all that belongs to it`,
    answer: resource.schema,
    handle: async ({ ids }, gate) =>
      jsonReply(present(resource, await gate.remove(resource.kind, ids[0]!), gate)),
  })
}

/** Those of the names that are null in a body, which is JSON as its schema has been asked. */
function nulls(body: Uint8Array, names: readonly string[]): Values {
  const given = JSON.parse(Buffer.from(body).toString()) as Values
  return Object.fromEntries(
    names.filter((name) => given[name] === null).map((name) => [name, null]),
  )
}

/** The fields of a body that are set, without those that only say where it belongs. */
async function givenOf<K extends EntryKind>(
  creation: CreationForm<K>,
  body: Values,
  gate: Gate,
): Promise<Values> {
  const { org_name, ensure_new: _, ...fields } = withoutNulls(body)
  if (typeof org_name === 'string' && !isOwnOrganization(gate, { org_name })) {
    throw missingAccess('create', 'organization', org_name)
  }
  const isPlaced = 'project_id' in creation.body.shape && !creation.mayLackProject
  const placed = isPlaced ? placedIn(fields, gate) : fields
  return creation.given ? creation.given(placed, gate) : placed
}

function create<K extends EntryKind>(
  { kind }: Resource<K>,
  creation: CreationForm<K>,
  given: Values,
  body: Values,
  gate: Gate,
): Promise<FoundOrCreated<Entries[K]>> {
  // The body's schema has vouched for the fields.
  const entry = given as unknown as GivenToGate<K>
  return creation.create ? creation.create(entry, body, gate) : gate.findOrCreate(kind, entry)
}

/** What the body has not is cleared. */
function replacement<K extends EntryKind>(
  kind: K,
  creation: CreationForm<K>,
  given: Values,
  before: Entries[K],
): Patch<K> {
  const { org_name: _, project_name: __, project_id: ___, ...shape } = creation.body.shape
  const names = creation.replacement ?? Object.keys(shape)
  const cleared = Object.fromEntries(names.map((name) => [name, null]))
  const { project_id: ____, ...fields } = given
  return { ...cleared, ...clearedFurther(kind, before), ...fields } as Patch<K>
}

/** The fields of a body with the id of the project that it names in one way or the other. */
export function placedIn({ project_name, ...fields }: Values, gate: Gate): Values {
  const { project_id } = fields
  if (typeof project_id === 'string') {
    if (gate.find('project', project_id)) return fields
    throw missingReference('read', 'project', project_id, 'project_id')
  }
  if (typeof project_name !== 'string') {
    throw new AssayError('REQUEST_INVALID', '"project_id" is missing', { path: 'project_id' })
  }
  const project = gate.projectByName(project_name)
  if (!project) throw missingReference('read', 'project', project_name, 'project_name')
  return { ...fields, project_id: project.id }
}

/** What takes the further fields of an entry away. */
export function clearedFurther<K extends EntryKind>(kind: K, before: Entries[K]): Fields {
  return Object.fromEntries(Object.keys(furtherFields(kind, before)).map((name) => [name, null]))
}

/** Fields that are not known here, merged into those that the entry has; throws a 400 when they get too long. */
export function mergedFurther<K extends EntryKind>(
  kind: K,
  before: Entries[K],
  further: Fields,
): Fields {
  if (Object.keys(further).length === 0) return further
  const merged = mergedFields(before, further)
  requireShort({ ...furtherFields(kind, before), ...merged })
  return merged
}

/** Names of the fields of answers, kept because lists ask for them once for each entry. */
const fieldNames = new WeakMap<z.ZodObject, readonly string[]>()

export function present<K extends EntryKind>(
  { kind, schema, present }: Pick<Resource<K>, 'kind' | 'schema' | 'present'>,
  entry: Entries[K],
  gate: Gate,
): Values {
  const values: Values = present ? { ...entry, ...present(entry, gate) } : entry
  const names = fieldNames.get(schema) ?? Object.keys(schema.shape)
  fieldNames.set(schema, names)
  const shown: Record<string, unknown> = {}
  for (const name of names) shown[name] = values[name] ?? null
  // Reading all names of an entry takes longer: few have further ones.
  if (Object.keys(entry).length === knownCount(kind)) return shown
  return { ...shown, ...furtherFields(kind, entry) }
}

function knownCount(kind: EntryKind): number {
  return Object.keys(entrySchemas[kind].shape).length
}

function createdReply<K extends EntryKind>(
  resource: Resource<K>,
  { entry, found }: FoundOrCreated<Entries[K]>,
  gate: Gate,
): Reply {
  const headers: Record<string, string> = found ? { 'x-bt-found-existing': 'true' } : {}
  return jsonReply(present(resource, entry, gate), headers)
}

export function withoutNulls(values: Values): { [field: string]: unknown } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  )
}

export function putIsDeprecated(path: string): Record<string, string> {
  // Relative: the service may be below a path of a proxy.
  const same = path.slice(path.lastIndexOf('/') + 1)
  return { deprecation: 'true', link: `<${same}>; rel="successor-version"; title="POST"` }
}

function article(title: string): string {
  return /^[aeiou]/i.test(title) ? `an ${title}` : `a ${title}`
}
