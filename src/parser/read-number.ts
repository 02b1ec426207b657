import { AssayError, type Span } from '../error.ts'
import type { Expression } from './ast.ts'
import { shorten, type Token } from './token.ts'

export type Literal = Extract<Expression, { kind: 'literal' }>

/** Reading and printing an integer takes time that grows faster than its length. */
const maximumDigits = 4096

const digitsOnly = /^[0-9]+$/

/** The value of a number token: a `bigint` for an integer past ±2^53, else a double. */
export function numberOf(token: Token): number | bigint {
  const { text } = token
  const value = numberOfText(text)
  if (value !== undefined) return value
  throw text.length > maximumDigits && digitsOnly.test(text)
    ? invalid(token, `an integer of ${text.length} digits is too long`)
    : outOfRange(token)
}

/** The value of a number without a sign; undefined of one that is out of range, or has too many digits. */
export function numberOfText(text: string): number | bigint | undefined {
  // Fifteen digits always fit.
  if (text.length <= 15 || !digitsOnly.test(text)) return finite(Number(text))
  if (text.length > maximumDigits) return undefined
  const value = BigInt(text)
  return value > 2n ** 53n ? value : Number(value)
}

/** The value of a number token with a percent sign after it. */
export function percentageOf(token: Token): number {
  const { text } = token
  // Shifting the decimal point in the text gives the double that the digits ask for.
  const value = /[eE]/.test(text) ? Number(text) / 100 : Number(`${text}e-2`)
  if (Number.isFinite(value)) return value
  throw outOfRange(token)
}

export function negateLiteral(literal: Literal, span: Span): Expression {
  const { value } = literal
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    return { kind: 'negate', operand: literal, span }
  }
  return { kind: 'literal', value: -value, span }
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function outOfRange(token: Token): AssayError {
  return invalid(token, `the number ${shorten(token.text)} is out of range`)
}

function invalid(token: Token, message: string): AssayError {
  const { start, end } = token
  return new AssayError('PARSE_INVALID_LITERAL', message, { span: { start, end } })
}
