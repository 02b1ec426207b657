import { AssayError } from '../error.ts'
import type { Expression } from './ast.ts'
import { bareFunctions } from './keyword.ts'
import { isDistinct, isPrefix, startsOperand } from './look-ahead.ts'
import { isInterval, readInterval } from './parse-interval.ts'
import { castTo, readPath, readSteps, readType } from './parse-path.ts'
import { numberOf, percentageOf } from './read-number.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'
import { countRepeated } from './tree-depth.ts'

/** Reads one expression, as far as it goes: operands hold expressions between their brackets. */
export type ReadExpression = (tokens: TokenStream) => Expression

/**
 * Reads what an operator works on: a literal, a path, a call, or something in brackets, and the steps
 * from there.
 */
export function readOperand(tokens: TokenStream, read: ReadExpression): Expression {
  tokens.mayTake('operand')
  const { start } = tokens.current
  return readSteps(tokens, readPlain(tokens, read), start)
}

function readPlain(tokens: TokenStream, read: ReadExpression): Expression {
  const token = tokens.current
  switch (token.kind) {
    case 'number':
      return readNumber(tokens)
    case 'string':
      return readString(tokens)
    case 'quoted': {
      const isPath = pathSigns.has(tokens.peek(1).keyword) || isTested(tokens)
      return isPath ? readPath(tokens) : readString(tokens)
    }
    case 'name':
      return tokens.peek(1).keyword === '(' ? readCall(tokens, read) : readPath(tokens)
    case 'word':
      return readWord(tokens, read)
    case 'symbol':
      if (token.keyword === '(') return readGroup(tokens, read)
      if (token.keyword === '[') return readArray(tokens, read)
      if (token.keyword === '{') return readObject(tokens, read)
  }
  throw tokens.unexpected('a value')
}

/** After one of these signs a word in double quotes is the first part of a path. */
const pathSigns: ReadonlySet<string> = new Set(['.', '[', '->', '->>'])

/** Whether a test for null, true or false follows, which only makes sense of a field. */
function isTested(tokens: TokenStream): boolean {
  const test = tokens.peek(1).keyword
  if (test !== 'is') return test === 'isnull' || test === 'isnotnull'
  const value = tokens.peek(tokens.peek(2).keyword === 'not' ? 3 : 2).keyword
  return value === 'null' || value === 'true' || value === 'false'
}

function readNumber(tokens: TokenStream): Expression {
  const token = tokens.advance()
  const sign = tokens.current
  if (sign.keyword === '%' && sign.start === token.end && !isMultiplied(tokens)) {
    tokens.advance()
    return { kind: 'literal', value: percentageOf(token), span: tokens.spanFrom(token.start) }
  }
  return { kind: 'literal', value: numberOf(token), span: tokens.spanFrom(token.start) }
}

/** Whether an operand follows the percent sign here, so that it is an operator. */
function isMultiplied(tokens: TokenStream): boolean {
  return startsOperand(tokens, 1) && !tokens.following.has(tokens.peek(1).keyword)
}

function readString(tokens: TokenStream): Expression {
  const { text, start } = tokens.advance()
  return { kind: 'literal', value: text, span: tokens.spanFrom(start) }
}

