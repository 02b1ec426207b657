/**
 * Cursors of rows in an order of their own: the sort values and keys of a page's last row, so that
 * the next page begins after it, whatever was inserted meanwhile.
 */
import type { PlainValue } from '../type/plain.ts'
import type { RowKey } from '../type/transaction.ts'
import type { SortPosition } from './bound.ts'

/** No cursor of the default order, which is base64, has a dot. */
const prefix = 's.'
const countPrefix = 'n.'

/** Of the texts of a position: cursors are sent in headers, too. */
export const longestPosition = 4096

type Encoded = readonly [
  values: readonly PlainValue[],
  paginationKey: readonly [number, number],
  object: number,
  version: readonly [number, number],
]

export function formatSortCursor({ values, paginationKey, object, version }: SortPosition): string {
  const key = ({ transaction, index }: RowKey) => [transaction, index] as const
  const encoded: Encoded = [values, key(paginationKey), object, key(version)]
  const text = JSON.stringify(encoded, (_, value) =>
    typeof value === 'bigint' ? { bigint: String(value) } : value,
  )
  return prefix + Buffer.from(text).toString('base64url')
}

/** The cursor of a place that only the number of rows before it tells, as its values are too long. */
export function formatCountCursor(rows: number): string {
  return countPrefix + rows
}

/** The number of rows; undefined when the text is not such a cursor. */
export function parseCountCursor(text: string): number | undefined {
  return /^n\.\d{1,15}$/.test(text) ? Number(text.slice(countPrefix.length)) : undefined
}

/** Undefined when the text is not such a cursor. */
export function parseSortCursor(text: string): SortPosition | undefined {
  if (!text.startsWith(prefix)) return undefined
  let decoded: unknown
  try {
    decoded = JSON.parse(
      Buffer.from(text.slice(prefix.length), 'base64url').toString(),
      reviveBigint,
    )
  } catch {
    return undefined
  }
  if (!isEncoded(decoded)) return undefined
  const [values, paginationKey, object, version] = decoded
  const key = ([transaction, index]: readonly [number, number]): RowKey => ({ transaction, index })
  return { values, paginationKey: key(paginationKey), object, version: key(version) }
}

function reviveBigint(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('bigint' in value)) return value
  return /^-?\d{1,400}$/.test(String(value.bigint)) ? BigInt(String(value.bigint)) : null
}

function isEncoded(value: unknown): value is Encoded {
  if (!Array.isArray(value) || value.length !== 4) return false
  const [values, paginationKey, object, version] = value as unknown[]
  return (
    Array.isArray(values) &&
    values.every(isPlain) &&
    isKey(paginationKey) &&
    Number.isSafeInteger(object) &&
    isKey(version)
  )
}

function isKey(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)
}

function isBelow(value: unknown, end: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end
}

/** A cursor comes from outside, whoever made it. */
function isPlain(value: unknown): value is PlainValue {
  if (value === null || typeof value !== 'object') return true
  if (!Array.isArray(value)) return false
  const [tag, first, second] = value as unknown[]
  switch (tag) {
    case 'time':
      return Number.isFinite(first) && (second === undefined || isBelow(second, 1000))
    case 'interval':
      return Number.isFinite(first) && Number.isFinite(second)
    case 'array':
      return Array.isArray(first) && first.every(isPlain)
    case 'object':
      return (
        Array.isArray(first) &&
        first.every((e) => Array.isArray(e) && typeof e[0] === 'string' && isPlain(e[1]))
      )
    default:
      return false
  }
}
