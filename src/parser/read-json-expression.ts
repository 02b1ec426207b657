/** Reads expressions of the JSON form: nodes with an `op`, and snippets of text, `{"btql": "…"}`. */

import { AssayError } from '../error.ts'
import { intervalUnits } from '../type/parse-interval.ts'
import type { PathPart } from '../type/value.ts'
import type { ComparisonOperator, Expression, LiteralValue, Projection } from './ast.ts'
import type { JsonNode } from './json-node.ts'
import { parseExpression } from './parse.ts'

/** Nodes of JSON have no place in a text: faults name the path to them. */
export const nowhere = { start: 0, end: 0 }

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

export function readJsonExpression(node: JsonNode): Expression {
  if (node.isObject && !node.has('op') && node.has('btql')) return readSnippet(node)
  const op = node.required('op').oneOf(operators)
  const operator = comparisons.get(op)
  if (operator) return readComparison(node, operator)
  const sum = arithmetic.find((name) => name === op)
  if (sum) {
    const [left, right] = readSides(node)
    return { kind: 'arithmetic', operator: sum, left, right, span: nowhere }
  }
  switch (op) {
    case 'literal':
      node.only(['op', 'value', 'alias'])
      return readLiteral(node.required('value'))
    case 'interval':
      return readInterval(node)
    case 'ident':
      node.only(['op', 'name', 'alias'])
      return { kind: 'path', parts: readPath(node.required('name')), span: nowhere }
    case 'star':
      return readStar(node)
    case 'function':
      return readCall(node)
    case 'like':
    case 'ilike': {
      const [operand, pattern] = readSides(node)
      const caseInsensitive = op === 'ilike'
      return { kind: 'like', operand, pattern, caseInsensitive, negated: false, span: nowhere }
    }
    case 'match': {
      const [operand, query] = readSides(node)
      return { kind: 'match', operand, query, negated: false, span: nowhere }
    }
    case 'in': {
      const [operand, list] = readSides(node)
      return { kind: 'in', operand, list, negated: false, span: nowhere }
    }
    case 'includes': {
      node.only(['op', 'haystack', 'needle'])
      const haystack = readJsonExpression(node.required('haystack'))
      const needle = readJsonExpression(node.required('needle'))
      return { kind: 'includes', haystack, needle, negated: false, span: nowhere }
    }
    case 'and':
    case 'or':
      return readChain(node, op)
    case 'not':
      return { kind: 'not', operand: readOperand(node), span: nowhere }
    case 'neg':
      return { kind: 'negate', operand: readOperand(node), span: nowhere }
    case 'isnull':
    case 'isnotnull':
      return {
        kind: 'is_null',
        operand: readOperand(node),
        negated: op === 'isnotnull',
        span: nowhere,
      }
    case 'if':
      return readConditional(node)
    case 'singlespanfilter':
      return callOf('any_span', [readOperand(node)])
    case 'matchingspansfilter':
      return callOf('filter_spans', [readOperand(node)])
    default:
      return readSnippet(node)
  }
}

/** An item of a list: `{"expr": …, "alias": …}`, or an expression, which may have an alias itself. */
export function readJsonProjection(node: JsonNode): Projection {
  // Some operators have an `expr` of their own.
  const isWrapped = node.has('expr') && !node.has('op')
  if (isWrapped) node.only(['expr', 'alias'])
  const inner = isWrapped ? node.required('expr') : node
  const expression = readJsonExpression(inner)
  const alias = (node.optional('alias') ?? inner.optional('alias'))?.text()
  return { expression, alias, span: nowhere }
}

/** Text of the language in place of a node. Its faults point into the snippet. */
function readSnippet(node: JsonNode): Expression {
  node.only(['op', 'btql'])
  const snippet = node.required('btql')
  const text = snippet.text()
  try {
    return parseExpression(text)
  } catch (thrown) {
    if (!(thrown instanceof AssayError)) throw thrown
    const place = thrown.span ? ` at character ${thrown.span.start + 1}` : ''
    throw new AssayError(thrown.code, `${thrown.message}, in ${snippet.path}${place}`, {
      path: snippet.path,
      ...(thrown.hint !== undefined && { hint: thrown.hint }),
    })
  }
}

function readSides(node: JsonNode): [Expression, Expression] {
  node.only(['op', 'left', 'right'])
  return [readJsonExpression(node.required('left')), readJsonExpression(node.required('right'))]
}

function readOperand(node: JsonNode): Expression {
  node.only(['op', 'expr'])
  return readJsonExpression(node.required('expr'))
}