function readWord(tokens: TokenStream, read: ReadExpression): Expression {
  const word = tokens.current
  if (tokens.nesting === tokens.clauseNesting && tokens.atClauseHeader()) {
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
      if (tokens.peek(1).keyword === 'when' || isPrefix(tokens)) return readCase(tokens, read)
      break
    case 'cast':
      if (tokens.peek(1).keyword === '(') return readCast(tokens, read)
      break
    case 'interval':
      if (isInterval(tokens)) return readInterval(tokens)
      break
    case 'neg':
      if (isPrefix(tokens)) {
        const operand = readPrefixed(tokens, read)
        return { kind: 'negate', operand, span: tokens.spanFrom(word.start) }
      }
      break
    case 'isnull':
    case 'isnotnull':
      if (isPrefix(tokens)) {
        const operand = readPrefixed(tokens, read)
        const negated = word.keyword === 'isnotnull'
        return { kind: 'is_null', operand, negated, span: tokens.spanFrom(word.start) }
      }
      break
  }
  if (tokens.reserved.has(word.keyword)) {
    throw tokens.unexpected('a value', `for a field of this name write \`${word.text}\``)
  }
  const next = tokens.peek(1).keyword
  if (next === '(') return readCall(tokens, read)
  if (bareFunctions.has(word.keyword) && !pathSigns.has(next)) {
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

function readPrefixed(tokens: TokenStream, read: ReadExpression): Expression {
  tokens.advance()
  tokens.enter()
  const operand = readOperand(tokens, read)
  tokens.leave()
  return operand
}

/** Reads an expression one level deeper: what stands between brackets. */
export function readWithin(tokens: TokenStream, read: ReadExpression): Expression {
  tokens.enter()
  const expression = read(tokens)
  tokens.leave()
  return expression
}

function readGroup(tokens: TokenStream, read: ReadExpression): Expression {
  tokens.advance()
  const expression = readWithin(tokens, read)
  tokens.expect(')', 'to close the parenthesis')
  return expression
}

function readArray(tokens: TokenStream, read: ReadExpression): Expression {
  const { start } = tokens.advance()
  const items: Expression[] = []
  while (!tokens.is(']')) {
    items.push(readWithin(tokens, read))
    if (!tokens.accept(',')) break
  }
  tokens.expect(']', 'to close the array')
  return { kind: 'array', items, span: tokens.spanFrom(start) }
}

function readObject(tokens: TokenStream, read: ReadExpression): Expression {
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
    entries.push([key.text, readWithin(tokens, read)])
    if (!tokens.accept(',')) break
  }
  tokens.expect('}', 'to close the object')
  return { kind: 'object', entries, span: tokens.spanFrom(start) }
}

type Call = Extract<Expression, { kind: 'call' }>

/** Reads a call of a function, whose name is a word or stands in backticks. */
function readCall(tokens: TokenStream, read: ReadExpression): Expression {
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
      items.push(read(tokens))
      if (!tokens.accept(',')) break
    }
  }
  tokens.expect(')', `to close the arguments of "${shorten(name.text)}"`)
  tokens.leave()
  const filter = readCallFilter(tokens, read)
  const call: Call = {
    kind: 'call',
    name: name.text.toLowerCase(),
    nameSpan,
    arguments: items,
    distinct,
    filter,
    span: tokens.spanFrom(name.start),
  }
  const searches = call.name === 'match' && !distinct && filter === undefined
  return searches && tokens.is('against') ? readAgainst(tokens, call, read) : call
}

/** Reads `filter (where …)` after an aggregate. */
function readCallFilter(tokens: TokenStream, read: ReadExpression): Expression | undefined {
  if (!tokens.is('filter') || tokens.peek(1).keyword !== '(') return undefined
  tokens.advance()
  tokens.advance()
  tokens.expect('where', 'after "filter ("')
  const filter = readWithin(tokens, read)
  tokens.expect(')', 'to close "filter"')
  return filter
}

/** `match(a, b) against ('q')` is `a match 'q' or b match 'q'`. */
function readAgainst(tokens: TokenStream, call: Call, read: ReadExpression): Expression {
  const { start } = call.span
  const [first] = call.arguments
  if (first === undefined || first.kind === 'star') {
    throw tokens.unexpected(
      'fields in "match (…)"',
      "for example: match (input) against ('refund')",
    )
  }
  tokens.advance()
  const query = readOperand(tokens, read)
  countRepeated(tokens, query, call.arguments.length - 1)
  const span = tokens.spanFrom(start)
  const matches = call.arguments.map(
    (operand): Expression => ({ kind: 'match', operand, query, negated: false, span }),
  )
  return matches.length === 1 ? matches[0]! : { kind: 'or', operands: matches, span }
}

function readCast(tokens: TokenStream, read: ReadExpression): Expression {
  const { start } = tokens.advance()
  tokens.advance()
  const value = readWithin(tokens, read)
  tokens.expect('as', 'and a type in "cast"')
  const type = readType(tokens)
  tokens.expect(')', 'to close "cast"')
  return castTo(type, value, tokens, start)
}

/**
 * Reads `case when … then …`, or `case x when v then …`, where each value is compared with the one
 * operand.
 */
function readCase(tokens: TokenStream, read: ReadExpression): Expression {
  const { start } = tokens.advance()
  const operand = tokens.is('when') ? undefined : readWithin(tokens, read)
  if (operand !== undefined && !tokens.is('when')) {
    throw tokens.unexpected('"when" after the operand of "case"')
  }
  const branches: { condition: Expression; result: Expression }[] = []
  while (tokens.accept('when')) {
    const value = readWithin(tokens, read)
    const condition = operand === undefined ? value : equal(operand, value)
    tokens.expect('then', 'after the condition of "when"')
    branches.push({ condition, result: readWithin(tokens, read) })
  }
  const here = tokens.current.start
  const otherwise: Expression = tokens.accept('else')
    ? readWithin(tokens, read)
    : { kind: 'literal', value: null, span: { start: here, end: here } }
  tokens.expect('end', 'to close "case"')
  if (operand !== undefined) countRepeated(tokens, operand, branches.length - 1)
  return { kind: 'conditional', branches, otherwise, span: tokens.spanFrom(start) }
}

function equal(left: Expression, right: Expression): Expression {
  return { kind: 'comparison', operator: 'eq', left, right, span: right.span }
}
