/** The order of a scan, and which rows come after a position in it. */
import type { BoundSortKey, SortPosition } from '../../binder/bound.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { fromPlain } from '../../type/plain.ts'
import { kindOf, type Value } from '../../type/value.ts'
import { conjunction, disjunction, isTrue } from './bounds.ts'
import { compileOperand } from './compile-condition.ts'
import { type CompileContext, constantSql } from './compile-value.ts'
import { type CompiledValue, typedKinds } from './compiled-value.ts'
import { keyNumber } from './sql-text.ts'

export interface CompiledOrder {
  readonly sql: string
  /** Rows whose place in the order only their bodies tell. */
  readonly isInDoubt: string
  /** Which of the others come after the position; `1` where none is given. */
  readonly isAfter: string
}

/** By the sort keys, nulls last, then newest first; undefined of an order that only Assay knows. */
export function compileOrder(
  { sort, afterSorted }: Pick<PhysicalPlan, 'sort' | 'afterSorted'>,
  context: CompileContext,
): CompiledOrder | undefined {
  const keys = sort.map(({ expression }) => compileOperand(expression, context))
  if (keys.includes(undefined)) return undefined
  const values = keys as CompiledValue[]
  const isAfter = afterSorted ? isAfterPosition(sort, values, afterSorted) : '1'
  if (isAfter === undefined) return undefined
  const terms = values.flatMap((value, i) => orderOf(value, sort[i]!.descending))
  const doubts = values.flatMap(({ doubts: own, isHidden, typed }) => {
    const isArray = typed.array === undefined ? '0' : `isNotNull(${typed.array})`
    return [...own, isHidden, isArray]
  })
  const newestFirst = ['pagination_key DESC', 'object ASC', 'version DESC']
  return { sql: [...terms, ...newestFirst].join(', '), isInDoubt: disjunction(doubts), isAfter }
}

/** Kinds one after the other, and of each kind its values. */
function orderOf({ typed, isNull }: CompiledValue, descending: boolean): string[] {
  const kinds = typedKinds.filter((kind) => kind !== 'array' && typed[kind] !== undefined)
  const direction = descending ? 'DESC' : 'ASC'
  const ranks = kinds.map((kind, rank) => `isNotNull(${typed[kind]}), ${rank}`)
  const byKind = kinds.length > 1 ? [`multiIf(${ranks.join(', ')}, 0) ${direction}`] : []
  // A constant would be taken for the place of a column.
  const byPresence = isNull === '0' || isNull === '1' ? [] : [`${isNull} ASC`]
  return [
    ...byPresence,
    ...byKind,
    ...kinds.map((kind) => `identity(${typed[kind]}) ${direction} NULLS LAST`),
  ]
}

/** Undefined where SQL cannot say a value of the position. */
function isAfterPosition(
  sort: readonly BoundSortKey[],
  keys: readonly CompiledValue[],
  { values, paginationKey, object, version }: SortPosition,
): string | undefined {
  let isAfter = disjunction([
    `pagination_key < ${keyNumber(paginationKey)}`,
    conjunction([
      `pagination_key = ${keyNumber(paginationKey)}`,
      `(object > ${object} OR (object = ${object} AND version < ${keyNumber(version)}))`,
    ]),
  ])
  for (let k = keys.length - 1; k >= 0; k--) {
    const compared = comparedWith(keys[k]!, fromPlain(values[k]!), sort[k]!.descending)
    if (!compared) return undefined
    isAfter = disjunction([compared.isLater, conjunction([compared.isSame, isAfter])])
  }
  return isAfter
}

/** Where a key comes later in the order than a value, and where it is the same. */
function comparedWith(
  { typed, isNull }: CompiledValue,
  value: Value,
  descending: boolean,
): { readonly isLater: string; readonly isSame: string } | undefined {
  if (value === null) return { isLater: '0', isSame: isNull }
  const constant = constantSql(value)
  const kind = typedKinds.find((each) => each === kindOf(value))
  if (constant === undefined || kind === undefined || kind === 'array') return undefined
  const place = typedKinds.indexOf(kind)
  const laterKinds = descending ? typedKinds.slice(0, place) : typedKinds.slice(place + 1)
  const own = typed[kind]
  const later = laterKinds.flatMap((each) => typed[each] ?? []).map((sql) => `isNotNull(${sql})`)
  if (own === undefined) return { isLater: disjunction([isNull, ...later]), isSame: '0' }
  const isBeyond = isTrue(`${own} ${descending ? '<' : '>'} ${constant}`)
  return {
    isLater: disjunction([isNull, isBeyond, ...later]),
    isSame: isTrue(`${own} = ${constant}`),
  }
}
