/** Fields, and steps from a value into its parts or to another type: `a.b[0]`, `a->>'b'`, `a::date`. */
import { AssayError } from '../error.ts'
import type { PathPart } from '../type/value.ts'
import type { Expression } from './ast.ts'
import { castFunctions } from './keyword.ts'
import { numberOf } from './read-number.ts'
import { suggest } from './suggest.ts'
import type { TokenStream } from './token-stream.ts'

/** No record is nested more deeply, so that a longer path would find nothing. */
export const maximumPathParts = 1000

export function readPath(tokens: TokenStream): Expression {
  const { text, start } = tokens.advance()
  const parts: PathPart[] = [text]
  readParts(tokens, parts, start)
  return { kind: 'path', parts, span: tokens.spanFrom(start) }
}

/**
 * Reads what may follow an operand that begins at `start`. Only an operand that ends visibly, with a
 * bracket or `end`, has parts after a dot.
 */
export function readSteps(tokens: TokenStream, operand: Expression, start: number): Expression {
  let value = operand
  let hasParts = hasVisibleEnd(operand, start)
  for (;;) {
    const { keyword } = tokens.current
    if (keyword === '->') {
      tokens.advance()
      value = withParts(tokens, value, [readArrowPart(tokens)], start)
    } else if (keyword === '->>') {
      value = readTextStep(tokens, value, start)
    } else if (keyword === '::') {
      tokens.advance()
      tokens.chainedCount++
      value = castTo(readType(tokens), value, tokens, start)
    } else if (hasParts && (keyword === '.' || keyword === '[')) {
      const parts: PathPart[] = []
      readParts(tokens, parts, start)
      value = withParts(tokens, value, parts, start)
    } else {
      return value
    }
    hasParts = true
  }
}

function hasVisibleEnd({ kind, span }: Expression, start: number): boolean {
  // What stands in parentheses begins after the first of them.
  if (span.start > start) return true
  return kind === 'call' || kind === 'conditional' || kind === 'array' || kind === 'object'
}

/** The value of these parts: of a field, a longer path. */
function withParts(
  tokens: TokenStream,
  value: Expression,
  parts: readonly PathPart[],
  start: number,
): Expression {
  const span = tokens.spanFrom(start)
  if (value.kind !== 'path' && value.kind !== 'access') {
    tokens.chainedCount++
    return { kind: 'access', operand: value, parts, span }
  }
  const all = [...value.parts, ...parts]
  refuseTooLong(tokens, all, start)
  return { ...value, parts: all, span }
}

function readParts(tokens: TokenStream, parts: PathPart[], start: number): void {
  for (;;) {
    refuseTooLong(tokens, parts, start)
    if (tokens.accept('.')) parts.push(readPartName(tokens))
    else if (tokens.accept('[')) parts.push(readSubscript(tokens))
    else return
  }
}

function refuseTooLong(tokens: TokenStream, parts: readonly PathPart[], start: number): void {
  if (parts.length <= maximumPathParts) return
  throw new AssayError(
    'PARSE_TOO_DEEP',
    `the path is too long: at most ${maximumPathParts} parts are taken`,
    { span: tokens.spanFrom(start) },
  )
}

function readPartName(tokens: TokenStream): string {
  const { kind, text } = tokens.current
  if (kind === 'word' || kind === 'quoted' || kind === 'name') {
    tokens.advance()
    return text
  }
  const hint = kind === 'string' ? 'put the name in double quotes' : undefined
  throw tokens.unexpected('a name after "."', hint)
}

function readSubscript(tokens: TokenStream): PathPart {
  const part = readKeyOrIndex(tokens, 'an index or a quoted name after "["')
  tokens.expect(']', 'after it')
  return part
}

function readArrowPart(tokens: TokenStream): PathPart {
  return readKeyOrIndex(tokens, 'a key in quotes or an index after the arrow')
}

function readKeyOrIndex(tokens: TokenStream, expected: string): PathPart {
  const token = tokens.current
  if (token.kind === 'string' || token.kind === 'quoted') {
    tokens.advance()
    return token.text
  }
  const negative = tokens.accept('-')
  if (tokens.current.kind !== 'number') throw tokens.unexpected(expected)
  const index = Number(numberOf(tokens.current))
  if (!Number.isSafeInteger(index)) throw tokens.unexpected('a whole number as an index')
  tokens.advance()
  return negative && index !== 0 ? -index : index
}

/** `a->>'b'` is the text of `a.b`. */
function readTextStep(tokens: TokenStream, value: Expression, start: number): Expression {
  const arrow = tokens.advance()
  const nameSpan = { start: arrow.start, end: arrow.end }
  tokens.chainedCount++
  const part = withParts(tokens, value, [readArrowPart(tokens)], start)
  return castTo({ name: 'to_string', nameSpan }, part, tokens, start)
}

interface CastType {
  /** Of the function that converts to it. */
  readonly name: string
  readonly nameSpan: Expression['span']
}

/** `cast(value as type)` is a call of the type's function. */
export function castTo(
  { name, nameSpan }: CastType,
  value: Expression,
  tokens: TokenStream,
  start: number,
): Expression {
  const span = tokens.spanFrom(start)
  return {
    kind: 'call',
    name,
    nameSpan,
    arguments: [value],
    distinct: false,
    filter: undefined,
    span,
  }
}

export function readType(tokens: TokenStream): CastType {
  const type = tokens.current
  const name = castFunctions.get(type.keyword)
  if (name === undefined) {
    const meant = suggest(type.keyword, castFunctions.keys())
    throw tokens.unexpected(
      'a type',
      meant === undefined
        ? 'the types are string, boolean, integer, number, date, datetime and interval'
        : `did you mean "${meant}"?`,
    )
  }
  tokens.advance()
  if (type.keyword === 'double') tokens.accept('precision')
  const nameSpan = tokens.spanFrom(type.start)
  if (tokens.is('(')) {
    throw tokens.unexpected('the end of the type', 'a type has no length and no precision')
  }
  return { name, nameSpan }
}
