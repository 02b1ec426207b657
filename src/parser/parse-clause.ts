/** Values of clauses that are neither expressions nor lists of them. */
import { AssayError, type Span } from '../error.ts'
import type { CountClause, Expression, Pivot, Sample, TextClause, Unpivot } from './ast.ts'
import { readExpression } from './parse-expression.ts'
import { readList, readName, readProjection } from './parse-projection.ts'
import { numberOf, percentageOf } from './read-number.ts'
import type { TokenStream } from './token-stream.ts'

/** Reads a whole number for the clause `name`. */
export function readCount(tokens: TokenStream, name: string): CountClause {
  const token = tokens.current
  const value = wholeNumberAt(tokens)
  if (value === undefined) throw tokens.unexpected(`a whole number for the clause "${name}"`)
  tokens.advance()
  return { value, span: tokens.spanFrom(token.start) }
}

/** Reads a number of characters, or -1. */
export function readPreviewLength(tokens: TokenStream): CountClause {
  const { start } = tokens.current
  if (tokens.is('-') && tokens.peek(1).text === '1') {
    tokens.advance()
    tokens.advance()
    return { value: -1, span: tokens.spanFrom(start) }
  }
  if (tokens.is('-')) {
    throw tokens.unexpected(
      'a whole number for the clause "preview_length"',
      '-1 leaves texts as long as they are, and no other number is below 0',
    )
  }
  return readCount(tokens, 'preview_length')
}

function wholeNumberAt(tokens: TokenStream): number | undefined {
  if (tokens.current.kind !== 'number') return undefined
  const value = numberOf(tokens.current)
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** Reads the text of a cursor; `null` says that there is none. */
export function readCursor(tokens: TokenStream): TextClause | undefined {
  const { kind, text, start } = tokens.current
  if (tokens.accept('null')) return undefined
  if (kind !== 'string' && kind !== 'quoted') {
    throw tokens.unexpected('a string for the clause "cursor"')
  }
  tokens.advance()
  return { value: text, span: tokens.spanFrom(start) }
}

/** Reads fields, or a star for all of them. */
export function readInferred(tokens: TokenStream): Expression[] {
  return readList(tokens, () => {
    const { start } = tokens.current
    if (tokens.accept('*')) return { kind: 'star', replace: [], span: tokens.spanFrom(start) }
    const expression = readExpression(tokens)
    if (expression.kind === 'path') return expression
    throw new AssayError('PARSE_UNEXPECTED_TOKEN', 'expected a field or "*"', {
      span: expression.span,
      hint: '"infer" describes fields as they are stored, not values made of them',
    })
  })
}

/** Reads `measure, … [for key]`. */
export function readPivot(tokens: TokenStream): Pivot {
  const { start } = tokens.current
  const measures = readList(tokens, () => readProjection(tokens))
  const key = tokens.accept('for') ? readExpression(tokens) : undefined
  return { measures, key, span: tokens.spanFrom(start) }
}

/** Reads `expr as value` or `expr as (name, value)`. */
export function readUnpivot(tokens: TokenStream): Unpivot {
  const { start } = tokens.current
  const expression = readExpression(tokens)
  tokens.expect('as', 'and a name, or "(name, value)"')
  if (!tokens.accept('(')) {
    const value = readName(tokens, 'a name for the value, or "(name, value)"')
    return { expression, name: undefined, value, span: tokens.spanFrom(start) }
  }
  const name = readUnpivotName(tokens)
  tokens.expect(',', 'and a name for the value')
  const value = readName(tokens, 'a name for the value')
  tokens.expect(')', 'after the two names')
  return { expression, name, value, span: tokens.spanFrom(start) }
}

/** Reads the name of an unpivot's keys; `_` says that they are not wanted. */
export function readUnpivotName(tokens: TokenStream): string | undefined {
  return unpivotName(readName(tokens, 'a name for the key or index, or "_"'))
}

/** Undefined of the name that says that there is none. */
export function unpivotName(name: string): string | undefined {
  return name === '_' ? undefined : name
}

/** Reads `25%` or `100`, then perhaps `seed 7`. */
export function readSample(tokens: TokenStream): Sample {
  const { start } = tokens.current
  const method = readSampleSize(tokens)
  const seed = tokens.accept('seed') ? readSeed(tokens) : undefined
  return { method, seed, span: tokens.spanFrom(start) }
}

/** Reads how much a sample holds: `25%`, `25 percent`, `100` or `100 rows`. */
export function readSampleSize(tokens: TokenStream): Sample['method'] {
  const token = tokens.current
  if (token.kind !== 'number') throw tokens.unexpected(sampleSizes)
  const next = tokens.peek(1)
  const value = wholeNumberAt(tokens)
  tokens.advance()
  if (next.keyword === '%' || next.keyword === 'percent') {
    tokens.advance()
    const rate = percentageOf(token)
    if (rate <= 1) return { type: 'rate', value: rate }
    throw invalidSample('a sample is at most 100% of the rows', tokens.spanFrom(token.start))
  }
  if (next.keyword === 'rows' || next.keyword === 'row') tokens.advance()
  if (value !== undefined && value > 0) return { type: 'count', value }
  throw invalidSample(`expected ${sampleSizes}`, tokens.spanFrom(token.start))
}

const sampleSizes = 'a share such as 25% or a number of rows from 1'

export function readSeed(tokens: TokenStream): number {
  const seed = wholeNumberAt(tokens)
  if (seed === undefined) throw tokens.unexpected('a whole number as the seed')
  tokens.advance()
  return seed
}

function invalidSample(message: string, span: Span): AssayError {
  return new AssayError('PARSE_INVALID_LITERAL', message, {
    span,
    hint: 'for example: 25% for a quarter, 100 for a hundred rows',
  })
}
