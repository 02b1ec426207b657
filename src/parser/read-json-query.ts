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
import { isName } from './character.ts'
import { checkClauses } from './check-clauses.ts'
import { clauseNames } from './clause.ts'
import { JsonNode, tooDeep } from './json-node.ts'
import { unpivotName } from './parse-clause.ts'
import { readSource } from './parse-query.ts'
import {
  readFunctionName,
  readJsonExpression,
  readJsonProjection,
  readJsonSelected,
  readJsonText,
  readPath,
} from './read-json-expression.ts'
import { sqlReservedWords } from './sql-keyword.ts'
import { maximumNesting, TokenStream } from './token-stream.ts'

/**
 * The query that the object stands for. Clauses that are null are absent. Throws REQUEST_INVALID with
 * the path of what is wrong, such as `query.filter.left.op`, and what the parser says of snippets.
 *
 * @param value as `type/exact-json.ts` gives it
 * @param path to the object in its request
 */
export function readJsonQuery(value: unknown, path = 'query'): Query {
  const query = readQueryNode(new JsonNode(value, path))
  checkNesting(query)
  checkClauses(query)
  return query
}

/** A source may be text, which nests by itself. */
function checkNesting({ from }: Query): void {
  let source = from
  for (let depth = 0; source?.kind === 'subquery'; depth++) {
    if (depth === maximumNesting) throw tooDeep(source.span.path ?? '')
    source = source.query.from
  }
}

function readQueryNode(node: JsonNode): Query {
  node.only([...clauseNames, 'distinct'])
  const count = (name: string, least = 0): CountClause | undefined => {
    const clause = node.optional(name)
    return clause && { value: clause.integer(least), span: clause.span }
  }
  const condition = (name: string): Expression | undefined => {
    const clause = node.optional(name)
    return clause && readJsonExpression(clause)
  }
  const list = <Item>(
    name: string,
    read: (item: JsonNode) => Item,
  ): readonly Item[] | undefined => {
    const clause = node.optional(name)
    const items = clause?.items().map((item) => read(item))
    // Builders of queries send lists that nothing was put into.
    return items && items.length > 0 ? items : undefined
  }
  const from = node.optional('from')
  const sample = node.optional('sample')
  const cursor = node.optional('cursor')
  const select = list('select', readJsonSelected)
  const isDistinct = node.optional('distinct')?.boolean() === true
  return {
    kind: 'query',
    select,
    distinct: (select && isDistinct) || undefined,
    dimensions: list('dimensions', readJsonProjection),
    measures: list('measures', readJsonProjection),
    pivot: pivotOf(node, list('pivot', readJsonProjection)),
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
    weightedScores: list('weighted_scores', readNamed),
    customColumns: list('custom_columns', readNamed),
    sample: sample && readSample(sample),
    sort: list('sort', readSortKey),
    limit: count('limit'),
    offset: count('offset'),
    cursor: cursor && { value: cursor.text(), span: cursor.span },
    previewLength: count('preview_length', -1),
    inferenceBudget: count('inference_budget'),
    span: node.span,
  }
}

/** A call such as `experiment('id')`, a nested query, or either as text. */
function readJsonSource(node: JsonNode): Source {
  if (typeof node.value === 'string') return readJsonText(node, parseSource)
  if (!node.has('op')) return { kind: 'subquery', query: readQueryNode(node), span: node.span }
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
    table: readTableName(node.required('name')),
    tableSpan: node.span,
    ids,
    shape: shape?.toLowerCase(),
    shapeSpan: undefined,
    span: node.span,
  }
}

/** As it may stand in a text. */
function readTableName(node: JsonNode): string {
  const name = readFunctionName(node)
  if (isName(name) && !sqlReservedWords.has(name)) return name
  throw new AssayError('REQUEST_INVALID', `${node.path} is no source: ${name.slice(0, 60)}`, {
    path: node.path,
    hint: 'name a kind of objects, such as ["experiment"] or ["project_logs"]',
  })
}

function parseSource(text: string): Source {
  const tokens = new TokenStream(text)
  const source = readSource(tokens)
  if (tokens.current.kind === 'end') return source
  throw tokens.unexpected('the end of the source')
}

function idOf(node: JsonNode, expression: Expression): TextClause {
  if (expression.kind === 'literal' && typeof expression.value === 'string') {
    return { value: expression.value, span: node.span }
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

function pivotOf(
  { span }: JsonNode,
  measures: readonly Projection[] | undefined,
): Pivot | undefined {
  return measures && { measures, key: undefined, span }
}

function readNamed(node: JsonNode): Projection {
  const projection = readJsonProjection(node)
  if (projection.alias !== undefined) return projection
  throw new AssayError('REQUEST_INVALID', `${node.path} has no alias`, {
    path: node.path,
    hint: 'name the column: {"expr": …, "alias": "…"}',
  })
}

function readUnpivot(node: JsonNode): Unpivot {
  node.only(['expr', 'alias'])
  const expression = readJsonExpression(node.required('expr'))
  const alias = node.required('alias')
  if (typeof alias.value === 'string') {
    return { expression, name: undefined, value: alias.value, span: node.span }
  }
  const [name, value, ...others] = alias.items()
  if (!name || !value || others.length > 0) throw alias.expected('a name or two')
  return { expression, name: unpivotName(name.text()), value: value.text(), span: node.span }
}

function readInferred(node: JsonNode): Expression {
  if (node.required('op').oneOf(['ident', 'star']) === 'star') {
    node.only(['op'])
    return { kind: 'star', replace: [], span: node.span }
  }
  return { kind: 'path', parts: readPath(node.required('name')), span: node.span }
}

function readSortKey(node: JsonNode): SortKey {
  node.only(['expr', 'dir'])
  const expression = readJsonExpression(node.required('expr'))
  const direction = node.optional('dir')?.oneOf(['asc', 'desc']) ?? 'asc'
  return { expression, direction, span: node.span }
}

function readSample(node: JsonNode): Sample {
  node.only(['method', 'seed'])
  const method = node.required('method')
  method.only(['type', 'value'])
  const type = method.required('type').oneOf(['rate', 'count'])
  const value = method.required('value')
  const seed = node.optional('seed')?.integer(0)
  if (type === 'count') return { method: { type, value: value.integer(1) }, seed, span: node.span }
  const rate = value.number()
  if (rate < 0 || rate > 1) throw value.expected('from 0 to 1')
  return { method: { type, value: rate }, seed, span: node.span }
}
