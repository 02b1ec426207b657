/** Calls of functions, and the forms that are written like one. */
import type { Expression } from './ast.ts'
import { isDistinct } from './look-ahead.ts'
import { readExpression, readNested } from './parse-expression.ts'
import { readOperand } from './parse-operand.ts'
import { castTo, readType } from './parse-path.ts'
import { shorten } from './token.ts'
import type { TokenStream } from './token-stream.ts'
import { countRepeated } from './tree-depth.ts'

type Call = Extract<Expression, { kind: 'call' }>

/** Reads a call of a function, whose name is a word or stands in backticks. */
export function readCall(tokens: TokenStream): Expression {
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
  const filter = readCallFilter(tokens)
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
  return searches && tokens.is('against') ? readAgainst(tokens, call) : call
}

/** Reads `filter (where …)` after an aggregate. */
function readCallFilter(tokens: TokenStream): Expression | undefined {
  if (!tokens.is('filter') || tokens.peek(1).keyword !== '(') return undefined
  tokens.advance()
  tokens.advance()
  tokens.expect('where', 'after "filter ("')
  const filter = readNested(tokens)
  tokens.expect(')', 'to close "filter"')
  return filter
}

/** `match(a, b) against ('q')` is `a match 'q' or b match 'q'`. */
function readAgainst(tokens: TokenStream, call: Call): Expression {
  const { start } = call.span
  const [first] = call.arguments
  if (first === undefined || first.kind === 'star') {
    throw tokens.unexpected(
      'fields in "match (…)"',
      "for example: match (input) against ('refund')",
    )
  }
  tokens.advance()
  const query = readOperand(tokens)
  countRepeated(tokens, query, call.arguments.length - 1)
  const span = tokens.spanFrom(start)
  const matches = call.arguments.map(
    (operand): Expression => ({ kind: 'match', operand, query, negated: false, span }),
  )
  return matches.length === 1 ? matches[0]! : { kind: 'or', operands: matches, span }
}

export function readCast(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  tokens.advance()
  const value = readNested(tokens)
  tokens.expect('as', 'and a type in "cast"')
  const type = readType(tokens)
  tokens.expect(')', 'to close "cast"')
  return castTo(type, value, tokens, start)
}

/**
 * Reads `case when … then …`, or `case x when v then …`, where each value is compared with the one
 * operand.
 */
export function readCase(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const operand = tokens.is('when') ? undefined : readNested(tokens)
  if (operand !== undefined && !tokens.is('when')) {
    throw tokens.unexpected('"when" after the operand of "case"')
  }
  const branches: { condition: Expression; result: Expression }[] = []
  while (tokens.accept('when')) {
    const value = readNested(tokens)
    const condition = operand === undefined ? value : equal(operand, value)
    tokens.expect('then', 'after the condition of "when"')
    branches.push({ condition, result: readNested(tokens) })
  }
  const here = tokens.current.start
  const otherwise: Expression = tokens.accept('else')
    ? readNested(tokens)
    : { kind: 'literal', value: null, span: { start: here, end: here } }
  tokens.expect('end', 'to close "case"')
  if (operand !== undefined) countRepeated(tokens, operand, branches.length - 1)
  return { kind: 'conditional', branches, otherwise, span: tokens.spanFrom(start) }
}

function equal(left: Expression, right: Expression): Expression {
  return { kind: 'comparison', operator: 'eq', left, right, span: right.span }
}
