/** Compares answers of different systems as wholes. */
import { firstDifference } from '../../../test/support/same-answer.ts'
import type { PeerQuery } from '../queries/peer-query.ts'
import type { Row } from '../systems/system.ts'

/** What is to be known of a query. */
export type Compared = Pick<PeerQuery, 'isOrdered' | 'isWhole' | 'times'>

/** Says where an answer first differs from the one that is expected; undefined if nowhere. */
export function differenceOf(
  query: Compared,
  actual: readonly Row[],
  expected: readonly Row[],
): string | undefined {
  return firstDifference(normalized(query, actual, expected), normalized(query, expected, expected))
}

function normalized(query: Compared, rows: readonly Row[], expected: readonly Row[]): unknown[] {
  const made = rows.map((row, i) =>
    query.isWhole
      ? wholeRow(row, expected[i])
      : plainRow(row, Object.keys(expected[0] ?? row), query.times ?? []),
  )
  return query.isOrdered ? made : sorted(made)
}

/** What a record was sent with: a service adds fields of its own. */
function wholeRow(row: Row, expected: Row | undefined): unknown {
  const sent = Object.keys(bodyOf(expected ?? row))
  const body = bodyOf(row)
  return withoutEmpty(Object.fromEntries(sent.map((key) => [key, body[key]])))
}

function bodyOf(row: Row): Record<string, unknown> {
  const { body = row } = row
  return (typeof body === 'string' ? JSON.parse(body) : body) as Record<string, unknown>
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value === 'string') return sameTime(value)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .map(([key, held]) => [key, withoutEmpty(held)] as const)
    .filter(([, held]) => held !== null && held !== undefined && !isEmpty(held))
  return Object.fromEntries(entries)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

const timeForm = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?Z?$/

/** Times in one form: systems that keep them as times print them in their own. */
function sameTime(text: string): string {
  const [, day, time, fraction = ''] = timeForm.exec(text) ?? []
  return day === undefined ? text : `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

/** Its columns in the order in which the others have them, and then what only it has. */
function plainRow(
  row: Row,
  names: readonly string[],
  times: readonly string[],
): Record<string, unknown> {
  const ordered = new Set([...names.filter((name) => name in row), ...Object.keys(row)])
  const entries = [...ordered].map((name) => {
    const value = row[name]
    return [name, times.includes(name) && typeof value === 'string' ? Date.parse(value) : value]
  })
  return Object.fromEntries(entries)
}

/** By the text of each row, in which its keys stand before its aggregates. */
function sorted(rows: readonly unknown[]): unknown[] {
  const keyed = rows.map((row) => ({ key: JSON.stringify(row), row }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}
