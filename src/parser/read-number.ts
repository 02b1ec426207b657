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
  // Fifteen digits always fit.
  if (text.length <= 15) return finite(Number(text), token)
  if (!digitsOnly.test(text)) return finite(Number(text), token)
  if (text.length > maximumDigits) {
    throw invalid(token, `an integer of ${text.length} digits is too long`)
  }
  const value = BigInt(text)
  return value > 2n ** 53n ? value : Number(value)
}

/** The value of a number token with a percent sign after it. */
export function percentageOf(token: Token): number {
  const { text } = token
  // Shifting the decimal point in the text gives the double that the digits ask for.
  const value = /[eE]/.test(text) ? Number(text) / 100 : Number(`${text}e-2`)
  return finite(value, token)
}

export function negateLiteral(literal: Literal, span: Span): Expression {
  const { value } = literal
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    return { kind: 'negate', operand: literal, span }
  }
  return { kind: 'literal', value: -value, span }
}

function finite(value: number, token: Token): number {
  if (Number.isFinite(value)) return value
  throw invalid(token, `the number ${shorten(token.text)} is out of range`)
}

function invalid(token: Token, message: string): AssayError {
  const { start, end } = token
  return new AssayError('PARSE_INVALID_LITERAL', message, { span: { start, end } })
}
