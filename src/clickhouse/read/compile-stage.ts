/** What is made of the rows of a scan: groups, or the first rows of an order. */
import type { BoundSortKey } from '../../binder/bound.ts'
import type { GroupsStage } from '../../planner/physical-plan.ts'
import { disjunction } from './bounds.ts'
import { compileAggregate, type GroupStateKind } from './compile-aggregate.ts'
import { compileOperand } from './compile-operand.ts'
import type { CompileContext } from './compile-value.ts'
import { type CompiledValue, taggedValue, typedKinds } from './compiled-value.ts'

export interface CompiledGroups {
  /** `k0`, `k1`, … are tagged texts of keys; `a0`, `a1`, … what `states` say. */
  readonly columns: readonly string[]
  readonly keys: readonly string[]
  readonly states: readonly GroupStateKind[]
  /** Rows that are in none of the groups: Assay aggregates them. */
  readonly isInDoubt: string
}

/** Undefined of groups that Assay makes itself. */
export function compileGroups(
  { keys, aggregates, row }: GroupsStage,
  context: CompileContext,
): CompiledGroups | undefined {
  if (row) return undefined
  const keyValues = keys.map((key) => compileOperand(key, context))
  const states = aggregates.map((aggregate) => compileAggregate(aggregate, context))
  if (keyValues.includes(undefined) || states.includes(undefined)) return undefined
  const values = keyValues as CompiledValue[]
  const doubts = [
    ...values.flatMap((value) => [...value.doubts, value.isHidden]),
    ...states.flatMap((state) => state!.doubts),
  ]
  return {
    columns: [
      ...values.map((value, i) => `${taggedValue(value)} AS k${i}`),
      ...states.map((state, i) => `${state!.sql} AS a${i}`),
    ],
    keys: values.map((_, i) => `k${i}`),
    states: states.map((state) => state!.state),
    isInDoubt: disjunction(doubts),
  }
}

export interface CompiledOrder {
  readonly sql: string
  /** Rows whose place in the order only their bodies tell. */
  readonly isInDoubt: string
}

/** By the sort keys, nulls last, then newest first; undefined of an order that only Assay knows. */
export function compileOrder(
  sort: readonly BoundSortKey[],
  context: CompileContext,
): CompiledOrder | undefined {
  const keys = sort.map(({ expression }) => compileOperand(expression, context))
  if (keys.includes(undefined)) return undefined
  const values = keys as CompiledValue[]
  const terms = values.flatMap((value, i) => orderOf(value, sort[i]!.descending))
  const doubts = values.flatMap(({ doubts: own, isHidden, typed }) => {
    const isArray = typed.array === undefined ? '0' : `isNotNull(${typed.array})`
    return [...own, isHidden, isArray]
  })
  const newestFirst = ['pagination_key DESC', 'object ASC', 'version DESC']
  return { sql: [...terms, ...newestFirst].join(', '), isInDoubt: disjunction(doubts) }
}

/** Kinds one after the other, and of each kind its values. */
function orderOf({ typed, isNull }: CompiledValue, descending: boolean): string[] {
  const kinds = typedKinds.filter((kind) => kind !== 'array' && typed[kind] !== undefined)
  const direction = descending ? 'DESC' : 'ASC'
  const ranks = kinds.map((kind, rank) => `isNotNull(${typed[kind]}), ${rank}`)
  const byKind = kinds.length > 1 ? [`multiIf(${ranks.join(', ')}, 0) ${direction}`] : []
  return [
    `${isNull} ASC`,
    ...byKind,
    ...kinds.map((kind) => `${typed[kind]} ${direction} NULLS LAST`),
  ]
}
