import { unreachable } from '../error.ts'
import type { PathPart } from '../type/value.ts'
import type {
  ArithmeticOperator,
  ComparisonOperator,
  Expression,
  LiteralValue,
  Projection,
} from './ast.ts'
import { binding } from './binding.ts'
import { isName } from './character.ts'
import { keywords } from './keyword.ts'
import { sqlReservedWords } from './sql-keyword.ts'

export const comparisonSymbols: Readonly<Record<ComparisonOperator, string>> = {
  eq: '=',
  ne: '!=',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  is_same: '<=>',
  is_different: '<!=>',
}

export const arithmeticSymbols: Readonly<Record<ArithmeticOperator, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  mod: '%',
}

/** Prints an expression with no more parentheses than needed; parsing it gives the expression again. */
export function printExpression(expression: Expression): string {
  return print(expression, binding.conditional)
}

/** Prints `expression`, or `expression as name`. */
export function printProjection({ expression, alias }: Projection): string {
  return withAlias(printExpression(expression), alias)
}

export function withAlias(text: string, alias: string | undefined): string {
  return alias === undefined ? text : `${text} as ${printName(alias)}`
}

/** Prints `expression` as an operand of something that binds as tightly as `minimum`. */
function print(expression: Expression, minimum: number): string {
  const text = printBare(expression)
  return bindingOf(expression) < minimum ? `(${text})` : text
}

function bindingOf(expression: Expression): number {
  switch (expression.kind) {
    case 'conditional':
      return binding.conditional
    case 'or':
      return binding.or
    case 'and':
      return binding.and
    case 'not':
      return binding.not
    case 'comparison':
    case 'is_null':
    case 'like':
    case 'includes':
    case 'match':
    case 'in':
    case 'between':
      return binding.comparison
    case 'arithmetic':
      return arithmeticBinding(expression.operator)
    default:
      return binding.sign
  }
}

function arithmeticBinding(operator: ArithmeticOperator): number {
  return operator === 'add' || operator === 'sub' ? binding.additive : binding.multiplicative
}

function printBare(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return printLiteral(expression.value)
    case 'interval':
      return `interval ${expression.value} ${expression.unit}`
    case 'path':
      return printPath(expression.parts)
    case 'star':
      return printStar(expression.replace)
    case 'access':
      return `${printStart(expression.operand)}${printSteps(expression.parts)}`
    case 'array':
      return `[${expression.items.map(printExpression).join(', ')}]`
    case 'object':
      return `{${expression.entries
        .map(([key, value]) => `${printName(key)}: ${printExpression(value)}`)
        .join(', ')}}`
    case 'call':
      return printCall(expression)
    case 'arithmetic': {
      const { operator, left, right } = expression
      const tightness = arithmeticBinding(operator)
      return `${print(left, tightness)} ${arithmeticSymbols[operator]} ${print(right, tightness + 1)}`
    }
    case 'negate':
      return printNegation(expression.operand)
    case 'not':
      return `not ${print(expression.operand, binding.not)}`
    case 'and':
    case 'or':
      return expression.operands
        .map((operand) => print(operand, binding[expression.kind] + 1))
        .join(` ${expression.kind} `)
    case 'conditional':
      return printConditional(expression)
    default:
      return printComparison(expression)
  }
}

type Comparison = Extract<
  Expression,
  { kind: 'comparison' | 'is_null' | 'like' | 'includes' | 'match' | 'in' | 'between' }
>

function printComparison(expression: Comparison): string {
  switch (expression.kind) {
    case 'comparison': {
      const { operator, left, right } = expression
      return `${printTerm(left)} ${comparisonSymbols[operator]} ${printTerm(right)}`
    }
    case 'is_null':
      return `${printTerm(expression.operand)} is ${expression.negated ? 'not ' : ''}null`
    case 'like': {
      const name = expression.caseInsensitive ? 'ilike' : 'like'
      return printPredicate(expression.operand, expression.negated, name, expression.pattern)
    }
    case 'includes':
      return printPredicate(expression.haystack, expression.negated, 'includes', expression.needle)
    case 'match':
      return printPredicate(expression.operand, expression.negated, 'match', expression.query)
    case 'in': {
      const { operand, negated, list } = expression
      const text = printTerm(list)
      // A parenthesis after `in` opens a list of values; a plus sign, which does nothing, keeps it from that.
      const shielded = text.startsWith('(') ? `+${text}` : text
      return `${printTerm(operand)} ${negated ? 'not ' : ''}in ${shielded}`
    }
    case 'between': {
      const { operand, negated, low, high } = expression
      const ends = `${printTerm(low)} and ${printTerm(high)}`
      return `${printTerm(operand)} ${negated ? 'not ' : ''}between ${ends}`
    }
    default:
      return unreachable(expression)
  }
}

