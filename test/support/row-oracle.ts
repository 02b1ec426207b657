/**
 * A second implementation of the language, row by row and straight from the syntax tree: what the
 * engine's answers are compared with. It is written to be obviously right, in plain loops, and knows
 * nothing of the code it checks but the shape of the tree.
 */
import type { Expression, Projection, Query, SortKey, TableSource } from '../../src/parser/ast.ts'
import { childrenOf } from '../../src/parser/children.ts'
import { printExpression } from '../../src/parser/print.ts'
import { isAggregate } from './oracle-aggregate.ts'
import { evaluate, type Names, noNames, type Surroundings } from './oracle-expression.ts'
import type { OracleClock } from './oracle-function.ts'
import { columnItem, type Item, withNames } from './oracle-row.ts'
import { elements, type OracleTable, type SourceRows, sourceRows } from './oracle-source.ts'
import { identity, json, order, type Plain, text } from './oracle-value.ts'

export interface OracleColumn {
  readonly name: string
  readonly value: Plain
}

export interface OracleContext {
  readonly table: (source: TableSource) => OracleTable
  readonly clock: OracleClock
}

/** One row of an answer, and what it was made of. */
interface Entry {
  readonly item: Item | undefined
  readonly group: readonly Item[] | undefined
  /** Columns that a pivot has made. */
  readonly pivoted: Readonly<Record<string, Plain>>
}

interface Answer {
  readonly query: Query
  readonly entries: readonly Entry[]
  readonly columnsOf: (entry: Entry) => OracleColumn[]
  /** Columns that show a field as it is that may be shortened, whatever their names are. */
  readonly shortenable: ReadonlySet<string>
}

/** The rows that answer a query, each as its columns in order. */
export function answer(query: Query, context: OracleContext): OracleColumn[][] {
  const { query: run, entries, columnsOf, shortenable } = ask(query, context)
  const isSummary =
    run.from?.kind === 'table' && (run.from.shape === 'summary' || run.comparisonKey)
  const length = run.previewLength?.value ?? (isSummary ? 124 : -1)
  return entries.map((entry) =>
    columnsOf(entry).map(({ name, value }) => {
      const isShortened = length >= 0 && shortenable.has(name)
      return { name, value: isShortened ? shortened(value, length) : value }
    }),
  )
}

const previewed = new Set(['input', 'output', 'expected', 'error', 'metadata'])

function shortened(value: Plain, length: number): Plain {
  // As it was written.
  const written = typeof value === 'string' ? value : json(value)
  const characters = value === null ? [] : [...written]
  return characters.length > length ? `${characters.slice(0, length).join('')}…` : value
}

export function columnName({ alias, expression }: Projection): string {
  if (alias !== undefined) return alias
  if (expression.kind !== 'path') return printExpression(expression)
  return String(expression.parts.filter((part) => typeof part === 'string').at(-1))
}

