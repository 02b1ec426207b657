/**
 * Feedback on records, as rows: what it says of scores, tags and the expected value is merged into the
 * record, a comment becomes one of its comments, and who said it goes into its audit data.
 */
import { randomUUID } from 'node:crypto'
import { AssayError } from '../../../error.ts'
import { isObject, type Value } from '../../../type/value.ts'

const merged = ['scores', 'expected', 'tags'] as const
const sources: readonly Value[] = ['app', 'api', 'external']

/** The rows that an item comes to; `path` is its place in the request. */
export function feedbackRows(item: Value, path: string): Value[] {
  if (item === null || !isObject(item)) throw invalid(path, 'must be an object')
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
  const rows: Value[] = []
  if (changes.length > 0) {
    const fields = Object.fromEntries(changes.map((name) => [name, item[name]!]))
    rows.push({ id, _is_merge: true, ...fields, ...audit })
  }
  if (isGiven(comment)) {
    rows.push({ id: randomUUID(), origin: { id }, comment: { text: comment }, ...audit })
  }
  return rows
}

function isGiven(value: Value | undefined): value is Exclude<Value, null> {
  return value !== undefined && value !== null
}

function invalid(path: string, problem: string): AssayError {
  return new AssayError('REQUEST_INVALID', `${path} ${problem}`, { path })
}
