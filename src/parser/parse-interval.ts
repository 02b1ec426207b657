import { AssayError } from '../error.ts'
import { intervalUnits } from '../type/parse-interval.ts'
import type { IntervalUnit } from '../type/time.ts'
import type { Expression } from './ast.ts'
import { numberOf } from './read-number.ts'
import { suggest } from './suggest.ts'
import type { Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

const example = 'for example: interval 7 day'

/** A number after `interval` makes it a literal; a negative one only with its unit, else it is `interval - 7`. */
export function isInterval(tokens: TokenStream): boolean {
  const next = tokens.peek(1)
  if (next.kind === 'number' || next.kind === 'string' || next.kind === 'quoted') return true
  return (
    next.keyword === '-' &&
    tokens.peek(2).kind === 'number' &&
    unitOf(tokens.peek(3).keyword) !== undefined
  )
}

/** Reads `interval 7 day`, `interval 7` in days, `interval '7' day` or `interval '1 day 2 hours'`. */
export function readInterval(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const negative = tokens.accept('-')
  const amount = tokens.advance()
  if (amount.kind !== 'number' && !wholeNumber.test(amount.text)) {
    return readWritten(tokens, amount, start)
  }
  const value = amount.kind === 'number' ? numberOf(amount) : Number(amount.text)
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw invalid('an interval counts whole units', amount, example)
  }
  const unit = readUnit(tokens)
  const signed = negative && value !== 0 ? -value : value
  return { kind: 'interval', value: signed, unit, span: tokens.spanFrom(start) }
}

const wholeNumber = /^[+-]?[0-9]+$/

function readUnit(tokens: TokenStream): IntervalUnit {
  const { kind, keyword } = tokens.current
  const unit = unitOf(keyword)
  if (unit !== undefined) {
    tokens.advance()
    return unit
  }
  if (kind !== 'word' || tokens.following.has(keyword) || tokens.atClauseHeader()) return 'day'
  throw tokens.unexpected("the interval's unit", unitHint(keyword))
}

/** Reads an interval that is written as a text: numbers, each with its unit. */
function readWritten(tokens: TokenStream, token: Token, start: number): Expression {
  const span = tokens.spanFrom(start)
  const words = token.text.trim().split(/\s+/)
  let sum: Expression | undefined
  if (words.length > 2 * intervalUnits.length) {
    throw invalid('the interval has too many parts', token, example)
  }
  for (let i = 0; i < words.length; i += 2) {
    const value = wholeNumber.test(words[i]!) ? Number(words[i]) : Number.NaN
    const word = words[i + 1]?.toLowerCase() ?? ''
    const unit = unitOf(word)
    if (!Number.isSafeInteger(value) || unit === undefined) {
      const message = 'an interval in quotes has whole numbers, each with a unit'
      const hint = Number.isSafeInteger(value) && word !== '' ? unitHint(word) : writtenExample
      throw invalid(message, token, hint)
    }
    const part: Expression = { kind: 'interval', value: value === 0 ? 0 : value, unit, span }
    sum = sum ? { kind: 'arithmetic', operator: 'add', left: sum, right: part, span } : part
  }
  return sum!
}

const writtenExample = "for example: interval '1 day 2 hours'"

function unitHint(word: string): string {
  const meant = suggest(word, intervalUnits)
  return meant === undefined
    ? `the units are ${intervalUnits.join(', ')}`
    : `did you mean "${meant}"?`
}

function unitOf(word: string): IntervalUnit | undefined {
  const singular = word.endsWith('s') ? word.slice(0, -1) : word
  return intervalUnits.find((unit) => unit === singular)
}

function invalid(message: string, { start, end }: Token, hint: string): AssayError {
  return new AssayError('PARSE_INVALID_LITERAL', message, { span: { start, end }, hint })
}
