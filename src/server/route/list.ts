import { AssayError } from '../../error.ts'
import { jsonReply, type Reply } from '../reply.ts'

interface Listed {
  readonly id: string
  readonly name: string
}

const defaultLimit = 1000

/**
 * Answers a page of entries, which come newest first. `nameParameters` are the query parameters
 * that select by name.
 */
export function listReply(
  entries: readonly Listed[],
  query: URLSearchParams,
  nameParameters: readonly string[],
): Reply {
  const after = query.get('starting_after')
  const before = query.get('ending_before')
  if (after !== null && before !== null) {
    throw new AssayError('REQUEST_INVALID', 'starting_after and ending_before exclude each other', {
      path: 'ending_before',
    })
  }
  const selected = select(entries, query, nameParameters)
  const limit = readLimit(query)
  const objects =
    before === null
      ? selected.slice(after === null ? 0 : positionOf(selected, after) + 1).slice(0, limit)
      : lastOf(selected.slice(0, positionOf(selected, before)), limit)
  return jsonReply({ objects })
}

function select(
  entries: readonly Listed[],
  query: URLSearchParams,
  nameParameters: readonly string[],
): readonly Listed[] {
  const ids = ['id', 'ids'].flatMap((name) => query.getAll(name)).flatMap((text) => text.split(','))
  const names = nameParameters.flatMap((name) => query.getAll(name))
  return entries.filter(
    ({ id, name }) =>
      (ids.length === 0 || ids.includes(id)) && (names.length === 0 || names.includes(name)),
  )
}

function positionOf(entries: readonly Listed[], id: string): number {
  const position = entries.findIndex((entry) => entry.id === id)
  if (position === -1) {
    throw new AssayError('REQUEST_INVALID', `"${id.slice(0, 100)}" is not in this list`, {
      hint: 'give the id of an object of the page before',
    })
  }
  return position
}

function lastOf(entries: readonly Listed[], count: number): readonly Listed[] {
  return entries.slice(Math.max(0, entries.length - count))
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit')
  if (text === null) return defaultLimit
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new AssayError(
    'REQUEST_INVALID',
    `limit must be a whole number, not "${text.slice(0, 100)}"`,
    { path: 'limit' },
  )
}
