/** Comparisons of values, by the rules of `type/compare.ts`: kinds that differ are not equal, and have no order. */
import type { ComparisonOperator } from '../../parser/ast.ts'
import { parseTimestamp } from '../../type/time.ts'
import { kindOf, type Value } from '../../type/value.ts'
import {
  allOf,
  always,
  anyOf,
  type Bounds,
  conjunction,
  decided,
  disjunction,
  isTrue,
  negation,
  never,
  noneOf,
  withOpen,
} from './bounds.ts'
import { constantOf, constantSql } from './compile-value.ts'
import {
  type CompiledValue,
  doubtsOfScalar,
  isScalar,
  type TypedKind,
  typedKinds,
} from './compiled-value.ts'
import { tuple } from './sql-text.ts'

export interface Truths {
  readonly whereTrue: Bounds
  readonly whereFalse: Bounds
}

export interface ComparedTruths extends Truths {
  /** Where neither of this holds: only the body tells. */
  readonly doubts: readonly string[]
}

const noTruth: Truths = { whereTrue: never, whereFalse: never }

/** Between two values, of which one at least is no array and no object: then only scalars are compared. */
function doubtsOfPair(left: CompiledValue, right: CompiledValue): readonly string[] {
  return [left, right].flatMap(
    isScalar(left) || isScalar(right) ? doubtsOfScalar : ({ doubts }) => doubts,
  )
}

