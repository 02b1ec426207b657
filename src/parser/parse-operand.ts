import { AssayError } from '../error.ts'
import type { Expression } from './ast.ts'
import { bareFunctions } from './keyword.ts'
import { isPrefix, startsOperand } from './look-ahead.ts'
import { readCall, readCase, readCast } from './parse-call.ts'
import { readNested } from './parse-expression.ts'
import { isInterval, readInterval } from './parse-interval.ts'
import { readPath, readSteps } from './parse-path.ts'
import { numberOf, percentageOf } from './read-number.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/**
 * Reads what an operator works on: a literal, a path, a call, or something in brackets, and the steps
 * from there.
 */
export function readOperand(tokens: TokenStream): Expression {
  tokens.mayTake('operand')
  const { start } = tokens.current
  return readSteps(tokens, readPlain(tokens), start)
}

function readPlain(tokens: TokenStream): Expression {
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
      return tokens.peek(1).keyword === '(' ? readCall(tokens) : readPath(tokens)
    case 'word':
      return readWord(tokens)
    case 'symbol':
      if (token.keyword === '(') return readGroup(tokens)
      if (token.keyword === '[') return readArray(tokens)
      if (token.keyword === '{') return readObject(tokens)
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

function readWord(tokens: TokenStream): Expression {
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
      if (tokens.peek(1).keyword === 'when' || isPrefix(tokens)) return readCase(tokens)
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

function readPrefixed(tokens: TokenStream): Expression {
  tokens.advance()
  tokens.enter()
  const operand = readOperand(tokens)
  tokens.leave()
  return operand
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
