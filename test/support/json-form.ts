/** Writes syntax trees in the JSON form of queries: the inverse of what reads it, for tests. */
import { ExactNumber } from '../../src/json/exact-number.ts'
import type { Expression, LiteralValue, Projection, Query, Source } from '../../src/parser/ast.ts'
import { printExpression } from '../../src/parser/print.ts'

type Json = unknown

/**
 * A pivot in JSON always makes columns of the last dimension, and what a star replaces is an object,
 * which has a key once, and numbers before names.
 */
export function hasJsonForm({ pivot, from, select }: Query): boolean {
  if (from?.kind === 'subquery' && !hasJsonForm(from.query)) return false
  if (pivot?.key) return false
  return (select ?? []).every(({ expression: node }) => {
    if (node.kind !== 'star') return true
    const names = node.replace.map(({ alias }) => alias)
    return new Set(names).size === names.length && !names.some((name) => /^\d+$/.test(name ?? ''))
  })
}

/** The query as an object that `writeExactJson` takes. */
export function jsonForm(query: Query): Json {
  const list = (items: readonly Projection[] | undefined) => items?.map(projection)
  const condition = (node: Expression | undefined) => node && expression(node)
  const { pivot } = query
  const clauses = {
    select: list(query.select),
    distinct: query.distinct,
    dimensions: list(query.dimensions),
    measures: list(query.measures),
    pivot: list(pivot?.measures),
    unpivot: query.unpivot?.map(({ expression: unpivoted, name, value }) => {
      return { expr: expression(unpivoted), alias: name === undefined ? value : [name, value] }
    }),
    infer: query.infer?.map(expression),
    from: query.from && source(query.from),
    filter: condition(query.filter),
    span_filter: condition(query.spanFilter),
    trace_filter: condition(query.traceFilter),
    final_filter: condition(query.finalFilter),
    final_dimensions: list(query.finalDimensions),
    final_measures: list(query.finalMeasures),
    comparison_key: condition(query.comparisonKey),
    weighted_scores: list(query.weightedScores),
    custom_columns: list(query.customColumns),
    sample: query.sample && { method: query.sample.method, seed: query.sample.seed },
    sort: query.sort?.map((key) => ({ expr: expression(key.expression), dir: key.direction })),
    limit: query.limit?.value,
    offset: query.offset?.value,
    cursor: query.cursor?.value,
    preview_length: query.previewLength?.value,
    inference_budget: query.inferenceBudget?.value,
  }
  return Object.fromEntries(Object.entries(clauses).filter(([, value]) => value !== undefined))
}

function projection({ expression: node, alias }: Projection): Json {
  if (node.kind === 'star') return expression(node)
  return { expr: expression(node), ...(alias !== undefined && { alias }) }
}

function source(from: Source): Json {
  if (from.kind === 'subquery') return jsonForm(from.query)
  return {
    op: 'function',
    name: { op: 'ident', name: [from.table] },
    args: from.ids.map(({ value }) => ({ op: 'literal', value })),
    ...(from.shape !== undefined && { shape: from.shape }),
  }
}

function expression(node: Expression): Json {
  switch (node.kind) {
    case 'literal':
      return { op: 'literal', value: exact(node.value) }
    case 'interval':
      return { op: 'interval', value: node.value, unit: node.unit }
    case 'path':
      return { op: 'ident', name: node.parts }
    case 'star': {
      if (node.replace.length === 0) return { op: 'star' }
      const replace = node.replace.map((item) => {
        if (item.alias === undefined) throw new Error('a replacement needs a name')
        return [item.alias, expression(item.expression)] as const
      })
      return { op: 'star', replace: Object.fromEntries(replace) }
    }
    case 'call':
      return {
        op: 'function',
        name: { op: 'ident', name: [node.name] },
        args: node.arguments.map(expression),
        ...(node.distinct && { duplicate_treatment: 'Distinct' }),
        ...(node.filter && { filter: expression(node.filter) }),
      }
    case 'comparison': {
      const op = comparisons[node.operator]
      // In this form `ne` null is a null test.
      const testsNull = node.operator === 'ne' && [node.left, node.right].some(isNull)
      if (op === undefined || testsNull) return snippet(node)
      return { op, left: expression(node.left), right: expression(node.right) }
    }
    case 'arithmetic':
      return { op: node.operator, left: expression(node.left), right: expression(node.right) }
    case 'negate':
      return { op: 'neg', expr: expression(node.operand) }
    case 'not':
      return { op: 'not', expr: expression(node.operand) }
    case 'and':
    case 'or':
      return { op: node.kind, children: node.operands.map(expression) }
    case 'is_null':
      return { op: node.negated ? 'isnotnull' : 'isnull', expr: expression(node.operand) }
    case 'like':
      if (node.negated) return snippet(node)
      return {
        op: node.caseInsensitive ? 'ilike' : 'like',
        left: expression(node.operand),
        right: expression(node.pattern),
      }
    case 'includes':
      if (node.negated) return snippet(node)
      return {
        op: 'includes',
        haystack: expression(node.haystack),
        needle: expression(node.needle),
      }
    case 'match':
      if (node.negated) return snippet(node)
      return { op: 'match', left: expression(node.operand), right: expression(node.query) }
    case 'in':
      if (node.negated) return snippet(node)
      return { op: 'in', left: expression(node.operand), right: expression(node.list) }
    case 'conditional':
      return {
        op: 'if',
        conds: node.branches.map(({ condition, result }) =>
          Object.fromEntries([
            ['cond', expression(condition)],
            ['then', expression(result)],
          ]),
        ),
        else: expression(node.otherwise),
      }
    default:
      return snippet(node)
  }
}

/** As a body has it: an integer past ±2^53 with all its digits, and a double of that size with an exponent. */
function exact(value: LiteralValue): Json {
  if (typeof value === 'bigint') return new ExactNumber(String(value))
  const isLarge = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > 2 ** 53
  if (Object.is(value, -0)) return new ExactNumber('-0')
  return isLarge ? new ExactNumber(value.toExponential()) : value
}

/** `<!=>` and what is negated have no `op` of their own. */
const comparisons: Readonly<Record<string, string>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'lt',
  le: 'le',
  gt: 'gt',
  ge: 'ge',
  is_same: 'is',
}

function isNull(node: Expression): boolean {
  return node.kind === 'literal' && node.value === null
}

function snippet(node: Expression): Json {
  return { btql: printExpression(node) }
}
