/** Reads expressions of the JSON form: nodes with an `op`, and snippets of text, `{"btql": "…"}`. */

import { AssayError } from '../error.ts'
import { intervalUnits } from '../type/parse-interval.ts'
import type { PathPart } from '../type/value.ts'
import type { ComparisonOperator, Expression, LiteralValue, Projection } from './ast.ts'
import type { JsonNode } from './json-node.ts'
import { placedAt } from './map-tree.ts'
import { parseExpression } from './parse.ts'
import { maximumPathParts } from './parse-path.ts'
import { numberOfText } from './read-number.ts'
import { checkTreeDepth } from './tree-depth.ts'

const comparisons: ReadonlyMap<string, ComparisonOperator> = new Map([
  ['eq', 'eq'],
  ['is', 'is_same'],
  ['ne', 'ne'],
  ['lt', 'lt'],
  ['le', 'le'],
  ['gt', 'gt'],
  ['ge', 'ge'],
])

const arithmetic = ['add', 'sub', 'mul', 'div', 'mod'] as const

const operators = [
  'literal',
  'interval',
  'ident',
  'star',
  'function',
  ...comparisons.keys(),
  'like',
  'ilike',
  'match',
  'in',
  'includes',
  'and',
  'or',
  'not',
  'isnull',
  'isnotnull',
  ...arithmetic,
  'neg',
  'if',
  'btql',
  'singlespanfilter',
  'matchingspansfilter',
]

/** An expression that is a clause's, or an item of one: a value, and so no star. */
export function readJsonExpression(node: JsonNode): Expression {
  const expression = readValue(node)
  checkTreeDepth(expression)
  return expression
}

/** All that an expression may be made of, but a star, which stands for fields and is no value. */
function readValue(node: JsonNode): Expression {
  const expression = readOperation(node)
  if (expression.kind !== 'star') return expression
  throw new AssayError('REQUEST_INVALID', `${node.path} cannot be a star`, {
    path: node.path,
    hint: 'only "select" takes a star, and a function such as count as its one argument',
  })
}

function readOperation(node: JsonNode): Expression {
  if (node.isObject && !node.has('op') && node.has('btql')) return readSnippet(node)
  const op = node.required('op').oneOf(operators)
  const operator = comparisons.get(op)
  if (operator) return readComparison(node, operator)
  const sum = arithmetic.find((name) => name === op)
  if (sum) {
    const [left, right] = readSides(node)
    return { kind: 'arithmetic', operator: sum, left, right, span: node.span }
  }
  switch (op) {
    case 'literal':
      node.only(['op', 'value', 'alias'])
      return readLiteral(node.required('value'))
    case 'interval':
      return readInterval(node)
    case 'ident':
      node.only(['op', 'name', 'alias'])
      return { kind: 'path', parts: readPath(node.required('name')), span: node.span }
    case 'star':
      return readStar(node)
    case 'function':
      return readCall(node)
    case 'like':
    case 'ilike': {
      const [operand, pattern] = readSides(node)
      const caseInsensitive = op === 'ilike'
      return { kind: 'like', operand, pattern, caseInsensitive, negated: false, span: node.span }
    }
    case 'match': {
      const [operand, query] = readSides(node)
      return { kind: 'match', operand, query, negated: false, span: node.span }
    }
    case 'in': {
      const [operand, list] = readSides(node)
      return { kind: 'in', operand, list, negated: false, span: node.span }
    }
    case 'includes': {
      node.only(['op', 'haystack', 'needle'])
      const haystack = readValue(node.required('haystack'))
      const needle = readValue(node.required('needle'))
      return { kind: 'includes', haystack, needle, negated: false, span: node.span }
    }
    case 'and':
    case 'or':
      return readChain(node, op)
    case 'not':
      return { kind: 'not', operand: readOperand(node), span: node.span }
    case 'neg':
      return { kind: 'negate', operand: readOperand(node), span: node.span }
    case 'isnull':
    case 'isnotnull':
      return {
        kind: 'is_null',
        operand: readOperand(node),
        negated: op === 'isnotnull',
        span: node.span,
      }
    case 'if':
      return readConditional(node)
    case 'singlespanfilter':
      return callOf(node, 'any_span', [readOperand(node)])
    case 'matchingspansfilter':
      return callOf(node, 'filter_spans', [readOperand(node)])
    default:
      return readSnippet(node)
  }
}

