/** Binds a whole query: sources to objects, names to fields, projections to output columns. */
import type { CatalogView } from '../catalog/catalog.ts'
import { AssayError } from '../error.ts'
import { aggregateFunction } from '../function/aggregate.ts'
import type { Expression, Query, SortKey } from '../parser/ast.ts'
import { childrenOf } from '../parser/children.ts'
import { parseCursor, parsePaginationKey, type RowKey } from '../type/transaction.ts'
import type { Path } from '../type/value.ts'
import { ExpressionBinder } from './bind-expression.ts'
import { GroupBinder } from './bind-groups.ts'
import { bindSource } from './bind-source.ts'
import type { BoundOutput, BoundQuery, BoundSortKey, OutputColumn } from './bound.ts'
import type { EvaluationContext } from './evaluate.ts'
import {
  aliasOf,
  checkUnique,
  columnByOrdinal,
  columnName,
  duplicateName,
  type Grouping,
} from './projection.ts'
import { Scope } from './scope.ts'

export interface BindContext extends EvaluationContext {
  readonly view: CatalogView
  /** Top-level fields, besides the record columns, that records of an object have. */
  extraFields(objectNumber: number): Iterable<string>
}

export function bindQuery(query: Query, context: BindContext): BoundQuery {
  const objects = bindSource(query.from, context.view)
  const types = new Set(objects.map((object) => object.type))
  const extraFields = objects.flatMap((object) => [...context.extraFields(object.number)])
  const scope = new Scope(types, extraFields)

  const grouping = groupingOf(query)
  const { output, sort } = grouping
    ? new GroupBinder(scope, context).bind(grouping, query.sort ?? [])
    : bindRows(query, scope, context)
  const filter = query.filter && new ExpressionBinder(scope, context).bind(query.filter)
  return {
    objects,
    filter,
    output,
    sort,
    limit: query.limit?.value,
    offset: query.offset?.value ?? 0,
    after: bindCursor(query, output, sort),
  }
}

/** `select` of aggregates alone is `measures`. */
function groupingOf(query: Query): Grouping | undefined {
  if (query.dimensions || query.measures) {
    return { dimensions: query.dimensions ?? [], measures: query.measures ?? [] }
  }
  const select = query.select ?? []
  const aggregated = select.find(({ expression }) => containsAggregate(expression))
  return aggregated && { dimensions: [], measures: select }
}

function containsAggregate(node: Expression): boolean {
  if (node.kind === 'call' && aggregateFunction(node.name)) return true
  return childrenOf(node).some(containsAggregate)
}

function bindRows(query: Query, scope: Scope, context: EvaluationContext) {
  const binder = new ExpressionBinder(scope, context)
  const columns: OutputColumn[] = []
  const names = new Set<string>()
  let star = false
  for (const projection of query.select ?? []) {
    if (projection.expression.kind === 'star') {
      star = true
      continue
    }
    const expression = binder.bind(projection.expression)
    const name = columnName(projection)
    checkUnique(names, name, projection)
    columns.push({ name, expression })
  }
  if (star) {
    const clash = columns.find(
      ({ name, expression }) =>
        scope.isColumn(name) && !(expression.kind === 'field' && isOnly(expression.path, name)),
    )
    if (clash) {
      const projection = query.select!.find((candidate) => columnName(candidate) === clash.name)!
      throw duplicateName(clash.name, projection)
    }
  }
  for (const column of columns) scope.addAlias(column.name, column.expression)
  const extra = columns.filter(({ name }) => !(star && scope.isColumn(name)))
  const output: BoundOutput = { kind: 'rows', star, columns: extra }
  return { output, sort: bindRowSort(query.sort ?? [], columns, scope, binder) }
}

function bindRowSort(
  keys: readonly SortKey[],
  columns: readonly OutputColumn[],
  scope: Scope,
  binder: ExpressionBinder,
): BoundSortKey[] {
  const bound = keys.map(({ expression, direction }) => ({
    expression:
      columnByOrdinal(expression, columns) ?? aliasOf(expression, scope) ?? binder.bind(expression),
    descending: direction === 'desc',
  }))
  return isDefaultOrder(bound) ? [] : bound
}

function isOnly(path: Path, name: string): boolean {
  return path.length === 1 && path[0] === name
}

/** Newest first is what rows come in anyway. */
function isDefaultOrder(keys: readonly BoundSortKey[]): boolean {
  const [first] = keys
  return (
    first?.descending === true &&
    first.expression.kind === 'field' &&
    isOnly(first.expression.path, '_pagination_key')
  )
}

function bindCursor(
  query: Query,
  output: BoundOutput,
  sort: readonly BoundSortKey[],
): RowKey | undefined {
  const { cursor } = query
  if (!cursor) return undefined
  if (output.kind === 'groups' || sort.length > 0) {
    throw new AssayError('BIND_INVALID_OPTION', 'a cursor needs rows in their default order', {
      span: cursor.span,
      hint: 'leave out sort, or page with offset',
    })
  }
  const key = parseCursor(cursor.value) ?? parsePaginationKey(cursor.value)
  if (key) return key
  throw new AssayError('BIND_INVALID_OPTION', 'this is not a cursor', {
    span: cursor.span,
    hint: 'use the cursor of an earlier answer as it is',
  })
}
