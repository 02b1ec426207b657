/** What an expression means, for the row oracle: straight from the syntax tree, value by value. */
import type { Expression } from '../../src/parser/ast.ts'
import { aggregate, isAggregate } from './oracle-aggregate.ts'
import { matches, matchScore, search, searchScore } from './oracle-full-text.ts'
import { between, call, includes, isIn, like, type OracleClock } from './oracle-function.ts'
import { type Item, step } from './oracle-row.ts'
import { costOf, repeatsUsage } from './oracle-usage.ts'
import { before, calculate, equal, number, type Plain, Span } from './oracle-value.ts'

export type Names = ReadonlyMap<string, Expression>

/** What an expression is evaluated in: one row, or the rows of a group. */
export interface Surroundings {
  /** Of a group, the first of its rows. */
  readonly item: Item | undefined
  readonly group: readonly Item[] | undefined
  /** Names that go before those of the row, and names that come after them. */
  readonly first: Names
  readonly aliases: Names
  readonly clock: OracleClock
}

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>

export const noNames: Names = new Map()

export function evaluate(node: Expression, around: Surroundings): Plain {
  const value = (child: Expression): Plain => evaluate(child, around)
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'interval':
      return interval(node.value, node.unit)
    case 'path':
      return field(node, around)
    case 'access':
      return step(value(node.operand), node.parts)
    case 'array':
      return node.items.map(value)
    case 'object':
      return Object.fromEntries(node.entries.map(([key, entry]) => [key, value(entry)]))
    case 'star':
      return null
    case 'call':
      return called(node, around)
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

function field(node: Of<'path'>, around: Surroundings): Plain {
  const { item, first, aliases } = around
  const [part, ...rest] = node.parts
  const name = String(part)
  const target = first.get(name)
  if (target) return step(evaluate(target, { ...around, first: noNames }), rest)
  if (!item) return null
  const found = item.read(node.parts)
  if (found === null && name === 'classifications' && typeof node.parts[2] === 'string') {
    return item.read([...node.parts.slice(0, 2), 0, ...node.parts.slice(2)]) ?? null
  }
  if (found !== undefined) return found
  const alias = aliases.get(name)
  if (alias) {
    const others = new Map([...aliases].filter(([other]) => other !== name))
    return step(evaluate(alias, { ...around, aliases: others }), rest)
  }
  const [nested, ...more] = item.nested(name)
  if (nested && more.length === 0) return item.read([...nested, ...rest]) ?? null
  if (item.hasAnyName) return null
  throw new Error(`the oracle knows no field ${name}`)
}

function called(node: Of<'call'>, around: Surroundings): Plain {
  const [argument] = node.arguments
  if (isAggregate(node.name)) return aggregated(node, around)
  switch (node.name) {
    case 'any_span':
      return (around.item?.trace ?? []).some(
        (span) => evaluate(argument!, { ...around, item: span, group: undefined }) === true,
      )
    case 'filter_spans':
      return evaluate(argument!, around)
    case 'estimated_cost':
      return around.item ? costOf(around.item) : null
    case 'repeats_usage':
      return around.item ? repeatsUsage(around.item) : false
  }
  const values = node.arguments.map((child) => evaluate(child, around))
  const [value = null, words = null] = values
  const read = (path: readonly string[]) => around.item?.read(path)
  switch (node.name) {
    case 'search':
      return search(read, value)
    case 'search_score':
      return searchScore(read, value)
    case 'match_score':
      return matchScore(value, words)
  }
  const result = call(node.name, values, around.clock)
  if (result === undefined) throw new Error(`the oracle has no ${node.name}()`)
  return result
}

function aggregated({ name, arguments: list, distinct, filter }: Of<'call'>, around: Surroundings) {
  const inRow = (item: Item): Surroundings => {
    return { ...around, item, group: undefined, first: noNames }
  }
  const rows = (around.group ?? []).filter(
    (item) => !filter || evaluate(filter, inRow(item)) === true,
  )
  const [argument, second] = list
  if (!argument || argument.kind === 'star') return rows.length
  const needsKey = name === 'first' || name === 'last'
  const values = rows.map((item) => {
    const value = evaluate(argument, inRow(item))
    if (!needsKey) return [value]
    return [value, second ? evaluate(second, inRow(item)) : (item.read(['created']) ?? null)]
  })
  const parameter = second && !needsKey ? evaluate(second, around) : null
  return aggregate(name, values, distinct, parameter)
}

function comparison(
  { operator, left, right }: Of<'comparison'>,
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
