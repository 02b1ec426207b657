/**
 * Fields of entries that this version does not know: a newer client sent them, and finds them again. They
 * are members of the entry beside those of its schema.
 */
import { accessKinds, type EntryKind, entrySchemas } from './entry.ts'
import type { Fields } from './schema/field.ts'

/**
 * Kinds that rights, people or secrets are made of keep none: what is unknown might be meant to take
 * something away, or not to be shown.
 */
const closedKinds: ReadonlySet<EntryKind> = new Set<EntryKind>([
  ...accessKinds,
  'ai_secret',
  'environment_object',
  'env_var',
])

/** Names that say what an entry is, or where: none is taken from a client where the schema has none. */
const reserved: ReadonlySet<string> = new Set([
  'id',
  'created',
  'deleted_at',
  'name',
  'org_id',
  'org_name',
  'user_id',
  'project_id',
  'project_name',
  'object_type',
  'object_id',
  'member_permissions',
  'member_users',
  'hash',
  'sealed',
])

/** Whether an entry of the kind may keep a field of this name that its schema does not have. */
export function isFurtherField(kind: EntryKind, name: string): boolean {
  if (closedKinds.has(kind) || reserved.has(name) || name.startsWith('_xact')) return false
  return !Object.hasOwn(entrySchemas[kind].shape, name)
}

/** Those that an entry has, or that a new one is given. */
export function furtherFields(kind: EntryKind, entry: object): Fields {
  if (closedKinds.has(kind)) return {}
  return Object.fromEntries(
    Object.entries(entry).filter(([name, value]) => value !== null && isFurtherField(kind, name)),
  )
}
