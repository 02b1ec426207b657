/** Values and names as they stand in SQL: the only place that quotes them. */
import type { RowKey } from '../../type/transaction.ts'

const escapes = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['`', '\\`'],
  ['\0', '\\0'],
  ['\n', '\\n'],
  ['\r', '\\r'],
])

function escaped(text: string): string {
  return text.replace(/[\\'`\0\n\r]/g, (character) => escapes.get(character)!)
}

/** Undefined of a text that UTF-8 cannot hold, which no column has either. */
export function textLiteral(text: string): string | undefined {
  return isWhole(text) ? `'${escaped(text)}'` : undefined
}

/** Of a text that is whole. */
export function nameLiteral(name: string): string {
  return `'${escaped(name)}'`
}

/** A name in a path of the column of fields; undefined where no such name can be asked for. */
export function identifier(name: string): string | undefined {
  return name !== '' && isWhole(name) ? `\`${escaped(name)}\`` : undefined
}

/** A double, as just that. */
export function numberLiteral(number: number): string {
  return Number.isSafeInteger(number)
    ? `toFloat64(${number})`
    : `toFloat64(reinterpretAsFloat64(toUInt64(${bitsOf(number)})))`
}

/** A list of doubles, in few parts of a statement. */
export function numberList(numbers: readonly number[]): string {
  return `arrayMap(bits -> reinterpretAsFloat64(toUInt64(bits)), [${numbers.map(bitsOf).join(', ')}])`
}

/** A decimal in SQL may be read a bit off; the bits are not. */
function bitsOf(number: number): bigint {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  return view.getBigUint64(0)
}

export function integerLiteral(integer: bigint): string {
  return `toInt64(${integer})`
}

/** As the columns have it; a text, as a number has no room for it. */
export function keyNumber({ transaction, index }: RowKey): string {
  return String(BigInt(transaction) * 65_536n + BigInt(index))
}

export function tuple(literals: readonly string[]): string {
  return `(${literals.join(', ')})`
}

/** Whether no half of a surrogate pair is in the text. */
function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