/**
 * An item of a list: `{"expr": …, "alias": …}`, or an expression, which may have an alias itself.
 *
 * @param read of the expression; a value if not said
 */
export function readJsonProjection(node: JsonNode, read = readJsonExpression): Projection {
  // Some operators have an `expr` of their own.
  const isWrapped = node.has('expr') && !node.has('op')
  if (isWrapped) node.only(['expr', 'alias'])
  const inner = isWrapped ? node.required('expr') : node
  const expression = read(inner)
  const alias = (node.optional('alias') ?? inner.optional('alias'))?.text()
  return { expression, alias, span: node.span }
}

/** An item of `select`. */
export function readJsonSelected(node: JsonNode): Projection {
  const projection = readJsonProjection(node, readOperation)
  const { expression, alias } = projection
  checkTreeDepth(expression)
  if (expression.kind !== 'star' || alias === undefined) return projection
  throw new AssayError('REQUEST_INVALID', `${node.path} is a star with an alias`, {
    path: node.path,
    hint: 'a star is all fields: leave out the alias',
  })
}

/** Text of the language in place of a node. Its faults point into the snippet. */
function readSnippet(node: JsonNode): Expression {
  node.only(['op', 'btql'])
  return readJsonText(node.required('btql'), parseExpression)
}

/** What is written as text within the JSON. */
export function readJsonText<Tree>(node: JsonNode, parse: (text: string) => Tree): Tree {
  const { path } = node
  try {
    return placedAt(path, parse(node.text()))
  } catch (thrown) {
    if (!(thrown instanceof AssayError) || !thrown.span) throw thrown
    const { code, hint, span } = thrown
    const message = `${thrown.message}, in ${path} at character ${span.start + 1}`
    const place = { span: { ...span, path } }
    throw new AssayError(code, message, hint === undefined ? place : { ...place, hint })
  }
}

function readSides(node: JsonNode): [Expression, Expression] {
  node.only(['op', 'left', 'right'])
  return [readValue(node.required('left')), readValue(node.required('right'))]
}

function readOperand(node: JsonNode): Expression {
  node.only(['op', 'expr'])
  return readValue(node.required('expr'))
}

/** Clients send `ne` null for the test that SQL writes `is not null`. */
function readComparison(node: JsonNode, operator: ComparisonOperator): Expression {
  const [left, right] = readSides(node)
  if (operator === 'ne' && (isNull(left) || isNull(right))) {
    const operand = isNull(right) ? left : right
    return { kind: 'is_null', operand, negated: true, span: node.span }
  }
  return { kind: 'comparison', operator, left, right, span: node.span }
}

function isNull(expression: Expression): boolean {
  return expression.kind === 'literal' && expression.value === null
}

function readLiteral(node: JsonNode): Expression {
  const { value, span } = node
  if (Array.isArray(value)) return { kind: 'array', items: node.items().map(readLiteral), span }
  if (node.isObject) {
    const entries = node.entries().map(([key, entry]) => [key, readLiteral(entry)] as const)
    return { kind: 'object', entries, span }
  }
  return {
    kind: 'literal',
    value: node.isNumber ? readNumber(node) : (value as LiteralValue),
    span,
  }
}

/** As the language has it: an integer past ±2^53 has all its digits. */
function readNumber({ value, path }: JsonNode): number | bigint {
  const text = String(value)
  const number = numberOfText(text.startsWith('-') ? text.slice(1) : text)
  if (number !== undefined) return Object.is(value, -0) || text.startsWith('-') ? -number : number
  throw new AssayError('PARSE_INVALID_LITERAL', `${path} is out of range: ${text.slice(0, 60)}`, {
    path,
    hint: 'give a number that a double can hold, or an integer of fewer digits',
  })
}

function readInterval(node: JsonNode): Expression {
  node.only(['op', 'value', 'unit'])
  const value = node.required('value').integer()
  return {
    kind: 'interval',
    value,
    unit: node.required('unit').oneOf(intervalUnits),
    span: node.span,
  }
}

