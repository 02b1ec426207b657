import { type AssayError, type Span, unreachable } from '../error.ts'
import type { ArithmeticOperator, ComparisonOperator, Expression } from './ast.ts'
import { binding } from './binding.ts'
import { isClauseName } from './clause.ts'
import {
  additiveOperators,
  comparisonOperators,
  multiplicativeOperators,
  type PredicateName,
  patternOperators,
  predicateNames,
  reservedWords,
} from './keyword.ts'
import { readOperand, readWithin } from './parse-operand.ts'
import { negateLiteral } from './read-number.ts'
import { suggest } from './suggest.ts'
import type { TokenStream } from './token-stream.ts'
import { checkTreeDepth, maximumTreeDepth } from './tree-depth.ts'

type Infix =
  | { readonly kind: 'or' | 'and'; readonly binding: number }
  | {
      readonly kind: 'arithmetic'
      readonly binding: number
      readonly operator: ArithmeticOperator
    }
  | {
      readonly kind: 'comparison'
      readonly binding: number
      readonly operator: ComparisonOperator
    }
  | {
      readonly kind: 'pattern'
      readonly binding: number
      readonly caseInsensitive: boolean
      readonly negated: boolean
    }
  | { readonly kind: 'predicate'; readonly binding: number; readonly name: PredicateName | 'not' }

const infixes = new Map<string, Infix>([
  ['or', { kind: 'or', binding: binding.or }],
  ['and', { kind: 'and', binding: binding.and }],
  ['not', { kind: 'predicate', binding: binding.comparison, name: 'not' }],
])
for (const name of predicateNames) {
  infixes.set(name, { kind: 'predicate', binding: binding.comparison, name })
}
for (const [symbol, operator] of comparisonOperators) {
  infixes.set(symbol, { kind: 'comparison', binding: binding.comparison, operator })
}
for (const [symbol, operator] of patternOperators) {
  infixes.set(symbol, { kind: 'pattern', binding: binding.comparison, ...operator })
}
for (const [symbol, operator] of additiveOperators) {
  infixes.set(symbol, { kind: 'arithmetic', binding: binding.additive, operator })
}
for (const [symbol, operator] of multiplicativeOperators) {
  infixes.set(symbol, { kind: 'arithmetic', binding: binding.multiplicative, operator })
}

const infixWords = [...infixes.keys()].filter((word) => /^[a-z]{2}/.test(word))

/**
 * Reads one expression, as far as it goes. From the loosest: `? :`, `or`, `and`, `not`, comparisons
 * (which do not chain), `+ -`, `* / %`, signs.
 */
export function readExpression(tokens: TokenStream): Expression {
  const expression = readConditional(tokens)
  if (tokens.nesting === tokens.clauseNesting && tokens.chainedCount >= maximumTreeDepth) {
    checkTreeDepth(expression)
  }
  return expression
}

/** `readExpression`, one level deeper: for what stands between brackets. */
export function readNested(tokens: TokenStream): Expression {
  return readWithin(tokens, readExpression)
}

/** Reads what may stand beside a comparison's sign: sums, products and what they are made of. */
export function readTerm(tokens: TokenStream): Expression {
  return readInfix(tokens, binding.additive)
}

function readConditional(tokens: TokenStream): Expression {
  const { start } = tokens.current
  let condition = readInfix(tokens, binding.or)
  if (!tokens.is('?')) return condition
  const branches: { condition: Expression; result: Expression }[] = []
  while (tokens.accept('?')) {
    // The level also says that a name and a colon in here are not a clause.
    const result = readNested(tokens)
    tokens.expect(':', 'and the other value of "? :"')
    branches.push({ condition, result })
    condition = readInfix(tokens, binding.or)
  }
  return { kind: 'conditional', branches, otherwise: condition, span: tokens.spanFrom(start) }
}

/** Reads operators that bind at least as tightly as `minimum`. */
function* infixesFrom(minimum: number, isCompared: boolean): Generator<string> {
  for (const [word, infix] of infixes) {
    if (infix.binding < minimum) continue
    if (!isCompared || infix.binding !== binding.comparison) yield word
  }
}