function ask(given: Query, context: OracleContext): Answer {
  const query = withoutFinalGroups(given)
  const grouping = groupingOf(query)
  const shown = grouping?.columns ?? [...(query.select ?? []), ...(query.customColumns ?? [])]
  const weighted = query.weightedScores
  const columns = weighted ? [...shown, weightedColumn(weighted)] : shown
  const named = columns.flatMap(({ expression, ...rest }) =>
    expression.kind === 'star' ? expression.replace : [{ expression, ...rest }],
  )
  const known = [...(grouping?.dimensions ?? []), ...(query.customColumns ?? []), ...named]
  const aliases: Names = new Map(
    known
      .filter(({ expression }) => !grouping || !hasAggregate(expression))
      .filter((column) => printExpression(column.expression) !== columnName(column))
      .map((column) => [columnName(column), column.expression]),
  )
  const inside = (entry: Pick<Entry, 'item' | 'group'>, first: Names = noNames): Surroundings => {
    return { item: entry.item, group: entry.group, first, aliases, clock: context.clock }
  }
  const passes = (item: Item, condition: Expression) =>
    evaluate(condition, inside({ item, group: undefined })) === true
  const source = rowsOf(query, !grouping, aliases, context)
  const made = (query.unpivot ?? []).reduce<readonly Item[]>(
    (items, { expression, name, value }) =>
      items.flatMap((item) =>
        elements(evaluate(expression, inside({ item, group: undefined }))).map(([key, element]) => {
          const names = { [value]: element, ...(name !== undefined && { [name]: key }) }
          return withNames(item, names)
        }),
      ),
    source.items,
  )
  const kept = made.filter((item) => source.conditions.every((test) => passes(item, test)))
  const results: Names = new Map(
    named
      .filter((x) => grouping && hasAggregate(x.expression))
      .map((x) => [columnName(x), x.expression]),
  )
  const entries = (grouping ? grouped(kept, grouping.dimensions, inside) : kept.map(single)).filter(
    (entry) => !query.finalFilter || evaluate(query.finalFilter, inside(entry, results)) === true,
  )
  const turned = query.pivot
    ? pivoted(entries, query, grouping!.dimensions, named, inside)
    : entries
  const visible = query.pivot ? beforePivot(columns, query, grouping!.dimensions) : columns
  const sorted = sort(turned, query.sort ?? [], (entry, key) => {
    const name = key.kind === 'path' && key.parts.length === 1 ? String(key.parts[0]) : undefined
    if (name !== undefined && Object.hasOwn(entry.pivoted, name)) return entry.pivoted[name]!
    const column = named.find((candidate) => columnName(candidate) === name)
    const ordinal = key.kind === 'literal' ? named[Number(key.value) - 1] : undefined
    if (query.pivot && !column && !ordinal && name !== undefined && !isField(entry, name))
      return null
    return evaluate(
      (ordinal ?? column)?.expression ?? key,
      inside(entry, column ? noNames : results),
    )
  })
  const isOfTraces = source.isPaged
  const start = isOfTraces ? 0 : (query.offset?.value ?? 0)
  const end = query.limit && !isOfTraces ? start + query.limit.value : undefined
  return {
    query,
    entries: sorted.slice(start, end),
    columnsOf: (entry) => [
      ...visible.flatMap((column) => shownColumns(column, entry, inside(entry))),
      ...Object.entries(entry.pivoted).map(([name, value]) => ({ name, value })),
    ],
    shortenable: new Set(
      grouping ? [] : visible.flatMap((x) => shortenableOf(x, source.shortenable)),
    ),
  }
}

function single(item: Item): Entry {
  return { item, group: undefined, pivoted: {} }
}

function isField(entry: Entry, name: string): boolean {
  return entry.item?.read([name]) !== undefined
}

function shownColumns(column: Projection, { item }: Entry, around: Surroundings): OracleColumn[] {
  const { expression } = column
  if (expression.kind !== 'star') {
    return [{ name: columnName(column), value: evaluate(expression, around) }]
  }
  const replaced = new Map(
    expression.replace.map((other) => [columnName(other), evaluate(other.expression, around)]),
  )
  const names = new Set([...Object.keys(item!.star), ...replaced.keys()])
  return [...names].map((name) => ({ name, value: replaced.get(name) ?? item!.star[name] ?? null }))
}

/** @param known names of the source that stand for such fields */
function shortenableOf(column: Projection, known: ReadonlySet<string>): string[] {
  const { expression } = column
  if (expression.kind === 'access' && expression.operand.kind === 'object') {
    // `{a: input}.a` is input.
    const [part, ...rest] = expression.parts
    const entry = expression.operand.entries.find(([key]) => key === part)
    if (entry && rest.length === 0) return shortenableOf({ ...column, expression: entry[1] }, known)
  }
  if (expression.kind === 'path' && expression.parts.length === 1) {
    return known.has(String(expression.parts[0])) ? [columnName(column)] : []
  }
  if (expression.kind !== 'star') return []
  const replaced = expression.replace.map(columnName)
  return [
    ...[...known].filter((name) => !replaced.includes(name)),
    ...expression.replace.flatMap((other) => shortenableOf(other, known)),
  ]
}

interface SourceItems extends SourceRows {
  /** Whether limit and offset have been applied: of traces they count traces. */
  readonly isPaged: boolean
  readonly shortenable: ReadonlySet<string>
}

