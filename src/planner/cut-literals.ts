/**
 * The shape of a query: its text without the constants that fields are compared with. Queries of one shape
 * have one plan but for these constants (`plan-template.ts`), so a filter that is another each time is
 * planned once.
 *
 * Cut out are numbers and texts that stand behind a comparison. What the binder takes for something else
 * by its value is of another kind: a text that is a time becomes one where it is compared with times.
 * Where a constant is equal to one before it, the shape says so, because equal expressions may be one.
 */
import { randomBytes, randomInt } from 'node:crypto'
import type { GivenQuery } from '../parser/given-query.ts'
import { Lexer } from '../parser/lexer.ts'
import type { Token } from '../parser/token.ts'
import { formatTimestamp, parseTimestamp } from '../type/time.ts'
import { isTimeOfNumber } from '../type/value.ts'

export type LiteralKind = 'number' | 'text' | 'time'

export interface CutLiteral {
  readonly kind: LiteralKind
  readonly value: number | string
}

/** A query as it was given. */
export interface CutQuery {
  /** The same for queries that differ in nothing but their literals, kind by kind. */
  readonly shape: string
  /** Each once, in the order of the query. */
  readonly literals: readonly CutLiteral[]
  /** The query with others of the same kinds in their places. */
  with(others: readonly CutLiteral[]): GivenQuery
}

export interface CutText extends CutQuery {
  with(others: readonly CutLiteral[]): string
}

/** Longer texts are mostly lists of values, which are not cut out. */
export const longestText = 4096
export const mostLiterals = 32

/** Integers of more digits are no doubles. */
const mostDigits = 15

const comparisons: ReadonlySet<string> = new Set([
  ...['=', '==', '!=', '<>', '<', '<=', '>', '>=', '<=>', '<!=>'],
])

/** After one of these a word in double quotes is no text but part of a path. */
const pathSigns: ReadonlySet<string> = new Set([
  ...['.', '[', '->', '->>', 'is', 'isnull', 'isnotnull'],
])

/** Marks what was cut out of a shape; no text that has it is cut. */
const mark = '\0'
export const marks: Readonly<Record<LiteralKind, string>> = { number: 'n', text: 's', time: 't' }

/** Undefined when there is nothing to cut out. */
export function cutLiterals(text: string): CutText | undefined {
  if (text.length > longestText || text.includes(mark)) return undefined
  const places: Place[] = []
  const literals: CutLiteral[] = []
  try {
    const lexer = new Lexer(text)
    let isCompared = false
    let token = lexer.next()
    while (token.kind !== 'end') {
      const next = lexer.next()
      const literal = isCompared ? literalOf(token, next) : undefined
      if (literal) places.push({ token, literal: placeOf(literal, literals) })
      isCompared = token.kind === 'symbol' && comparisons.has(token.keyword)
      token = next
    }
  } catch {
    // Whoever parses it comes to the same fault, and tells where it is.
    return undefined
  }
  if (literals.length === 0 || literals.length > mostLiterals) return undefined
  return {
    shape: joined(text, places, ({ token, literal }) => {
      const { kind } = literals[literal]!
      const quote = kind === 'number' ? '' : text[token.start]!
      return mark + marks[kind] + quote + literal + mark
    }),
    literals,
    with: (others) => joined(text, places, ({ literal }) => writtenLiteral(others[literal]!.value)),
  }
}

/** Literals of the same kinds that no text has by chance, each once. */
export function otherLiterals(literals: readonly CutLiteral[]): CutLiteral[] {
  return literals.map(({ kind }, i) => ({ kind, value: otherValue(kind, i) }))
}

function otherValue(kind: LiteralKind, index: number): number | string {
  switch (kind) {
    case 'number':
      return 1e10 + randomInt(1e9) * mostLiterals + index + 0.25
    case 'text':
      return `x${randomBytes(12).toString('hex')}`
    case 'time':
      return formatTimestamp(Date.UTC(1980, 0) + randomInt(2 ** 36) * mostLiterals + index)
  }
}

interface Place {
  readonly token: Token
  /** Which of the literals. */
  readonly literal: number
}

/** Where the literal is in the list, in which it may be already. */
export function placeOf(literal: CutLiteral, literals: CutLiteral[]): number {
  const known = literals.findIndex(({ value }) => value === literal.value)
  return known < 0 ? literals.push(literal) - 1 : known
}

function literalOf(token: Token, next: Token): CutLiteral | undefined {
  const { kind, text } = token
  if (kind === 'number') {
    const value = Number(text)
    const isDouble = text.length <= mostDigits && Number.isFinite(value)
    return isDouble ? { kind: 'number', value } : undefined
  }
  if (kind !== 'string' && (kind !== 'quoted' || pathSigns.has(next.keyword))) return undefined
  return literalOfText(text)
}

/** Of a text between quotes; undefined of a time that its milliseconds do not tell, which is left where it stands. */
export function literalOfText(text: string): CutLiteral | undefined {
  const time = parseTimestamp(text)
  if (!time) return { kind: 'text', value: text }
  return isTimeOfNumber(time) ? { kind: 'time', value: text } : undefined
}

function joined(text: string, places: readonly Place[], insert: (place: Place) => string): string {
  let result = ''
  let from = 0
  for (const place of places) {
    result += text.slice(from, place.token.start) + insert(place)
    from = place.token.end
  }
  return result + text.slice(from)
}

/** Of values that `otherLiterals` makes: none has anything to escape. */
function writtenLiteral(value: number | string): string {
  return typeof value === 'number' ? String(value) : `'${value}'`
}