function printPredicate(
  left: Expression,
  negated: boolean,
  name: string,
  right: Expression,
): string {
  return `${printTerm(left)} ${negated ? 'not ' : ''}${name} ${printTerm(right)}`
}

/** Prints an operand of a comparison. */
export function printTerm(expression: Expression): string {
  return print(expression, binding.additive)
}

function printConditional(expression: Extract<Expression, { kind: 'conditional' }>): string {
  const branches = expression.branches.map(
    ({ condition, result }) =>
      `${print(condition, binding.or)} ? ${print(result, binding.conditional)} : `,
  )
  return `${branches.join('')}${print(expression.otherwise, binding.or)}`
}

function printCall(expression: Extract<Expression, { kind: 'call' }>): string {
  const { name, distinct, filter } = expression
  const [first = '', ...rest] = expression.arguments.map(printExpression)
  const items = [distinct ? printDistinct(first) : first, ...rest].join(', ')
  const call = `${printFunction(name)}(${items})`
  return filter === undefined ? call : `${call} filter (where ${printExpression(filter)})`
}

/** Words that are no function's name when a parenthesis follows them, unless they are quoted. */
const formWords: ReadonlySet<string> = new Set([
  ...sqlReservedWords,
  'case',
  'cast',
  'distinct',
  'false',
  'isnotnull',
  'isnull',
  'neg',
  'null',
  'on',
  'select',
  'true',
  'with',
])

function printFunction(name: string): string {
  return isName(name) && !formWords.has(name) ? name : quote(name, '`')
}

/** Prints `distinct` before the first item of a list. */
export function printDistinct(item: string): string {
  // A sign with a space after it would make `distinct` a field.
  return item.startsWith('- ') ? `distinct (${item})` : `distinct ${item}`
}

function printNegation(operand: Expression): string {
  // A sign and a number are one literal, and two signs without a space are a comment.
  if (operand.kind === 'literal' && typeof operand.value !== 'string') {
    return `-(${printLiteral(operand.value)})`
  }
  const text = print(operand, binding.sign)
  return text.startsWith('-') ? `- ${text}` : `-${text}`
}

export function printLiteral(value: LiteralValue): string {
  if (typeof value === 'string') return printString(value)
  if (typeof value !== 'number') return String(value)
  if (Object.is(value, -0)) return '-0'
  // With its digits alone a large double would come back as an exact integer.
  return Number.isInteger(value) && Math.abs(value) > 2 ** 53
    ? value.toExponential()
    : String(value)
}

/** Prints what a step leads away from; only what ends with a bracket may stand bare. */
function printStart(expression: Expression): string {
  const { kind } = expression
  const isBare = kind === 'call' || kind === 'array' || kind === 'object'
  return isBare ? printBare(expression) : `(${printBare(expression)})`
}

function printStar(replace: readonly Projection[]): string {
  return replace.length === 0 ? '*' : `* replace (${replace.map(printProjection).join(', ')})`
}

/** Prints the way from a value to a part of it: `.a[0]`. */
export function printSteps(parts: readonly PathPart[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`
      return isName(part) ? `.${part}` : `.${quote(part, '"')}`
    })
    .join('')
}

/** Prints a field's path; a name that is a keyword or no plain word is quoted. */
export function printPath(parts: readonly PathPart[]): string {
  return parts
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`
      if (i > 0) return isName(part) ? `.${part}` : `.${quote(part, '"')}`
      if (isName(part) && !keywords.has(part.toLowerCase())) return part
      // Alone, a word in double quotes is a string.
      return quote(part, parts.length > 1 ? '"' : '`')
    })
    .join('')
}

/** Prints an alias or an object's key, where keywords are names like any other. */
export function printName(name: string): string {
  return isName(name) ? name : quote(name, '"')
}

export function printString(value: string): string {
  return quote(value, "'")
}

const namedEscapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
}

function quote(text: string, mark: string): string {
  const escaped = text
    // A backslash before one of LIKE's two signs means itself as it is.
    .replace(/\\(?![%_])/g, '\\\\')
    .replaceAll(mark, mark + mark)
    .replace(
      /[\p{Cc}\p{Surrogate}]/gu,
      (character) => namedEscapes[character] ?? unicodeEscape(character),
    )
  return mark + escaped + mark
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