function rowsOf(
  query: Query,
  isOfRows: boolean,
  aliases: Names,
  context: OracleContext,
): SourceItems {
  const { from } = query
  if (from?.kind === 'table') {
    const { clock } = context
    const given = { query, from, table: context.table(from), isOfRows, aliases, clock }
    const isPaged = isOfRows && from.shape === 'traces'
    return { ...sourceRows(given), isPaged, shortenable: previewed }
  }
  const inner = ask(from!.query, context)
  const items = inner.entries.map((entry) => {
    const columns = inner.columnsOf(entry).map(({ name, value }) => [name, value] as const)
    const source = entry.group ? undefined : entry.item
    // A star of rows shows the columns of the query below it, whatever they are.
    const isStar = inner.query.select?.some(({ expression }) => expression.kind === 'star')
    const isAny = inner.query.pivot !== undefined || (isStar && source?.hasAnyName) || false
    return columnItem(Object.fromEntries(columns), source, isAny)
  })
  const conditions = query.filter ? [query.filter] : []
  return { items, conditions, isPaged: false, shortenable: inner.shortenable }
}

/** A second grouping is a query over the first. */
function withoutFinalGroups(query: Query): Query {
  const { finalDimensions, finalMeasures, ...rest } = query
  if (!finalDimensions && !finalMeasures) return query
  const { sort: _sort, limit: _limit, offset: _offset, ...inner } = rest
  const { sort, limit, offset, span } = query
  return {
    kind: 'query',
    dimensions: finalDimensions,
    measures: finalMeasures,
    from: { kind: 'subquery', query: inner, span },
    sort,
    limit,
    offset,
    span,
  }
}

function weightedColumn(scores: readonly Projection[]): Projection {
  const { span } = scores[0]!
  const entries = scores.map((score) => [columnName(score), score.expression] as const)
  return { expression: { kind: 'object', entries, span }, alias: 'weighted_scores', span }
}

interface Grouping {
  readonly dimensions: readonly Projection[]
  readonly columns: readonly Projection[]
}

/** Undefined for queries of rows. */
function groupingOf(query: Query): Grouping | undefined {
  const { select, dimensions = [], measures = [], pivot, distinct } = query
  if (!select) return { dimensions, columns: [...dimensions, ...measures] }
  const plain = select.filter(
    ({ expression }) => expression.kind !== 'star' && !hasAggregate(expression),
  )
  if (pivot && !query.dimensions) {
    const key = pivot.key ? [{ expression: pivot.key, alias: undefined, span: pivot.span }] : []
    const keys = [...plain, ...key]
    const isStar = select.some(({ expression }) => expression.kind === 'star')
    return { dimensions: keys, columns: isStar ? [...keys, ...pivot.measures] : select }
  }
  if (distinct) return { dimensions: query.dimensions ?? select, columns: select }
  if (!query.dimensions && !select.some(({ expression }) => hasAggregate(expression)))
    return undefined
  const keys = dimensions.map((dimension) => {
    const { kind } = dimension.expression
    const selected = kind === 'literal' ? select[Number(dimension.expression.value) - 1] : undefined
    return selected ?? dimension
  })
  return { dimensions: keys, columns: select }
}

function hasAggregate(node: Expression): boolean {
  return (node.kind === 'call' && isAggregate(node.name)) || childrenOf(node).some(hasAggregate)
}

type Inside = (entry: Pick<Entry, 'item' | 'group'>) => Surroundings

/** In the order of their keys, nulls last. */
function grouped(
  items: readonly Item[],
  dimensions: readonly Projection[],
  inside: Inside,
): Entry[] {
  if (dimensions.length === 0) return [{ item: items[0], group: items, pivoted: {} }]
  const byKey = new Map<string, { values: Plain[]; group: Item[] }>()
  for (const item of items) {
    const around = inside({ item, group: undefined })
    const values = dimensions.map(({ expression }) => evaluate(expression, around))
    const key = values.map(identity).join()
    const known = byKey.get(key)
    if (known) known.group.push(item)
    else byKey.set(key, { values, group: [item] })
  }
  return [...byKey.values()]
    .toSorted((a, b) => byValues(a.values, b.values, []))
    .map(({ group }) => ({ item: group[0], group, pivoted: {} }))
}

