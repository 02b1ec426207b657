/** Expressions whose values the cluster can tell. */
import type { BoundExpression, BoundObject } from '../../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { isCostComponent } from '../../function/cost.ts'
import { parseTruncation } from '../../function/time.ts'
import { microsecondsOf } from '../../type/time.ts'
import { Interval, kindOf, type Path, Timestamp, type Value } from '../../type/value.ts'
import { writeSortedJson } from '../../type/write-json.ts'
import { compileArithmetic, compileNegation, compileNumberFunction } from './compile-arithmetic.ts'
import { compileCost } from './compile-cost.ts'
import {
  type CompiledValue,
  firstPresent,
  nullValue,
  type TypedKind,
  typedValue,
} from './compiled-value.ts'
import { recordValue } from './record-value.ts'
import { rowFractionSql } from './row-fraction.ts'
import { integerLiteral, numberLiteral, textLiteral } from './sql-text.ts'
import type { StatementConstants } from './statement-names.ts'
import { truncatedTime } from './truncated-time.ts'

/** What the compilation of a plan depends on besides its expressions. */
export interface CompileContext extends EvaluationContext {
  readonly objects: readonly BoundObject[]
  /**
   * SQL that lists the pairs of object and trace that are in a set; undefined of one that the cluster is not told.
   */
  readonly traceSet: (set: number) => string | undefined
  readonly constants: StatementConstants
  /** By hidden fields, what unpivots make. */
  readonly elements?: ReadonlyMap<string, ElementValue>
}

/** Of a name or an element that an unpivot makes: what is at a path inside of it. */
export type ElementValue = (inside: Path) => CompiledValue | undefined

type CompileOperand = (node: BoundExpression, context: CompileContext) => CompiledValue | undefined

/**
 * Undefined of values that only the body tells.
 *
 * @param compileOperand compiles what the expression is made of, conditions and choices included
 */
export function compileValue(
  node: BoundExpression,
  context: CompileContext,
  compileOperand: CompileOperand,
): CompiledValue | undefined {
  const constant = constantValue(node, context)
  if (constant !== undefined) return constantOf(constant)
  switch (node.kind) {
    case 'field': {
      const [name, ...inside] = node.path
      const ofElement = context.elements?.get(String(name))
      return ofElement ? ofElement(inside) : recordValue(node.path, context.objects)
    }
    case 'arithmetic':
      return compileArithmetic(
        node.operator,
        compileOperand(node.left, context),
        compileOperand(node.right, context),
      )
    case 'negate':
      return compileNegation(compileOperand(node.operand, context))
    case 'call':
      return compileCall(node, context, compileOperand)
    default:
      return undefined
  }
}

/** Undefined of constants that no column can have a value like. */
export function constantOf(value: Value): CompiledValue | undefined {
  switch (kindOf(value)) {
    case 'null':
      return nullValue
    case 'interval':
    case 'object':
      return undefined
    default: {
      const sql = constantSql(value)
      return sql === undefined ? undefined : typedValue(kindOf(value) as TypedKind, sql)
    }
  }
}

/** As it stands for `CompiledValue.typed`. */
export function constantSql(value: Value): string | undefined {
  if (value instanceof Timestamp) return timeSql(value)
  if (value instanceof Interval) return undefined
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return numberLiteral(value)
    case 'string':
      return textLiteral(value)
    default:
      return Array.isArray(value) ? textLiteral(writeSortedJson(value)) : undefined
  }
}

/** Columns of times hold far less than 2^62 microseconds. */
const furthest = 2n ** 62n

function timeSql(time: Timestamp): string {
  const microseconds = microsecondsOf(time)
  const within =
    microseconds > furthest ? furthest : microseconds < -furthest ? -furthest : microseconds
  return integerLiteral(within)
}

function compileCall(
  node: Extract<BoundExpression, { kind: 'call' }>,
  context: CompileContext,
  compileOperand: CompileOperand,
): CompiledValue | undefined {
  const [first, second] = node.arguments
  const { prices, constants } = context
  const operandsOf = (list: readonly BoundExpression[]) => {
    return list.map((argument) => compileOperand(argument, context))
  }
  switch (node.name) {
    case 'coalesce': {
      const values = operandsOf(node.arguments)
      return values.includes(undefined) ? undefined : firstPresent(values as CompiledValue[])
    }
    case 'length':
      return lengthOf(first && compileOperand(first, context))
    case 'hash_fraction': {
      const seed = second && constantValue(second, context)
      const isOfKey = first?.kind === 'field' && first.path.join('.') === '_pagination_key'
      if (!isOfKey || typeof seed !== 'number') return undefined
      return typedValue('number', rowFractionSql(seed))
    }
    case 'date_trunc': {
      const unit = first && constantValue(first, context)
      const truncation = typeof unit === 'string' ? parseTruncation(unit) : undefined
      return (
        truncation && truncatedOf(truncation, second && compileOperand(second, context), context)
      )
    }
    case 'estimated_cost':
      return compileCost('totalCost', operandsOf(node.arguments), prices, constants)
    case 'estimated_cost_component': {
      const name = first && constantValue(first, context)
      if (!isCostComponent(name)) return undefined
      return compileCost(name, operandsOf(node.arguments.slice(1)), prices, constants)
    }
    default: {
      if (node.arguments.length !== 1) return undefined
      const argument = compileOperand(first!, context)
      const truncation = parseTruncation(node.name)
      return truncation
        ? truncatedOf(truncation, argument, context)
        : compileNumberFunction(node.name, argument)
    }
  }
}

/** Characters of a text, elements of an array. */
function lengthOf(value: CompiledValue | undefined): CompiledValue | undefined {
  if (!value) return undefined
  const { string, array } = value.typed
  const lengths = [string && `lengthUTF8(${string})`, array && `JSONLength(${array})`]
  const known = lengths.filter((sql) => sql).map((sql) => `toFloat64(${sql})`)
  const number = known.length === 0 ? undefined : `coalesce(${known.join(', ')})`
  return {
    ...nullValue,
    typed: number === undefined ? {} : { number },
    isNull: number === undefined ? '1' : `isNull(${number})`,
    doubts: [...value.doubts, value.isHidden],
  }
}

type Truncation = NonNullable<ReturnType<typeof parseTruncation>>

function truncatedOf(
  truncation: Truncation,
  value: CompiledValue | undefined,
  context: CompileContext,
): CompiledValue | undefined {
  const time = value?.typed.timestamp
  if (!value || time === undefined || Object.keys(value.typed).length > 1) return undefined
  const sql = truncatedTime(truncation, time, context.tzOffset)
  return sql === undefined ? undefined : { ...value, typed: { timestamp: sql } }
}
