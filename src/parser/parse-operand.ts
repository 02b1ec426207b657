import { AssayError } from '../error.ts'
import type { PathPart } from '../type/value.ts'
import type { Expression } from './ast.ts'
import {
  bareFunctions,
  castFunctions,
  followingWords,
  intervalUnits,
  reservedWords,
} from './keyword.ts'
import { readExpression, readNested } from './parse-expression.ts'
import { numberOf, percentageOf } from './read-number.ts'
import { suggest } from './suggest.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/** No record is nested more deeply, so that a longer path would find nothing. */
const maximumPathParts = 1000

/** Reads what an operator works on: a literal, a path, a call, or something in brackets. */
export function readOperand(tokens: TokenStream): Expression {
  const token = tokens.current
  switch (token.kind) {
    case 'number':
      return readNumber(tokens)
    case 'string':
      return readString(tokens)
    case 'quoted': {
      const next = tokens.peek(1).keyword
      return next === '.' || next === '[' ? readPath(tokens) : readString(tokens)
    }
    case 'name':
      return readPath(tokens)
    case 'word':
      return readWord(tokens)
    case 'symbol':
      if (token.keyword === '(') return readGroup(tokens)
      if (token.keyword === '[') return readArray(tokens)
      if (token.keyword === '{') return readObject(tokens)
  }
  throw tokens.unexpected('a value')
}

function readNumber(tokens: TokenStream): Expression {
  const token = tokens.advance()
  const sign = tokens.current
  if (sign.keyword === '%' && sign.start === token.end && !startsOperand(tokens, 1)) {
    tokens.advance()
    return { kind: 'literal', value: percentageOf(token), span: tokens.spanFrom(token.start) }
  }
  return { kind: 'literal', value: numberOf(token), span: tokens.spanFrom(token.start) }
}

function readString(tokens: TokenStream): Expression {
  const { text, start } = tokens.advance()
  return { kind: 'literal', value: text, span: tokens.spanFrom(start) }
}

/**
 * Whether the token at `distance` begins an operand, judged by itself and the token after it. A sign
 * does if it touches what follows it: `5 -3` and `5 - 3` differ in that.
 */
function startsOperand(tokens: TokenStream, distance: number): boolean {
  const token = tokens.peek(distance)
  switch (token.kind) {
    case 'end':
      return false
    case 'word':
      if (token.startsLine && tokens.atClauseHeader(distance)) return false
      return !tokens.following.has(token.keyword)
    case 'symbol':
      if (token.keyword === '-' || token.keyword === '+') {
        return tokens.peek(distance + 1).start === token.end
      }
      return token.keyword === '(' || token.keyword === '[' || token.keyword === '{'
    default:
      return true
  }
}

/** Whether a word such as `neg` is an operator here: a sign or `[` after it makes it a field. */
function isPrefix(tokens: TokenStream): boolean {
  const next = tokens.peek(1)
  return startsOperand(tokens, 1) && (next.kind !== 'symbol' || next.keyword === '(')
}

function readWord(tokens: TokenStream): Expression {
  const word = tokens.current
  if (tokens.nesting === 0 && tokens.atClauseHeader()) {
    throw tokens.unexpected(
      'a value',
      `"${shorten(word.text)}:" begins the next clause; finish the one before it`,
    )
  }
  switch (word.keyword) {
    case 'true':
    case 'false':
      tokens.advance()
      return literal(tokens, word, word.keyword === 'true')
    case 'null':
      tokens.advance()
      return literal(tokens, word, null)
    case 'case':
      if (tokens.peek(1).keyword === 'when') return readCase(tokens)
      break
    case 'cast':
      if (tokens.peek(1).keyword === '(') return readCast(tokens)
      break
    case 'interval':
      if (isInterval(tokens)) return readInterval(tokens)
      break
    case 'neg':
      if (isPrefix(tokens)) {
        const operand = readPrefixed(tokens)
        return { kind: 'negate', operand, span: tokens.spanFrom(word.start) }
      }
      break
    case 'isnull':
    case 'isnotnull':
      if (isPrefix(tokens)) {
        const operand = readPrefixed(tokens)
        const negated = word.keyword === 'isnotnull'
        return { kind: 'is_null', operand, negated, span: tokens.spanFrom(word.start) }
      }
      break
  }
  if (tokens.reserved.has(word.keyword)) {
    throw tokens.unexpected('a value', `for a field of this name write \`${word.text}\``)
  }
  const next = tokens.peek(1).keyword
  if (next === '(') return readCall(tokens)
  if (bareFunctions.has(word.keyword) && next !== '.' && next !== '[') {
    tokens.advance()
    const span = tokens.spanFrom(word.start)
    return {
      kind: 'call',
      name: word.keyword,
      nameSpan: span,
      arguments: [],
      distinct: false,
      filter: undefined,
      span,
    }
  }
  return readPath(tokens)
}

function literal(tokens: TokenStream, word: Token, value: boolean | null): Expression {
  return { kind: 'literal', value, span: tokens.spanFrom(word.start) }
}

function readPrefixed(tokens: TokenStream): Expression {
  tokens.advance()
  tokens.enter()
  const operand = readOperand(tokens)
  tokens.leave()
  return operand
}