/** Clients send `ne` null for the test that SQL writes `is not null`. */
function readComparison(node: JsonNode, operator: ComparisonOperator): Expression {
  const [left, right] = readSides(node)
  if (operator === 'ne' && (isNull(left) || isNull(right))) {
    const operand = isNull(right) ? left : right
    return { kind: 'is_null', operand, negated: true, span: nowhere }
  }
  return { kind: 'comparison', operator, left, right, span: nowhere }
}

function isNull(expression: Expression): boolean {
  return expression.kind === 'literal' && expression.value === null
}

function readLiteral(node: JsonNode): Expression {
  const { value } = node
  if (Array.isArray(value)) {
    return { kind: 'array', items: node.items().map(readLiteral), span: nowhere }
  }
  if (node.isObject) {
    const entries = node.entries().map(([key, entry]) => [key, readLiteral(entry)] as const)
    return { kind: 'object', entries, span: nowhere }
  }
  return { kind: 'literal', value: value as LiteralValue, span: nowhere }
}

function readInterval(node: JsonNode): Expression {
  node.only(['op', 'value', 'unit'])
  const value = node.required('value').integer()
  return {
    kind: 'interval',
    value,
    unit: node.required('unit').oneOf(intervalUnits),
    span: nowhere,
  }
}

export function readPath(node: JsonNode): PathPart[] {
  const parts = node.items().map((part): PathPart => {
    if (typeof part.value === 'string') return part.value
    if (typeof part.value === 'number' && Number.isSafeInteger(part.value)) return part.value
    throw part.expected('a name or an index')
  })
  if (typeof parts[0] === 'string') return parts
  throw node.expected('an array that begins with a name')
}

export function readStar(node: JsonNode): Expression {
  node.only(['op', 'replace'])
  const replace = node.optional('replace')
  const replaced = (replace?.entries() ?? []).map(([alias, value]): Projection => {
    return { expression: readJsonExpression(value), alias, span: nowhere }
  })
  return { kind: 'star', replace: replaced, span: nowhere }
}

function readCall(node: JsonNode): Expression {
  node.only(['op', 'name', 'args', 'alias', 'duplicate_treatment', 'filter'])
  const name = readFunctionName(node.required('name'))
  const given = node.optional('args')?.items() ?? []
  const treatment = node.optional('duplicate_treatment')?.oneOf(['Distinct', 'All'])
  const condition = node.optional('filter')
  return {
    ...callOf(
      name,
      given.map((argument) => readJsonProjection(argument).expression),
    ),
    distinct: treatment === 'Distinct',
    filter: condition && readJsonExpression(condition),
  }
}

/** `{"op": "ident", "name": ["count"]}` */
export function readFunctionName(node: JsonNode): string {
  node.only(['op', 'name'])
  node.required('op').oneOf(['ident'])
  return readPath(node.required('name')).join('.').toLowerCase()
}

function callOf(
  name: string,
  operands: readonly Expression[],
): Extract<Expression, { kind: 'call' }> {
  return {
    kind: 'call',
    name,
    nameSpan: nowhere,
    arguments: operands,
    distinct: false,
    filter: undefined,
    span: nowhere,
  }
}

/** Two sides, any number of children, or both; none is true for `and` and false for `or`. */
function readChain(node: JsonNode, kind: 'and' | 'or'): Expression {
  node.only(['op', 'left', 'right', 'children'])
  const sides = [node.optional('left'), node.optional('right')].flatMap((side) => {
    const operand = side && readJsonExpression(side)
    // A tree of two sides each is a chain, as it is in text.
    return operand?.kind === kind ? operand.operands : operand ? [operand] : []
  })
  const children = node.optional('children')?.items() ?? []
  const operands = [...sides, ...children.map(readJsonExpression)]
  if (operands.length === 0) return { kind: 'literal', value: kind === 'and', span: nowhere }
  if (operands.length === 1) return operands[0]!
  return { kind, operands, span: nowhere }
}

function readConditional(node: JsonNode): Expression {
  node.only(['op', 'conds', 'else'])
  const conditions = node.required('conds')
  const branches = conditions.items().map((branch) => {
    branch.only(['cond', 'then'])
    return {
      condition: readJsonExpression(branch.required('cond')),
      result: readJsonExpression(branch.required('then')),
    }
  })
  if (branches.length === 0) throw conditions.expected('an array of at least one condition')
  return {
    kind: 'conditional',
    branches,
    otherwise: readJsonExpression(node.required('else')),
    span: nowhere,
  }
}