function readInfix(tokens: TokenStream, minimum: number): Expression {
  const { start } = tokens.current
  let left =
    minimum <= binding.not && tokens.is('not') ? readNot(tokens, start) : readSigned(tokens)
  // Comparisons do not chain.
  let isCompared = false
  for (;;) {
    tokens.mayTakeWord(() => infixesFrom(minimum, isCompared))
    const infix = infixes.get(tokens.current.keyword)
    if (infix === undefined || infix.binding < minimum) return left
    switch (infix.kind) {
      case 'or':
      case 'and':
        left = readChain(tokens, infix.kind, infix.binding, left, start)
        break
      case 'arithmetic': {
        tokens.advance()
        tokens.chainedCount++
        const right = readInfix(tokens, infix.binding + 1)
        const { operator } = infix
        left = { kind: 'arithmetic', operator, left, right, span: tokens.spanFrom(start) }
        break
      }
      case 'comparison': {
        tokens.advance()
        const right = readInfix(tokens, binding.additive)
        const { operator } = infix
        left = { kind: 'comparison', operator, left, right, span: tokens.spanFrom(start) }
        refuseChain(tokens)
        isCompared = true
        break
      }
      case 'pattern':
        left = readPattern(tokens, infix, left, start)
        refuseChain(tokens)
        isCompared = true
        break
      case 'predicate':
        left = readPredicate(tokens, left, start)
        refuseChain(tokens)
        isCompared = true
        break
      default:
        return unreachable(infix)
    }
  }
}

/** `a ~ 'x'` is `regexp_match(a, 'x')`; the star adds the flag that ignores case. */
function readPattern(
  tokens: TokenStream,
  { caseInsensitive, negated }: { caseInsensitive: boolean; negated: boolean },
  left: Expression,
  start: number,
): Expression {
  const sign = tokens.advance()
  const nameSpan = { start: sign.start, end: sign.end }
  const right = readInfix(tokens, binding.additive)
  const flag: Expression = { kind: 'literal', value: 'i', span: nameSpan }
  const span = tokens.spanFrom(start)
  const call: Expression = {
    kind: 'call',
    name: 'regexp_match',
    nameSpan,
    arguments: caseInsensitive ? [left, right, flag] : [left, right],
    distinct: false,
    filter: undefined,
    span,
  }
  return negated ? { kind: 'not', operand: call, span } : call
}

function readNot(tokens: TokenStream, start: number): Expression {
  tokens.advance()
  tokens.enter()
  const operand = readInfix(tokens, binding.not)
  tokens.leave()
  return { kind: 'not', operand, span: tokens.spanFrom(start) }
}

function readChain(
  tokens: TokenStream,
  kind: 'and' | 'or',
  tightness: number,
  first: Expression,
  start: number,
): Expression {
  const operands = [first]
  while (tokens.accept(kind)) operands.push(readInfix(tokens, tightness + 1))
  return { kind, operands, span: tokens.spanFrom(start) }
}

function refuseChain(tokens: TokenStream): void {
  if (infixes.get(tokens.current.keyword)?.binding !== binding.comparison) return
  throw tokens.unexpected(
    'the end of the comparison',
    'comparisons do not chain: join them with "and", or put one in parentheses',
  )
}

function readPredicate(tokens: TokenStream, operand: Expression, start: number): Expression {
  const negated = tokens.accept('not')
  const name = tokens.current.keyword as PredicateName
  const span = (): Span => tokens.spanFrom(start)
  switch (name) {
    case 'in': {
      tokens.advance()
      const list = readInList(tokens)
      return { kind: 'in', operand, list, negated, span: span() }
    }
    case 'like':
    case 'ilike': {
      tokens.advance()
      const pattern = readInfix(tokens, binding.additive)
      const caseInsensitive = name === 'ilike'
      return { kind: 'like', operand, pattern, caseInsensitive, negated, span: span() }
    }
    case 'includes':
    case 'contains': {
      tokens.advance()
      const needle = readInfix(tokens, binding.additive)
      return { kind: 'includes', haystack: operand, needle, negated, span: span() }
    }
    case 'match': {
      tokens.advance()
      const query = readInfix(tokens, binding.additive)
      return { kind: 'match', operand, query, negated, span: span() }
    }
    case 'between': {
      tokens.advance()
      const low = readInfix(tokens, binding.additive)
      tokens.expect('and', 'and the upper end of "between"')
      const high = readInfix(tokens, binding.additive)
      return { kind: 'between', operand, low, high, negated, span: span() }
    }
    case 'is':
      if (negated) break
      return readIs(tokens, operand, start)
    case 'isnull':
    case 'isnotnull':
      if (negated) break
      tokens.advance()
      return { kind: 'is_null', operand, negated: name === 'isnotnull', span: span() }
    default:
      if (!negated) return unreachable(name)
  }
  throw tokens.unexpected('"in", "like", "ilike", "includes", "match" or "between" after "not"')
}

