/** The catalog as a backup without secrets has it. */
import { parseExactJson } from '../type/exact-json.ts'
import { type EntryKind, entryKinds } from './entry.ts'
import { jsonBytes, type StoredEntry } from './entry-store.ts'
import { rulesOf } from './kind-rules.ts'

/** Kinds that are nothing but a way in: keys, tokens, passwords and sessions. */
const wayIn = 'hash'
const sealed = 'sealed'

/**
 * What is told of a stored entry, by its key; undefined for keys, tokens, passwords and sessions, which let nobody in
 * without what is left out. Secrets of users keep their names and lose their values.
 */
export function withoutSecrets(key: string, value: Buffer): Buffer | undefined {
  const [kind, hidden] = hiddenOf(key)
  if (kind === undefined || hidden.length === 0) return value
  if (hidden.includes(wayIn)) return undefined
  if (!hidden.includes(sealed)) return value
  const stored = parseExactJson(value.toString()) as StoredEntry<EntryKind>
  const entry = { ...stored.entry, sealed: null, preview_secret: null } as typeof stored.entry
  return jsonBytes({ ...stored, entry })
}

/** Sessions are not restored: who was signed in signs in again. */
export function isSession(key: string): boolean {
  return kindOf(key) === 'session'
}

function hiddenOf(key: string): readonly [EntryKind | undefined, readonly string[]] {
  const kind = kindOf(key)
  return [kind, kind === undefined ? [] : (rulesOf(kind).hidden ?? [])]
}

function kindOf(key: string): EntryKind | undefined {
  const [first, second] = key.split('/')
  const name = first === 'deleted' ? second : first
  return entryKinds.find((kind) => kind === name)
}
