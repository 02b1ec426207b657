/** Aggregates as columns of groups, from which states that others can be merged with are made. */
import type { BoundAggregate } from '../../binder/bound.ts'
import { extremeKinds, type GroupStateKind } from '../../planner/made-groups.ts'
import { conjunction, isTrue, negation, openOf } from './bounds.ts'
import { numberOf } from './compile-arithmetic.ts'
import { compileCondition, compileOperand, toldTruth } from './compile-condition.ts'
import type { CompileContext } from './compile-value.ts'
import { type CompiledValue, doubtsOfScalar, taggedValue } from './compiled-value.ts'

export interface CompiledAggregate {
  readonly state: GroupStateKind
  readonly sql: string
  /** Rows that are aggregated elsewhere: what columns have of them does not do. */
  readonly doubts: readonly string[]
}

/** Undefined of aggregates that Assay makes itself. */
export function compileAggregate(
  aggregate: BoundAggregate,
  context: CompileContext,
): CompiledAggregate | undefined {
  const filter = aggregate.filter && toldTruth(compileCondition(aggregate.filter, context))
  if (aggregate.filter && !filter) return undefined
  const where = filter?.sql ?? '1'
  const compiled = aggregateWhere(aggregate, where, context)
  return compiled && { ...compiled, doubts: [...compiled.doubts, ...(filter?.doubts ?? [])] }
}

function aggregateWhere(
  { name, arguments: list, distinct }: BoundAggregate,
  where: string,
  context: CompileContext,
): CompiledAggregate | undefined {
  const [first] = list
  if (!first) {
    return name === 'count' ? { state: 'count', sql: `countIf(${where})`, doubts: [] } : undefined
  }
  if (name === 'count_if' || name === 'bool_and' || name === 'bool_or') {
    const condition = compileCondition(first, context)
    if (name === 'count_if') {
      const told = toldTruth(condition)
      return told && { state: 'count', sql: countWhere(where, told.sql), doubts: told.doubts }
    }
    const { whereTrue, whereFalse, isTold } = condition
    if (!isTold) return undefined
    const doubts = [...condition.doubts, openOf(whereTrue), openOf(whereFalse)]
    const seen = `max(${conjunction([where, whereTrue.sure])}) + 2 * max(${conjunction([where, whereFalse.sure])})`
    return { state: 'truths', sql: seen, doubts }
  }
  const value = compileOperand(first, context)
  if (!value) return undefined
  const { doubts, isNull } = value
  const isThere = negation(isNull)
  if (distinct || name === 'count_distinct') {
    return {
      state: 'values',
      sql: valuesWhere('groupUniqArray', value, where),
      doubts: [...doubts, value.isHidden],
    }
  }
  switch (name) {
    case 'count':
      return { state: 'count', sql: countWhere(where, isThere), doubts }
    case 'sum':
    case 'avg':
      return sumOf(value, where)
    case 'stddev':
    case 'stddev_pop':
    case 'variance':
    case 'var_pop':
      return squaresOf(value, where)
    case 'min':
    case 'any_value':
      return extremeOf('least', value, where)
    case 'max':
      return extremeOf('greatest', value, where)
    case 'percentile':
    case 'median': {
      if (value.hidden.includes('number')) return undefined
      const number = value.typed.number ?? 'CAST(NULL AS Nullable(Float64))'
      const sql = `groupArrayIf(${number}, ${where})`
      return { state: 'numbers', sql, doubts: doubtsOfScalar(value) }
    }
    case 'mode': {
      const tagged = taggedValue(value)
      const counted = conjunction([where, `isNotNull(${tagged})`])
      const sql = `sumMapIf([ifNull(${tagged}, '')], [toUInt64(1)], ${counted})`
      return { state: 'tallies', sql, doubts: [...doubts, value.isHidden] }
    }
    case 'array_agg':
    case 'string_agg': {
      const sql = valuesWhere('groupArray', value, where)
      return { state: 'list', sql, doubts: [...doubts, value.isHidden] }
    }
    default:
      return undefined
  }
}

