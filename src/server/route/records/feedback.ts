/**
 * Feedback on records, as rows: what it says of scores, tags and the expected value is merged into the
 * record, a comment becomes one of its comments, and who said it goes into its audit data.
 */
import { randomUUID } from 'node:crypto'
import type { Fields } from '../../../catalog/schema/field.ts'
import { AssayError } from '../../../error.ts'
import { isJsonObject } from '../../../type/exact-json.ts'

const merged = ['scores', 'expected', 'tags'] as const
const sources: readonly unknown[] = ['app', 'api', 'external']

/** The rows that an item comes to; `path` is its place in the request. */
export function feedbackRows(item: unknown, path: string): Fields[] {
  if (!isJsonObject(item)) throw invalid(path, 'must be an object')
  const { id, comment, source, metadata } = item
  if (typeof id !== 'string') throw invalid(`${path}.id`, 'must be the id of a record')
  if (!isGiven(comment) && !merged.some((name) => isGiven(item[name]))) return []
  if (isGiven(source) && !sources.includes(source)) {
    throw invalid(`${path}.source`, 'must be "app", "api" or "external"')
  }
  if (isGiven(comment) && typeof comment !== 'string') {
    throw invalid(`${path}.comment`, 'must be a string')
  }
  const audit = { _audit_source: source ?? 'external', _audit_metadata: metadata ?? null }
  const changes = merged.filter((name) => isGiven(item[name]))
  const rows: Fields[] = []
  if (changes.length > 0) {
    const fields = Object.fromEntries(changes.map((name) => [name, item[name]]))
    rows.push({ id, _is_merge: true, ...fields, ...audit })
  }
  if (isGiven(comment)) {
    rows.push({ id: randomUUID(), origin: { id }, comment: { text: comment }, ...audit })
  }
  return rows
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function invalid(path: string, problem: string): AssayError {
  return new AssayError('REQUEST_INVALID', `${path} ${problem}`, { path })
}