function sort(
  entries: readonly Entry[],
  keys: readonly SortKey[],
  read: (entry: Entry, key: Expression) => Plain,
): readonly Entry[] {
  if (keys.length === 0) return entries
  const directions = keys.map(({ direction }) => direction)
  return entries
    .map((entry) => ({ entry, values: keys.map((key) => read(entry, key.expression)) }))
    .toSorted((a, b) => byValues(a.values, b.values, directions) || byAge(a.entry, b.entry))
    .map(({ entry }) => entry)
}

function byValues(
  a: readonly Plain[],
  b: readonly Plain[],
  directions: readonly ('asc' | 'desc')[],
): number {
  for (const [i, x] of a.entries()) {
    const y = b[i]!
    if (x === null && y === null) continue
    if (x === null || y === null) return x === null ? 1 : -1
    if (order(x, y) !== 0) return directions[i] === 'desc' ? order(y, x) : order(x, y)
  }
  return 0
}

/** Of rows that tie, the newest come first. */
function byAge(a: Entry, b: Entry): number {
  const [x, y] = [a, b].map(({ item, group }) => (group ? undefined : item?.paginationKey))
  if (x === undefined || y === undefined || x === y) return 0
  return x < y ? 1 : -1
}

/** What stays of the columns: neither the key of the pivot nor aggregates. */
function beforePivot(
  columns: readonly Projection[],
  query: Query,
  dimensions: readonly Projection[],
): readonly Projection[] {
  const key = pivotKey(query, dimensions)
  return columns.filter(
    ({ expression }) =>
      !hasAggregate(expression) && printExpression(expression) !== printExpression(key.expression),
  )
}

function pivotKey({ pivot }: Query, dimensions: readonly Projection[]): Projection {
  const written = pivot!.key
  if (!written) return dimensions.at(-1)!
  const name = printExpression(written)
  return dimensions.find((dimension) => {
    return columnName(dimension) === name || printExpression(dimension.expression) === name
  })!
}

/** By identity: the text of each value, or its JSON where another has the text. Null goes first. */
function labelsOf(values: readonly Plain[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  for (const value of [...values.filter((x) => x === null), ...values.filter((x) => x !== null)]) {
    if (labels.has(identity(value))) continue
    const label = value === null ? 'null' : text(value)
    const isTaken = [...labels.values()].includes(label)
    labels.set(identity(value), isTaken ? json(value) : label)
  }
  return labels
}

function pivoted(
  entries: readonly Entry[],
  query: Query,
  dimensions: readonly Projection[],
  named: readonly Projection[],
  inside: Inside,
): Entry[] {
  const key = pivotKey(query, dimensions)
  const others = dimensions.filter((dimension) => dimension !== key)
  const valueOfKey = (entry: Entry) => evaluate(key.expression, inside(entry))
  const labels = labelsOf(entries.map(valueOfKey))
  const labelOf = (entry: Entry) => labels.get(identity(valueOfKey(entry)))!
  const rows = new Map<string, { values: Plain[]; row: Entry[] }>()
  for (const entry of entries) {
    const values = others.map(({ expression }) => evaluate(expression, inside(entry)))
    const place = values.map(identity).join()
    rows.set(place, { values, row: [...(rows.get(place)?.row ?? []), entry] })
  }
  const ordered = [...rows.values()].toSorted((a, b) => byValues(a.values, b.values, []))
  return ordered.map(({ row }) => {
    const cells = query.pivot!.measures.flatMap((measure) => {
      const written = printExpression(measure.expression)
      const target = named.find((column) => columnName(column) === written)
      const expression = target?.expression ?? measure.expression
      const same = named.find(
        (column) => printExpression(column.expression) === printExpression(expression),
      )
      const name = measure.alias ?? columnName(same ?? measure)
      return [...labels.values()].map((label) => {
        const cell = row.find((entry) => labelOf(entry) === label)
        return [`${label}_${name}`, cell ? evaluate(expression, inside(cell)) : null] as const
      })
    })
    return { ...row[0]!, pivoted: Object.fromEntries(cells) }
  })
}