function countWhere(where: string, condition: string): string {
  return `countIf(${conjunction([where, condition])})`
}

function valuesWhere(collect: string, value: CompiledValue, where: string): string {
  // Nulls are left out.
  return `${collect}If(${taggedValue(value)}, ${where})`
}

/**
 * What a number is made of: how many whole 2^-20ths it has, and what is left of it, in 2^-74ths and 2^-128ths. No order of adding
 * these changes their sums. Of null all are 0, and of numbers that are in doubt some integers.
 *
 * @param sumType of integers that hold the sums
 */
function partsOf(scaled: string, sumType: string): [upper: string, lower: string, last: string] {
  const rest = `(${scaled} - floor(${scaled})) * exp2(54)`
  const integers = [`floor(${scaled})`, `floor(${rest})`, `(${rest} - floor(${rest})) * exp2(54)`]
  return integers.map((part) => `${sumType}(toInt64(${part}))`) as [string, string, string]
}

/** Texts of how many numbers are not null, and of the sums of `columns` of each of them. */
function sumsOf(
  number: string,
  columns: (scaled: string) => readonly string[],
  where: string,
): string {
  const count = countWhere(where, `isNotNull(${number})`)
  // As one array of all columns, which would name the number once, it takes a third longer.
  const scaled = `least(greatest(ifNull(${number}, 0.) * exp2(20), -exp2(62)), exp2(62))`
  const sums = columns(scaled).map((column) => `sumIf(${column}, ${where})`)
  return `[${[count, ...sums].map((sum) => `toString(${sum})`).join(', ')}]`
}

/** Numbers that the parts do not hold: they are greater, or have finer bits. */
function isBeyond(number: string, greatest: string, finest: string): string {
  const isFiner = `floor(${number} * ${finest}) != ${number} * ${finest}`
  return isTrue(`abs(${number}) >= ${greatest} OR ${isFiner}`)
}

function sumOf(value: CompiledValue, where: string): CompiledAggregate | undefined {
  const number = numberOf(value)
  if (number === undefined) return undefined
  const columns = (scaled: string) => partsOf(scaled, 'toInt128')
  return {
    state: 'sum',
    sql: sumsOf(number, columns, where),
    doubts: [...doubtsOfScalar(value), isBeyond(number, 'exp2(42)', 'exp2(128)')],
  }
}

function squaresOf(value: CompiledValue, where: string): CompiledAggregate | undefined {
  const number = numberOf(value)
  if (number === undefined) return undefined
  const columns = (scaled: string) => {
    const [upper, lower] = partsOf(scaled, 'toInt256')
    const whole = `(${upper} * toInt256(18014398509481984) + ${lower})`
    return [upper, lower, 'toInt256(0)', `${whole} * ${whole}`]
  }
  return {
    state: 'squares',
    sql: sumsOf(number, columns, where),
    doubts: [...doubtsOfScalar(value), isBeyond(number, 'exp2(30)', 'exp2(74)')],
  }
}

function extremeOf(
  state: 'least' | 'greatest',
  value: CompiledValue,
  where: string,
): CompiledAggregate {
  const { typed, isHidden, doubts } = value
  const take = state === 'least' ? 'minOrNullIf' : 'maxOrNullIf'
  const columns = extremeKinds.map((kind) => {
    const sql = typed[kind]
    if (sql === undefined) return "''"
    const best = `${take}(${sql}, ${where})`
    return `ifNull(${taggedValue({ ...value, typed: { [kind]: best } })}, '')`
  })
  // The order of arrays is not that of their texts.
  const isArray = typed.array === undefined ? [] : [`isNotNull(${typed.array})`]
  return { state, sql: `[${columns.join(', ')}]`, doubts: [...doubts, isHidden, ...isArray] }
}
