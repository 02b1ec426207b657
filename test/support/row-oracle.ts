/**
 * A second implementation of the language, row by row and straight from the syntax tree: what the
 * engine's answers are compared with. It is written to be obviously right, in plain loops, and knows
 * nothing of the code it checks but the shape of the tree.
 */
import type { Expression, Projection, Query } from '../../src/parser/ast.ts'
import { printExpression } from '../../src/parser/print.ts'
import {
  between,
  call,
  includes,
  isIn,
  like,
  matches,
  type OracleClock,
} from './oracle-function.ts'
import {
  before,
  calculate,
  equal,
  exactSum,
  finite,
  identity,
  isList,
  isRecord,
  moment,
  number,
  order,
  type Plain,
  Span,
} from './oracle-value.ts'

/** A visible record: all that `select: *` would show of it. */
export interface OracleRow {
  readonly value: { readonly [column: string]: Plain }
  readonly paginationKey: string
}

export interface OracleColumn {
  readonly name: string
  readonly value: Plain
}

/** What an expression is evaluated in: one row, or the rows of a group. */
interface Surroundings {
  readonly row: OracleRow | undefined
  readonly group: readonly OracleRow[] | undefined
  readonly aliases: ReadonlyMap<string, Expression>
  readonly aliasFirst: boolean
  readonly clock: OracleClock
}

type Entry = Pick<Surroundings, 'row' | 'group'>

/** The rows that answer a query, each as its columns in order. Groups come newest first. */
export function answer(
  query: Query,
  rows: readonly OracleRow[],
  clock: OracleClock,
): OracleColumn[][] {
  const projections = [
    ...(query.select ?? []),
    ...(query.dimensions ?? []),
    ...(query.measures ?? []),
  ]
  const named = projections.filter(({ expression }) => expression.kind !== 'star')
  const aliases = new Map(named.map((item) => [columnName(item), item.expression]))
  const inside = (entry: Entry, aliasFirst: boolean): Surroundings => {
    return { ...entry, aliases, aliasFirst, clock }
  }
  const newestFirst = rows.toSorted((a, b) => (a.paginationKey < b.paginationKey ? 1 : -1))
  const kept = newestFirst.filter(
    (row) =>
      !query.filter || evaluate(query.filter, inside({ row, group: undefined }, false)) === true,
  )
  const entries = isGrouped(query)
    ? groups(query.dimensions ?? [], kept, inside)
    : kept.map((row): Entry => ({ row, group: undefined }))
  const keys = query.sort ?? []
  const keyed = entries.map((entry) => ({
    entry,
    values: keys.map(({ expression }) =>
      evaluate(ordinal(expression, named) ?? expression, inside(entry, true)),
    ),
  }))
  const sorted = keyed.toSorted((a, b) => {
    for (const [i, { direction }] of keys.entries()) {
      const [x, y] = [a.values[i]!, b.values[i]!]
      if (x === null && y === null) continue
      if (x === null || y === null) return x === null ? 1 : -1
      if (order(x, y) !== 0) return direction === 'desc' ? order(y, x) : order(x, y)
    }
    return 0
  })
  const first = query.offset?.value ?? 0
  const last = query.limit ? first + query.limit.value : sorted.length
  return sorted
    .slice(first, last)
    .map(({ entry }) =>
      projections.flatMap((item) =>
        item.expression.kind === 'star'
          ? Object.entries(entry.row!.value).map(([name, value]) => ({ name, value }))
          : [{ name: columnName(item), value: evaluate(item.expression, inside(entry, false)) }],
      ),
    )
}

export function columnName({ alias, expression }: Projection): string {
  if (alias !== undefined) return alias
  if (expression.kind !== 'path') return printExpression(expression)
  return String(expression.parts.filter((part) => typeof part === 'string').at(-1))
}

function isGrouped(query: Query): boolean {
  const isAggregate = ({ expression }: Projection): boolean =>
    expression.kind === 'call' && aggregates.has(expression.name)
  return !query.select || query.select.some(isAggregate)
}

function ordinal(key: Expression, named: readonly Projection[]): Expression | undefined {
  return key.kind === 'literal' ? named[Number(key.value) - 1]?.expression : undefined
}

function groups(
  dimensions: readonly Projection[],
  rows: readonly OracleRow[],
  inside: (entry: Entry, aliasFirst: boolean) => Surroundings,
): Entry[] {
  if (dimensions.length === 0) return [{ row: rows[0], group: rows }]
  const byKey = new Map<string, OracleRow[]>()
  for (const row of rows) {
    const surroundings = inside({ row, group: undefined }, false)
    const key = dimensions.map((item) => identity(evaluate(item.expression, surroundings))).join()
    const group = byKey.get(key)
    if (group) group.push(row)
    else byKey.set(key, [row])
  }
  return [...byKey.values()].map((group) => ({ row: group[0], group }))
}