function readPath(tokens: TokenStream): Expression {
  const { text, start } = tokens.advance()
  const parts: PathPart[] = [text]
  for (;;) {
    if (parts.length > maximumPathParts) {
      throw new AssayError(
        'PARSE_TOO_DEEP',
        `the path is too long: at most ${maximumPathParts} parts are taken`,
        { span: tokens.spanFrom(start) },
      )
    }
    if (tokens.accept('.')) parts.push(readPartName(tokens))
    else if (tokens.accept('[')) parts.push(readSubscript(tokens))
    else return { kind: 'path', parts, span: tokens.spanFrom(start) }
  }
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
  const token = tokens.current
  let part: PathPart
  if (token.kind === 'string' || token.kind === 'quoted') {
    tokens.advance()
    part = token.text
  } else {
    const negative = tokens.accept('-')
    if (tokens.current.kind !== 'number') {
      throw tokens.unexpected('an index or a quoted name after "["')
    }
    const index = Number(numberOf(tokens.current))
    if (!Number.isSafeInteger(index)) throw tokens.unexpected('a whole number as an index')
    tokens.advance()
    part = negative && index !== 0 ? -index : index
  }
  tokens.expect(']', 'after it')
  return part
}

function readGroup(tokens: TokenStream): Expression {
  tokens.advance()
  const expression = readNested(tokens)
  tokens.expect(')', 'to close the parenthesis')
  return expression
}

function readArray(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const items: Expression[] = []
  while (!tokens.is(']')) {
    items.push(readNested(tokens))
    if (!tokens.accept(',')) break
  }
  tokens.expect(']', 'to close the array')
  return { kind: 'array', items, span: tokens.spanFrom(start) }
}

function readObject(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const entries: (readonly [string, Expression])[] = []
  const keys = new Set<string>()
  while (!tokens.is('}')) {
    const key = tokens.current
    if (key.kind === 'number' || key.kind === 'symbol' || key.kind === 'end') {
      throw tokens.unexpected('a key or "}"')
    }
    if (keys.has(key.text)) {
      throw new AssayError(
        'PARSE_INVALID_LITERAL',
        `the key ${JSON.stringify(shorten(key.text))} is given twice`,
        { span: { start: key.start, end: key.end } },
      )
    }
    keys.add(key.text)
    tokens.advance()
    tokens.expect(':', 'after the key')
    entries.push([key.text, readNested(tokens)])
    if (!tokens.accept(',')) break
  }
  tokens.expect('}', 'to close the object')
  return { kind: 'object', entries, span: tokens.spanFrom(start) }
}

function readCall(tokens: TokenStream): Expression {
  const name = tokens.advance()
  const nameSpan = tokens.spanFrom(name.start)
  tokens.advance()
  tokens.enter()
  const distinct = isDistinct(tokens)
  if (distinct) tokens.advance()
  const items: Expression[] = []
  if (tokens.is('*') && !distinct) {
    const star = tokens.advance()
    items.push({ kind: 'star', replace: [], span: tokens.spanFrom(star.start) })
  } else {
    while (!tokens.is(')')) {
      items.push(readExpression(tokens))
      if (!tokens.accept(',')) break
    }
  }
  tokens.expect(')', `to close the arguments of "${shorten(name.text)}"`)
  tokens.leave()
  const span = tokens.spanFrom(name.start)
  const { keyword } = name
  return {
    kind: 'call',
    name: keyword,
    nameSpan,
    arguments: items,
    distinct,
    filter: undefined,
    span,
  }
}

/** Whether the word `distinct` is here and is not a field's name. */
function isDistinct(tokens: TokenStream): boolean {
  if (!tokens.is('distinct')) return false
  const { keyword } = tokens.peek(1)
  if (keyword === 'not' || startsOperand(tokens, 1)) return true
  // Some functions have the name of an operator.
  const called = followingWords.has(keyword) && !reservedWords.has(keyword)
  return called && tokens.peek(2).keyword === '('
}

function readCase(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const branches: { condition: Expression; result: Expression }[] = []
  while (tokens.accept('when')) {
    const condition = readNested(tokens)
    tokens.expect('then', 'after the condition of "when"')
    branches.push({ condition, result: readNested(tokens) })
  }
  const otherwise: Expression = tokens.accept('else')
    ? readNested(tokens)
    : {
        kind: 'literal',
        value: null,
        span: { start: tokens.current.start, end: tokens.current.start },
      }
  tokens.expect('end', 'to close "case"')
  return { kind: 'conditional', branches, otherwise, span: tokens.spanFrom(start) }
}

function readCast(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  tokens.advance()
  const value = readNested(tokens)
  tokens.expect('as', 'and a type in "cast"')
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
  const nameSpan = tokens.spanFrom(type.start)
  tokens.expect(')', 'to close "cast"')
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

/** A number after `interval` makes it a literal; a negative one only with its unit, else it is `interval - 7`. */
function isInterval(tokens: TokenStream): boolean {
  const next = tokens.peek(1)
  if (next.kind === 'number' || next.kind === 'string') return true
  return (
    next.keyword === '-' &&
    tokens.peek(2).kind === 'number' &&
    unitOf(tokens.peek(3).keyword) !== undefined
  )
}

function readInterval(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const negative = tokens.accept('-')
  const number = tokens.current
  const value = number.kind === 'number' ? numberOf(number) : undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw tokens.unexpected(
      'a whole number and a unit after "interval"',
      'for example: interval 7 day',
    )
  }
  tokens.advance()
  const unit = unitOf(tokens.current.keyword)
  if (unit === undefined) {
    const meant = suggest(tokens.current.keyword, intervalUnits)
    throw tokens.unexpected(
      "the interval's unit",
      meant === undefined
        ? `the units are ${intervalUnits.join(', ')}`
        : `did you mean "${meant}"?`,
    )
  }
  tokens.advance()
  const signed = negative && value !== 0 ? -value : value
  return { kind: 'interval', value: signed, unit, span: tokens.spanFrom(start) }
}

function unitOf(word: string): (typeof intervalUnits)[number] | undefined {
  const singular = word.endsWith('s') ? word.slice(0, -1) : word
  return intervalUnits.find((unit) => unit === singular)
}