/** `is` tests for a value as it is; null is one of them. */
function readIs(tokens: TokenStream, left: Expression, start: number): Expression {
  tokens.advance()
  const negated = tokens.accept('not')
  const value = tokens.current
  if (tokens.accept('null')) {
    return { kind: 'is_null', operand: left, negated, span: tokens.spanFrom(start) }
  }
  if (tokens.accept('distinct')) {
    tokens.expect('from', 'after "is distinct"')
    const right = readInfix(tokens, binding.additive)
    const operator = negated ? 'is_same' : 'is_different'
    return { kind: 'comparison', operator, left, right, span: tokens.spanFrom(start) }
  }
  if (!tokens.accept('true') && !tokens.accept('false')) {
    throw tokens.unexpected('"null", "true", "false" or "distinct from" after "is"')
  }
  const operator = negated ? 'is_different' : 'is_same'
  const right: Expression = {
    kind: 'literal',
    value: value.keyword === 'true',
    span: { start: value.start, end: value.end },
  }
  return { kind: 'comparison', operator, left, right, span: tokens.spanFrom(start) }
}

/** `(a, b)` is a list as `[a, b]` is one; anything else is an expression that gives the list. */
function readInList(tokens: TokenStream): Expression {
  if (!tokens.is('(')) return readInfix(tokens, binding.additive)
  const { start } = tokens.advance()
  tokens.enter()
  const items: Expression[] = []
  while (!tokens.is(')')) {
    items.push(readExpression(tokens))
    if (!tokens.accept(',')) break
  }
  tokens.expect(')', 'to close the list')
  tokens.leave()
  return { kind: 'array', items, span: tokens.spanFrom(start) }
}

function readSigned(tokens: TokenStream): Expression {
  const { keyword, start } = tokens.current
  if (keyword !== '-' && keyword !== '+') {
    if (keyword !== 'not') return readOperand(tokens, readExpression)
    throw tokens.unexpected('a value', 'put the "not" and its condition in parentheses')
  }
  tokens.advance()
  const bare = tokens.current.kind === 'number'
  tokens.enter()
  const operand = readSigned(tokens)
  tokens.leave()
  if (keyword === '+') return operand
  const span = tokens.spanFrom(start)
  // A number and its sign are one literal; with parentheses between them they are not.
  if (bare && operand.kind === 'literal') return negateLiteral(operand, span)
  return { kind: 'negate', operand, span }
}

/** Reads an expression that must be all of the text. */
export function readWholeExpression(tokens: TokenStream): Expression {
  if (tokens.atClauseHeader()) throw tokens.unexpected('an expression', oneExpressionHint)
  const expression = readExpression(tokens)
  if (tokens.current.kind === 'end') return expression
  const expected = 'an operator or the end of the text'
  if (tokens.atClauseHeader() || (tokens.is('|') && tokens.peek(1).keyword !== '|')) {
    throw tokens.unexpected(expected, oneExpressionHint)
  }
  throw unfinished(tokens, expected)
}

export const oneExpressionHint = 'a filter is one expression, without clauses'
export const doublePipeHint = 'write "or", or concat(a, b)'

/** The error for a token that cannot go on what was read; `expected` is what could. */
export function unfinished(tokens: TokenStream, expected: string): AssayError {
  return tokens.unexpected(expected, hintAt(tokens))
}

function hintAt(tokens: TokenStream): string | undefined {
  const token = tokens.current
  if (token.keyword === '(') return 'only a plain name can be called as a function'
  if (token.keyword === '=>') return 'did you mean ">="?'
  if (token.keyword === '.' || token.keyword === '[')
    return 'only a field has parts, or what ends with a bracket: a.b, f(a)[0]'
  if (token.keyword === '|' && tokens.peek(1).keyword === '|') return doublePipeHint
  if (token.kind !== 'word' || reservedWords.has(token.keyword)) return undefined
  if (isClauseName(token.keyword) && tokens.peek(1).keyword !== ':') {
    return `a clause has a colon after its name: "${token.keyword}:"`
  }
  const word = suggest(token.keyword, infixWords)
  return word === undefined ? undefined : `did you mean "${word}"?`
}
