/**
 * Transaction ids and pagination keys.
 *
 * Inside, a transaction is a safe integer of 48 bits: `unix seconds × 2^16 + counter`. Outside it is
 * the decimal string of `0x0DE1 × 2^48 + that`, always 19 digits, so that strings order like numbers.
 *
 * A row key is a transaction and the row's place in its request. It names a row version; that of a
 * record's first version is also the record's pagination key, which later versions keep. Outside, a
 * pagination key is `p` and 20 digits of `transaction × 2^16 + index`.
 */
import { AssayError } from '../error.ts'

const prefix = 0x0de1n << 48n
const lowMask = (1n << 48n) - 1n

/** Multipliers of the published pretty form; inverse to each other modulo 2^64. */
const prettyMultiplier = 205891132094649n
const prettyInverse = 1522336535492693385n

/** Rows that one counter value can number. A larger request spills into the counters that follow. */
export const rowsPerTransaction = 0x10000

export interface RowKey {
  readonly transaction: number
  readonly index: number
}

export function compareRowKeys(a: RowKey, b: RowKey): number {
  return a.transaction - b.transaction || a.index - b.index
}

/** The key of the `index`-th row of a request, where `index` may exceed one counter's rows. */
export function rowKey(transaction: number, index: number): RowKey {
  const carry = Math.floor(index / rowsPerTransaction)
  return { transaction: transaction + carry, index: index - carry * rowsPerTransaction }
}

/** The smallest transaction that may be given at `ms`, later than `previous` in any case. */
export function nextTransaction(previous: number, ms: number): number {
  return Math.max(previous + 1, Math.floor(ms / 1000) * 0x10000)
}

/** When a transaction was given, in whole seconds, as ms since 1970. */
export function transactionMs(transaction: number): number {
  return Math.floor(transaction / 0x10000) * 1000
}

export function formatTransaction(transaction: number): string {
  return (prefix | BigInt(transaction)).toString()
}

/** Accepts the decimal form and the 16-digit hexadecimal pretty form; throws on anything else. */
export function parseTransaction(text: string): number {
  if (/^\d{1,20}$/.test(text)) return Number(BigInt(text) & lowMask)
  if (/^[0-9a-f]{16}$/i.test(text)) {
    return Number((BigInt(`0x${text}`) * prettyInverse) & lowMask)
  }
  throw new AssayError('REQUEST_INVALID', `"${text.slice(0, 40)}" is not a version`, {
    hint: 'a version is the _xact_id of a record: 19 digits, or 16 hexadecimal digits',
  })
}

export function formatPrettyTransaction(transaction: number): string {
  const pretty = BigInt.asUintN(64, (prefix | BigInt(transaction)) * prettyMultiplier)
  return pretty.toString(16).padStart(16, '0')
}

export function formatPaginationKey(key: RowKey): string {
  const number = (BigInt(key.transaction) << 16n) | BigInt(key.index)
  return `p${number.toString().padStart(20, '0')}`
}

/** Undefined when the text is not a pagination key. */
export function parsePaginationKey(text: string): RowKey | undefined {
  if (!/^p\d{20}$/.test(text)) return undefined
  const number = BigInt(text.slice(1))
  return { transaction: Number((number >> 16n) & lowMask), index: Number(number & 0xffffn) }
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The published cursor: unpadded base64 of the key's eight bytes. Each page and look-up has one: no buffers. */
export function formatCursor({ transaction, index }: RowKey): string {
  const low = transaction % 2 ** 24
  return (
    fourDigits((transaction - low) / 2 ** 24) +
    fourDigits(low) +
    base64[index >>> 10] +
    base64[(index >>> 4) & 0x3f] +
    base64[(index & 0xf) << 2]
  )
}

/** Of three bytes. */
function fourDigits(bits: number): string {
  return (
    base64[bits >>> 18]! +
    base64[(bits >>> 12) & 0x3f] +
    base64[(bits >>> 6) & 0x3f] +
    base64[bits & 0x3f]
  )
}

/** Undefined when the text is not a cursor. */
export function parseCursor(text: string): RowKey | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 8 || formatBytes(bytes) !== text.replace(/=+$/, '')) return undefined
  return { transaction: bytes.readUIntBE(0, 6), index: bytes.readUInt16BE(6) }
}

function formatBytes(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
