/**
 * Fields of prompts and functions that this version does not know. A row has them in one object, since
 * names of columns mean something in rows.
 */
import type { Fields } from '../../catalog/schema/field.ts'
import { newFunction } from '../../catalog/schema/prompt.ts'
import type { PromptRow } from './prompt-store.ts'

/** Names that say what a row is, or where. */
const reserved: ReadonlySet<string> = new Set([
  'id',
  'created',
  'deleted_at',
  'org_id',
  'org_name',
  'project_name',
  'user_id',
  'log_id',
  'further_fields',
])

export function isFurtherPromptField(name: string): boolean {
  return !reserved.has(name) && !name.startsWith('_') && !Object.hasOwn(newFunction.shape, name)
}

/** The field of a row that has them; nothing if there are none. */
export function withFurther(further: Fields): Fields {
  return Object.keys(further).length === 0 ? {} : { further_fields: further }
}

export function furtherOfRow({ further_fields }: PromptRow): Fields {
  if (typeof further_fields !== 'object' || further_fields === null) return {}
  return Array.isArray(further_fields) ? {} : (further_fields as Fields)
}
