/** Reads the JSON form of a query: an object with the clauses as keys. */
import { AssayError } from '../error.ts'
import type {
  CountClause,
  Expression,
  Pivot,
  Projection,
  Query,
  Sample,
  SortKey,
  Source,
  TextClause,
  Unpivot,
} from './ast.ts'
import { checkClauses } from './check-clauses.ts'
import { clauseNames } from './clause.ts'
import { JsonNode } from './json-node.ts'
import { readSource } from './parse-source.ts'
import {
  nowhere,
  readFunctionName,
  readJsonExpression,
  readJsonProjection,
  readPath,
} from './read-json-expression.ts'
import { TokenStream } from './token-stream.ts'
import { checkTreeDepth } from './tree-depth.ts'

/**
 * The query that the object stands for. Clauses that are null are absent. Throws REQUEST_INVALID with
 * the path of what is wrong, such as `query.filter.left.op`, and what the parser says of snippets.
 *
 * @param value as `JSON.parse` or `type/parse-json.ts` give it
 */
export function readJsonQuery(value: unknown): Query {
  const query = readQueryNode(new JsonNode(value, 'query'))
  checkClauses(query)
  return query
}

function readQueryNode(node: JsonNode): Query {
  node.only([...clauseNames, 'distinct'])
  const count = (name: string): CountClause | undefined => {
    const clause = node.optional(name)
    return clause && { value: clause.integer(), span: nowhere }
  }
  const condition = (name: string): Expression | undefined => {
    const clause = node.optional(name)
    if (!clause) return undefined
    const expression = readJsonExpression(clause)
    checkTreeDepth(expression)
    return expression
  }
  const list = <Item>(
    name: string,
    read: (item: JsonNode) => Item,
  ): readonly Item[] | undefined => {
    const clause = node.optional(name)
    const items = clause?.items().map(read)
    // Builders of queries send lists that nothing was put into.
    return items && items.length > 0 ? items : undefined
  }
  const from = node.optional('from')
  const sample = node.optional('sample')
  const cursor = node.optional('cursor')
  return {
    kind: 'query',
    select: list('select', readJsonProjection),
    distinct: node.optional('distinct')?.boolean() || undefined,
    dimensions: list('dimensions', readJsonProjection),
    measures: list('measures', readJsonProjection),
    pivot: pivotOf(list('pivot', readJsonProjection)),
    unpivot: list('unpivot', readUnpivot),
    infer: list('infer', readInferred),
    from: from && readJsonSource(from),
    filter: condition('filter'),
    spanFilter: condition('span_filter'),
    traceFilter: condition('trace_filter'),
    finalFilter: condition('final_filter'),
    finalDimensions: list('final_dimensions', readJsonProjection),
    finalMeasures: list('final_measures', readJsonProjection),
    comparisonKey: condition('comparison_key'),
    weightedScores: list('weighted_scores', readJsonProjection),
    customColumns: list('custom_columns', readJsonProjection),
    sample: sample && readSample(sample),
    sort: list('sort', readSortKey),
    limit: count('limit'),
    offset: count('offset'),
    cursor: cursor && { value: cursor.text(), span: nowhere },
    previewLength: count('preview_length'),
    inferenceBudget: count('inference_budget'),
    span: nowhere,
  }
}

/** A call such as `experiment('id')`, a nested query, or either as text. */
function readJsonSource(node: JsonNode): Source {
  if (typeof node.value === 'string') return readSourceText(node.value, node.path)
  if (!node.has('op')) return { kind: 'subquery', query: readQueryNode(node), span: nowhere }
  const op = node.required('op').oneOf(['function', 'ident'])
  if (op === 'ident') {
    throw new AssayError('REQUEST_INVALID', `${node.path} names no objects`, {
      path: node.path,
      hint: 'give it as a function with ids as its arguments',
    })
  }
  node.only(['op', 'name', 'args', 'shape', 'alias'])
  const given = (node.optional('args')?.items() ?? []).map((item) => ({
    item,
    ...readJsonProjection(item),
  }))
  const named = given.find(({ alias }) => alias !== undefined)
  const ids = given
    .filter((argument) => argument !== named)
    .map(({ item, expression }) => {
      return idOf(item, expression)
    })
  const shape = node.optional('shape')?.text() ?? (named && shapeOf(named))
  return {
    kind: 'table',
    table: readFunctionName(node.required('name')),
    tableSpan: nowhere,
    ids,
    shape: shape?.toLowerCase(),
    shapeSpan: undefined,
    span: nowhere,
  }
}

function readSourceText(text: string, path: string): Source {
  const tokens = new TokenStream(text)
  try {
    const source = readSource(tokens)
    if (tokens.current.kind === 'end') return source
    throw tokens.unexpected('the end of the source')
  } catch (thrown) {
    if (!(thrown instanceof AssayError)) throw thrown
    const hint = thrown.hint === undefined ? {} : { hint: thrown.hint }
    throw new AssayError(thrown.code, `${thrown.message}, in ${path}`, { path, ...hint })
  }
}

function idOf(node: JsonNode, expression: Expression): TextClause {
  if (expression.kind === 'literal' && typeof expression.value === 'string') {
    return { value: expression.value, span: nowhere }
  }
  throw new AssayError('REQUEST_INVALID', `${node.path} is no id`, {
    path: node.path,
    hint: 'ids are literals: {"op": "literal", "value": "…"}',
  })
}

function shapeOf({ item, expression, alias }: Projection & { readonly item: JsonNode }): string {
  if (alias === 'shape') {
    if (expression.kind === 'literal' && typeof expression.value === 'string')
      return expression.value
    if (expression.kind === 'path' && expression.parts.length === 1)
      return String(expression.parts[0])
  }
  throw new AssayError('REQUEST_INVALID', `${item.path} is no argument of a source`, {
    path: item.path,
    hint: 'the only named one is shape',
  })
}

function pivotOf(measures: readonly Projection[] | undefined): Pivot | undefined {
  return measures && { measures, key: undefined, span: nowhere }
}

function readUnpivot(node: JsonNode): Unpivot {
  node.only(['expr', 'alias'])
  const expression = readJsonExpression(node.required('expr'))
  const alias = node.required('alias')
  if (typeof alias.value === 'string') {
    return { expression, name: undefined, value: alias.value, span: nowhere }
  }
  const [name, value, ...others] = alias.items()
  if (!name || !value || others.length > 0) throw alias.expected('a name or two')
  return { expression, name: name.text(), value: value.text(), span: nowhere }
}

function readInferred(node: JsonNode): Expression {
  if (node.required('op').oneOf(['ident', 'star']) === 'star') return readJsonExpression(node)
  return { kind: 'path', parts: readPath(node.required('name')), span: nowhere }
}

function readSortKey(node: JsonNode): SortKey {
  node.only(['expr', 'dir'])
  const expression = readJsonExpression(node.required('expr'))
  const direction = node.optional('dir')?.oneOf(['asc', 'desc']) ?? 'asc'
  return { expression, direction, span: nowhere }
}

function readSample(node: JsonNode): Sample {
  node.only(['method', 'seed'])
  const method = node.required('method')
  method.only(['type', 'value'])
  const type = method.required('type').oneOf(['rate', 'count'])
  const value = method.required('value')
  const seed = node.optional('seed')?.integer()
  if (type === 'count') {
    const count = value.integer()
    if (count < 1) throw value.expected('at least 1')
    return { method: { type, value: count }, seed, span: nowhere }
  }
  const rate = value.number()
  if (rate < 0 || rate > 1) throw value.expected('from 0 to 1')
  return { method: { type, value: rate }, seed, span: nowhere }
}
