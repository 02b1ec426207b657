/** The rows that a source gives to a query, for the row oracle: by shape, and by pairs of traces. */
import type { Expression, Query, TableSource } from '../../src/parser/ast.ts'
import { childrenOf } from '../../src/parser/children.ts'
import { compared } from './oracle-comparison.ts'
import { evaluate, type Names, noNames } from './oracle-expression.ts'
import type { OracleClock } from './oracle-function.ts'
import { type Item, type OracleRow, recordItems } from './oracle-row.ts'
import { summaryItem, traceMetrics } from './oracle-summary.ts'
import { identity, order, type Plain } from './oracle-value.ts'

/** The records of a source, and the ids of its objects in the order in which they are named. */
export interface OracleTable {
  readonly rows: readonly OracleRow[]
  readonly objects: readonly string[]
}

/** Rows of a table, newest first, and the conditions that are still to be tested on them. */
export interface SourceRows {
  readonly items: readonly Item[]
  readonly conditions: readonly Expression[]
}

export interface TableQuery {
  readonly query: Query
  readonly from: TableSource
  readonly table: OracleTable
  /** Whether a page is a number of rows, not of groups. */
  readonly isOfRows: boolean
  readonly aliases: Names
  readonly clock: OracleClock
}

const pairFields = ['compared', 'comparison_key', 'metric_differences', 'score_differences']

export function sourceRows(given: TableQuery): SourceRows {
  const { query, from, table } = given
  const spans = recordItems(table.rows)
  const all = query.filter ? conjuncts(query.filter) : []
  const selecting = query.spanFilter ? [anySpan(query.spanFilter)] : []
  const ofSpans = query.traceFilter ? [query.traceFilter] : []
  const shape = query.comparisonKey ? 'comparison' : (from.shape ?? 'spans')
  if (shape === 'spans') return { items: spans, conditions: [...all, ...selecting, ...ofSpans] }
  const conditions: Expression[] = []
  for (const condition of all) {
    if (condition.kind === 'call' && condition.name === 'filter_spans') {
      ofSpans.push(condition.arguments[0]!)
    } else if (testsRow(condition, query, shape)) conditions.push(condition)
    else selecting.push(condition)
  }
  const passes = (item: Item, tests: readonly Expression[]) =>
    tests.every((test) => evaluate(test, surroundings(item, given)) === true)
  const matching = new Map<readonly Item[], Item[]>()
  for (const span of spans.filter((span) => passes(span, selecting))) {
    matching.set(span.trace, [...(matching.get(span.trace) ?? []), span])
  }
  if (shape === 'traces') {
    const wanted = page(matching, given)
    const kept = spans.filter((span) => wanted.has(span.trace) && passes(span, ofSpans))
    return { items: kept, conditions }
  }
  const traces = [...matching.keys()]
    .map((trace) => trace.filter((span) => passes(span, ofSpans)))
    .filter((trace) => trace.length > 0)
  const rows = newestFirst(traces.map(summaryItem))
  if (shape === 'summary') return { items: rows, conditions }
  const keys = rows.map((row) => evaluate(query.comparisonKey!, surroundings(row, given)))
  return { items: compared(rows, keys, table.objects), conditions }
}

export function newestFirst(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => Number(a.paginationKey! < b.paginationKey!) * 2 - 1)
}

function surroundings(item: Item, { aliases, clock }: TableQuery) {
  return { item, group: undefined, first: noNames, aliases, clock }
}

/** Traces by the best of the first sort key among their matching spans, or by the newest of these. */
function page(
  matching: ReadonlyMap<readonly Item[], readonly Item[]>,
  given: TableQuery,
): ReadonlySet<readonly Item[]> {
  const { sort = [], unpivot = [], limit, offset } = given.query
  if (!given.isOfRows) return new Set(matching.keys())
  const key = unpivot.length === 0 ? sort[0] : undefined
  const sign = key?.direction === 'desc' ? -1 : 1
  const best = (spans: readonly Item[]): Plain => {
    if (!key) return null
    const target =
      key.expression.kind === 'path' && key.expression.parts.length === 1
        ? given.aliases.get(String(key.expression.parts[0]))
        : undefined
    const selected = given.query.select ?? []
    const ordinal =
      key.expression.kind === 'literal'
        ? selected[Number(key.expression.value) - 1]?.expression
        : undefined
    const values = spans
      .map((span) => evaluate(ordinal ?? target ?? key.expression, surroundings(span, given)))
      .filter((value) => value !== null)
    return values.toSorted((a, b) => sign * order(a, b))[0] ?? null
  }
  const ranked = [...matching]
    .map(([trace, spans]) => ({ trace, value: best(spans), newest: spans[0]!.paginationKey! }))
    .toSorted((a, b) => {
      if (a.value === null || b.value === null) {
        if (a.value !== b.value) return a.value === null ? 1 : -1
      } else if (order(a.value, b.value) !== 0) return sign * order(a.value, b.value)
      return a.newest < b.newest ? 1 : -1
    })
    .map(({ trace }) => trace)
  const start = offset?.value ?? 0
  return new Set(ranked.slice(start, limit ? start + limit.value : undefined))
}

function testsRow(condition: Expression, query: Query, shape: string): boolean {
  if (condition.kind === 'call' && condition.name === 'any_span') return false
  if (condition.kind !== 'path') {
    return childrenOf(condition).some((child) => testsRow(child, query, shape))
  }
  const [name, second] = condition.parts.map(String)
  const made = (query.unpivot ?? []).flatMap((unpivot) => [unpivot.name, unpivot.value])
  if (made.includes(name)) return true
  if (shape === 'traces') return false
  if (shape === 'comparison' && pairFields.includes(name!)) return true
  if (name === 'metrics') return second !== undefined && traceMetrics.includes(second)
  if (second !== undefined) return false
  if (traceMetrics.includes(name!)) return true
  const selected = (query.select ?? []).find(({ alias }) => alias === name)
  return selected !== undefined && testsRow(selected.expression, query, shape)
}

function conjuncts(condition: Expression): readonly Expression[] {
  return condition.kind === 'and' ? condition.operands.flatMap(conjuncts) : [condition]
}

function anySpan(condition: Expression): Expression {
  const span = condition.span
  const base = { kind: 'call', nameSpan: span, distinct: false, filter: undefined, span } as const
  return { ...base, name: 'any_span', arguments: [condition] }
}

/** Unpivots give rows for elements of lists and entries of objects, in the order of their keys. */
export function elements(value: Plain): (readonly [name: Plain, value: Plain])[] {
  const all: (readonly [Plain, Plain])[] = Array.isArray(value)
    ? value.map((element, i) => [i, element] as const)
    : identity(value).startsWith('object')
      ? Object.entries(value as Readonly<Record<string, Plain>>).toSorted(([a], [b]) => order(a, b))
      : []
  return all.filter(([, element]) => element !== null)
}