export function readPath(node: JsonNode): PathPart[] {
  const parts = node.items().map((part): PathPart => {
    if (typeof part.value === 'string') return part.value
    if (!part.isNumber) throw part.expected('a name or an index')
    // Without the sign of a zero.
    return part.integer() + 0
  })
  if (parts.length > maximumPathParts) {
    throw new AssayError('PARSE_TOO_DEEP', `${node.path} is too long a path`, {
      path: node.path,
      hint: `give at most ${maximumPathParts} parts`,
    })
  }
  if (typeof parts[0] === 'string') return parts
  throw node.expected('an array that begins with a name')
}

export function readStar(node: JsonNode): Expression {
  node.only(['op', 'replace'])
  const replace = node.optional('replace')
  const replaced = (replace?.entries() ?? []).map(([alias, value]): Projection => {
    return { expression: readValue(value), alias, span: node.span }
  })
  return { kind: 'star', replace: replaced, span: node.span }
}

function readCall(node: JsonNode): Expression {
  node.only(['op', 'name', 'args', 'alias', 'duplicate_treatment', 'filter'])
  const name = readFunctionName(node.required('name'))
  const given = node.optional('args')?.items() ?? []
  const treatment = node.optional('duplicate_treatment')?.oneOf(['Distinct', 'All'])
  const condition = node.optional('filter')
  const distinct = treatment === 'Distinct'
  const operands = given.map((argument) => readJsonProjection(argument, readOperation).expression)
  refuseStar(node, operands, distinct)
  if (distinct && operands.length === 0) throw node.expected('a call with an argument')
  return { ...callOf(node, name, operands), distinct, filter: condition && readValue(condition) }
}

/** The language has a star as the one argument only. */
function refuseStar(node: JsonNode, operands: readonly Expression[], distinct: boolean): void {
  const star = operands.find((operand) => operand.kind === 'star')
  if (!star || (operands.length === 1 && !distinct && star.replace.length === 0)) return
  throw new AssayError('REQUEST_INVALID', `${node.path} has a star among its arguments`, {
    path: node.path,
    hint: 'a star is the only argument, and all rows: {"op": "star"}',
  })
}

/** `{"op": "ident", "name": ["count"]}` */
export function readFunctionName(node: JsonNode): string {
  node.only(['op', 'name'])
  node.required('op').oneOf(['ident'])
  return readPath(node.required('name')).join('.').toLowerCase()
}

function callOf(
  node: JsonNode,
  name: string,
  operands: readonly Expression[],
): Extract<Expression, { kind: 'call' }> {
  return {
    kind: 'call',
    name,
    nameSpan: node.span,
    arguments: operands,
    distinct: false,
    filter: undefined,
    span: node.span,
  }
}

/** Two sides, any number of children, or both; none is true for `and` and false for `or`. */
function readChain(node: JsonNode, kind: 'and' | 'or'): Expression {
  node.only(['op', 'left', 'right', 'children'])
  const sides = [node.optional('left'), node.optional('right')].flatMap((side) => {
    const operand = side && readValue(side)
    // A tree of two sides each is a chain, as it is in text.
    return operand?.kind === kind ? operand.operands : operand ? [operand] : []
  })
  const children = node.optional('children')?.items() ?? []
  const operands = [...sides, ...children.map(readValue)]
  if (operands.length === 0) return { kind: 'literal', value: kind === 'and', span: node.span }
  if (operands.length === 1) return operands[0]!
  return { kind, operands, span: node.span }
}

function readConditional(node: JsonNode): Expression {
  node.only(['op', 'conds', 'else'])
  const conditions = node.required('conds')
  const branches = conditions.items().map((branch) => {
    branch.only(['cond', 'then'])
    return {
      condition: readValue(branch.required('cond')),
      result: readValue(branch.required('then')),
    }
  })
  if (branches.length === 0) throw conditions.expected('an array of at least one condition')
  return {
    kind: 'conditional',
    branches,
    otherwise: readValue(node.required('else')),
    span: node.span,
  }
}