const symbols = { eq: '=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const

export function compareValues(
  operator: ComparisonOperator,
  left: CompiledValue,
  right: CompiledValue,
): ComparedTruths {
  const doubts = doubtsOfPair(left, right)
  switch (operator) {
    case 'eq':
      return { ...equality(left, right), doubts }
    case 'ne': {
      const { whereTrue, whereFalse } = equality(left, right)
      return { whereTrue: whereFalse, whereFalse: whereTrue, doubts }
    }
    case 'is_same':
    case 'is_different': {
      const areNull = decided(conjunction([left.isNull, right.isNull]))
      const same = anyOf([areNull, equality(left, right).whereTrue])
      const different = noneOf(same)
      const all = [...left.doubts, ...right.doubts]
      return operator === 'is_same'
        ? { whereTrue: same, whereFalse: different, doubts: all }
        : { whereTrue: different, whereFalse: same, doubts: all }
    }
    default:
      return { ...ordering(symbols[operator], left, right), doubts }
  }
}

/** Where there is a value. Of more rows this is in doubt than which scalar it is. */
function presence({ isNull, doubts, scalarDoubts }: CompiledValue): Bounds {
  return withOpen(decided(negation(isNull)), scalarDoubts ? doubts : [])
}

/** Where both may be of one kind, and one of them at least is hidden. */
function hiddenPair(left: CompiledValue, right: CompiledValue): string {
  const isOf = (value: CompiledValue, others: CompiledValue): string => {
    const kinds = new Set<string>([...Object.keys(others.typed), ...others.hidden])
    return value.hidden.some((kind) => kinds.has(kind)) ? value.isHidden : '0'
  }
  return conjunction([
    disjunction([isOf(left, right), isOf(right, left)]),
    negation(left.isNull),
    negation(right.isNull),
  ])
}

/** Where one is a time and the other a text, which is then read as one. */
function timeAndText(left: CompiledValue, right: CompiledValue): string {
  const pair = (time: CompiledValue, text: CompiledValue): string => {
    const { timestamp } = time.typed
    const { string } = text.typed
    const isText = disjunction([
      string === undefined ? '0' : `isNotNull(${string})`,
      text.hidden.includes('string') ? text.isHidden : '0',
    ])
    return timestamp === undefined ? '0' : conjunction([`isNotNull(${timestamp})`, isText])
  }
  return disjunction([pair(left, right), pair(right, left)])
}

function sharedKinds(left: CompiledValue, right: CompiledValue): readonly TypedKind[] {
  return typedKinds.filter((kind) => left.typed[kind] !== undefined && right.typed[kind])
}

function equality(left: CompiledValue, right: CompiledValue): Truths {
  const equal = sharedKinds(left, right).map((kind) =>
    isTrue(`${left.typed[kind]} = ${right.typed[kind]}`),
  )
  const open = disjunction([hiddenPair(left, right), timeAndText(left, right)])
  const sure = disjunction(equal)
  const whereTrue = { sure, may: disjunction([sure, open]) }
  const differs = { sure: negation(disjunction([sure, open])), may: negation(sure) }
  return { whereTrue, whereFalse: allOf([presence(left), presence(right), differs]) }
}

function ordering(symbol: string, left: CompiledValue, right: CompiledValue): Truths {
  // The order of arrays is not that of their texts.
  const kinds = sharedKinds(left, right).filter((kind) => kind !== 'array')
  const arrays = [left, right].map(({ typed, hidden, isHidden }) =>
    disjunction([
      typed.array === undefined ? '0' : `isNotNull(${typed.array})`,
      hidden.includes('array') ? isHidden : '0',
    ]),
  )
  const open = disjunction([hiddenPair(left, right), timeAndText(left, right), conjunction(arrays)])
  const bounds = (test: (comparison: string) => string): Bounds => {
    const sure = disjunction(
      kinds.map((kind) => isTrue(test(`${left.typed[kind]} ${symbol} ${right.typed[kind]}`))),
    )
    return { sure, may: disjunction([sure, open]) }
  }
  return {
    whereTrue: bounds((comparison) => comparison),
    whereFalse: bounds((comparison) => `NOT (${comparison})`),
  }
}

/** Whether the value equals one of a list. */
export function isAmong(value: CompiledValue, list: readonly Value[]): ComparedTruths {
  const items = list.filter((item) => item !== null)
  const single = items.filter((item) => !isListed(item, value))
  const listed = items.filter((item) => isListed(item, value))
  const tests = [...single.map((item) => equalityTo(value, item)), ...ofKinds(value, listed)]
  const whereTrue = anyOf(tests.map((test) => test.whereTrue))
  const isThere = presence(value)
  const ofScalars = items.every((item) => isScalar(itemOf(item)))
  const doubts = ofScalars ? doubtsOfScalar(value) : value.doubts
  if (items.length < list.length) return { whereTrue, whereFalse: never, doubts }
  // An item that cannot be compared with the value leaves open whether there is one.
  const whereFalse = allOf([isThere, ...tests.map((test) => test.whereFalse)])
  return { whereTrue: list.length === 0 ? never : whereTrue, whereFalse, doubts }
}

/** Whether the item can stand in a list of SQL: it is neither compared as a time nor hidden. */
function isListed(item: Value, value: CompiledValue): boolean {
  const kind = kindOf(item)
  if (kind !== 'number' && kind !== 'string') return false
  if (value.typed[kind] === undefined || value.hidden.includes(kind)) return false
  return constantSql(item) !== undefined && !(kind === 'string' && value.typed.timestamp)
}

function ofKinds(value: CompiledValue, items: readonly Value[]): Truths[] {
  const kinds = [...new Set(items.map(kindOf))] as TypedKind[]
  return kinds.map((kind) => {
    const literals = items.filter((item) => kindOf(item) === kind).map((item) => constantSql(item)!)
    const found = decided(isTrue(`${value.typed[kind]} IN ${tuple(literals)}`))
    return { whereTrue: found, whereFalse: allOf([presence(value), noneOf(found)]) }
  })
}

function equalityTo(value: CompiledValue, item: Value): Truths {
  const constant = comparedConstant(item, value)
  return constant ? equality(value, constant) : noTruth
}

/** As a value to be compared with one of a record: what is no constant of SQL is of its kind, and hidden. */
function itemOf(item: Value): CompiledValue {
  const compiled = constantOf(item)
  if (compiled) return compiled
  return { typed: {}, isHidden: '1', hidden: [kindOf(item)], isNull: '0', doubts: [] }
}

/** The constant that a value is compared with: a text is a time if the value is one. Undefined: it cannot be compared. */
export function comparedConstant(constant: Value, other: CompiledValue): CompiledValue | undefined {
  const isOfTimes = other.typed.timestamp !== undefined && Object.keys(other.typed).length === 1
  if (!isOfTimes || typeof constant !== 'string') return itemOf(constant)
  const time = parseTimestamp(constant)
  return time && itemOf(time)
}

/** Of a value and what cannot be compared with it. */
export function compareApart(operator: ComparisonOperator): ComparedTruths {
  if (operator === 'is_same') return { whereTrue: never, whereFalse: always, doubts: [] }
  if (operator === 'is_different') return { whereTrue: always, whereFalse: never, doubts: [] }
  return { ...noTruth, doubts: [] }
}