function evaluate(node: Expression, around: Surroundings): Plain {
  const value = (child: Expression): Plain => evaluate(child, around)
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'interval':
      return interval(node.value, node.unit)
    case 'path':
      return field(node, around)
    case 'array':
      return node.items.map(value)
    case 'object':
      return Object.fromEntries(node.entries.map(([key, entry]) => [key, value(entry)]))
    case 'star':
      return null
    case 'call': {
      if (aggregates.has(node.name)) return aggregate(node, around)
      const result = call(node.name, node.arguments.map(value), around.clock)
      if (result === undefined) throw new Error(`the oracle has no ${node.name}()`)
      return result
    }
    case 'comparison':
      return comparison(node, value)
    case 'arithmetic':
      return calculate(node.operator, value(node.left), value(node.right))
    case 'negate':
      return negative(value(node.operand))
    case 'not':
      return not(value(node.operand))
    case 'and':
    case 'or': {
      const results = node.operands.map(value)
      const decisive = node.kind === 'or'
      if (results.includes(decisive)) return decisive
      return results.every((result) => result === !decisive) ? !decisive : null
    }
    case 'is_null':
      return (value(node.operand) === null) !== node.negated
    case 'like':
      return flip(
        node.negated,
        like(value(node.operand), value(node.pattern), node.caseInsensitive),
      )
    case 'includes':
      return flip(node.negated, includes(value(node.haystack), value(node.needle)))
    case 'match':
      return flip(node.negated, matches(value(node.operand), value(node.query)))
    case 'in':
      return flip(node.negated, isIn(value(node.operand), value(node.list)))
    case 'between':
      return flip(node.negated, between(value(node.operand), value(node.low), value(node.high)))
    case 'conditional': {
      const branch = node.branches.find(({ condition }) => value(condition) === true)
      return value(branch ? branch.result : node.otherwise)
    }
  }
}

function field(node: Expression & { kind: 'path' }, around: Surroundings): Plain {
  const [name, ...rest] = node.parts
  const target = rest.length === 0 ? around.aliases.get(String(name)) : undefined
  const isColumn = Object.hasOwn(around.row?.value ?? {}, name!)
  if (target && target !== node && (around.aliasFirst || !isColumn)) {
    return evaluate(target, { ...around, aliasFirst: false })
  }
  let current: Plain = around.row?.value ?? null
  for (const part of node.parts) {
    if (typeof part === 'number') current = isList(current) ? (current.at(part) ?? null) : null
    else current = isRecord(current) && Object.hasOwn(current, part) ? current[part]! : null
  }
  return node.parts.length === 1 && name === 'created' ? (moment(current) ?? current) : current
}

function comparison(
  { operator, left, right }: Expression & { kind: 'comparison' },
  value: (child: Expression) => Plain,
): Plain {
  const isNull = (child: Expression) => child.kind === 'literal' && child.value === null
  if (operator === 'ne' && isNull(right)) return value(left) !== null
  if (operator === 'ne' && isNull(left)) return value(right) !== null
  const [a, b] = [value(left), value(right)]
  const same = a === null && b === null ? true : (equal(a, b) ?? false)
  const sign = before(a, b)
  switch (operator) {
    case 'eq':
      return equal(a, b)
    case 'ne':
      return not(equal(a, b))
    case 'is_same':
      return same
    case 'is_different':
      return !same
    case 'lt':
      return sign === null ? null : sign < 0
    case 'le':
      return sign === null ? null : sign <= 0
    case 'gt':
      return sign === null ? null : sign > 0
    case 'ge':
      return sign === null ? null : sign >= 0
  }
}

const aggregates = new Set([
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'count_distinct',
  'percentile',
  'median',
])

function aggregate(node: Expression & { kind: 'call' }, around: Surroundings): Plain {
  const rows = around.group ?? []
  const [argument, parameter] = node.arguments
  if (!argument || argument.kind === 'star') return rows.length
  const values = rows
    .map((row) => evaluate(argument, { ...around, row, group: undefined }))
    .filter((value) => value !== null)
  const numbers = values.map(number).filter((value) => value !== null)
  const sorted = values.toSorted(order)
  if (node.name === 'count_distinct' || node.distinct) return new Set(values.map(identity)).size
  switch (node.name) {
    case 'count':
      return values.length
    case 'sum':
      return numbers.length === 0 ? null : finite(exactSum(numbers))
    case 'avg':
      return numbers.length === 0 ? null : finite(exactSum(numbers) / numbers.length)
    case 'min':
      return sorted[0] ?? null
    case 'max':
      return sorted.at(-1) ?? null
    default: {
      const share = parameter ? Number(evaluate(parameter, around)) : 0.5
      const only = values.filter((value) => typeof value !== 'boolean')
      return percentile(
        only.map(number).filter((value) => value !== null),
        share,
      )
    }
  }
}

function percentile(numbers: readonly number[], share: number): Plain {
  if (numbers.length === 0) return null
  const sorted = numbers.toSorted((a, b) => a - b)
  const rank = share * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!]
  return below + (above - below) * (rank - Math.floor(rank))
}

function interval(value: number, unit: string): Span {
  const months: Record<string, number> = { month: 1, year: 12 }
  const ms: Record<string, number> = {
    microsecond: 0.001,
    millisecond: 1,
    second: 1000,
    minute: 60_000,
    hour: 3_600_000,
    day: 86_400_000,
    week: 604_800_000,
  }
  return new Span(value * (months[unit] ?? 0), value * (ms[unit] ?? 0))
}

function negative(value: Plain): Plain {
  if (typeof value === 'bigint') return -value
  if (value instanceof Span) return new Span(0 - value.months, 0 - value.ms)
  const operand = number(value)
  return operand === null ? null : 0 - operand
}

function not(value: Plain): boolean | null {
  return typeof value === 'boolean' ? !value : null
}

function flip(negated: boolean, value: boolean | null): boolean | null {
  return negated ? not(value) : value
}
