/** Who changed what, and when: one record for each change, kept for good. */
import { z } from 'zod'
import { writeExactJson } from '../type/exact-json.ts'
import { type Entries, type EntryKind, entryKinds } from './entry.ts'
import { nameOf, shown } from './kind-rules.ts'
import { fields, identifier, shortText, timestamp } from './schema/field.ts'

/** In whose name something is changed, and by whom. */
export interface Actor {
  /** The acting identity; null for the service itself and for commands on the data directory. */
  readonly userId: string | null
  /** The owner of the credential, where that is somebody else. */
  readonly realUserId?: string
  /** The API key or service token. */
  readonly keyId?: string
  /** Whose trail has what is done to an entry of no organization. */
  readonly organizationId?: string
}

export const system: Actor = { userId: null }

const auditActions = ['create', 'update', 'delete'] as const

export const auditRecordSchema = z.object({
  id: shortText,
  org_id: identifier.nullable(),
  created: timestamp,
  action: z.enum(auditActions),
  entry_type: z.enum(entryKinds as readonly [EntryKind, ...EntryKind[]]),
  entry_id: identifier,
  entry_name: z.string().nullable(),
  /** The acting identity. */
  user_id: identifier.nullable(),
  /** The owner of the credential; the same, unless someone acts as somebody else. */
  real_user_id: identifier.nullable(),
  key_id: identifier.nullable(),
  /** Fields that were changed, as they were; all of a removed entry. */
  before: fields.nullable(),
  /** Fields that were changed, as they are; all of a new entry. */
  after: fields.nullable(),
})

export type AuditRecord = Readonly<z.infer<typeof auditRecordSchema>>

interface Audited<K extends EntryKind> {
  readonly kind: K
  readonly id: string
  readonly before: Entries[K] | undefined
  readonly after: Entries[K] | undefined
  readonly organizationId: string | null
}

export function auditRecord<K extends EntryKind>(
  sequence: number,
  created: string,
  actor: Actor,
  { kind, id, before, after, organizationId }: Audited<K>,
): AuditRecord {
  const entry = after ?? before
  return {
    id: String(sequence).padStart(16, '0'),
    org_id: organizationId ?? actor.organizationId ?? null,
    created,
    action: !before ? 'create' : after ? 'update' : 'delete',
    entry_type: kind,
    entry_id: id,
    entry_name: (entry && nameOf(entry)) ?? null,
    user_id: actor.userId,
    real_user_id: actor.realUserId ?? actor.userId,
    key_id: actor.keyId ?? null,
    ...auditedFields(kind, before, after),
  }
}

/** The entry's fields as the trail has them: secrets are not in it, but that they changed is. */
function auditedFields<K extends EntryKind>(
  kind: K,
  before: Entries[K] | undefined,
  after: Entries[K] | undefined,
): Pick<AuditRecord, 'before' | 'after'> {
  const old = before && shown(kind, before)
  const now = after && shown(kind, after)
  if (!old || !now) return { before: old ?? null, after: now ?? null }
  const changed = Object.keys(now).filter(
    (field) => writeExactJson(now[field] ?? null) !== writeExactJson(old[field] ?? null),
  )
  const pick = (entry: { readonly [field: string]: unknown }) =>
    Object.fromEntries(changed.map((field) => [field, entry[field] ?? null]))
  return { before: pick(old), after: pick(now) }
}
