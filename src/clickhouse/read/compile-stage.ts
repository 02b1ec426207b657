/** What is made of the rows of a scan: groups. */
import type { RowChoice } from '../../binder/bound.ts'
import type { GroupStateKind } from '../../planner/made-groups.ts'
import type { GroupsStage } from '../../planner/physical-plan.ts'
import { compileAggregate } from './compile-aggregate.ts'
import { compileCondition, compileOperand, toldTruth } from './compile-condition.ts'
import type { CompileContext } from './compile-value.ts'
import { type CompiledValue, type TypedKind, taggedValue, typedKinds } from './compiled-value.ts'

export interface CompiledGroups {
  /** Tagged texts, which have the names `k0`, `k1`, … in the statement. */
  readonly keys: readonly string[]
  /**
   * Columns with their names: `a0`, `a1`, … are what `states` say; `r` is the row that stands for the group: object, pagination key,
   * version, 1 of a preferred one, and values; `n` is how many rows there are.
   */
  readonly aggregates: readonly string[]
  /** What is told of all columns. */
  readonly names: readonly string[]
  readonly states: readonly GroupStateKind[]
  /** Rows that are in none of the groups: Assay aggregates them. */
  readonly doubts: readonly string[]
}

/** Undefined of groups that Assay makes itself. */
export function compileGroups(
  { keys, aggregates, row }: GroupsStage,
  context: CompileContext,
): CompiledGroups | undefined {
  const chosen = row && compileChoice(row, context)
  if (row && !chosen) return undefined
  const keyValues = keys.map((key) => compileOperand(key, context))
  const states = aggregates.map((aggregate) => compileAggregate(aggregate, context))
  if (keyValues.includes(undefined) || states.includes(undefined)) return undefined
  const values = keyValues as CompiledValue[]
  const doubts = [
    ...values.flatMap((value) => [...value.doubts, value.isHidden]),
    ...states.flatMap((state) => state!.doubts),
    ...(chosen?.doubts ?? []),
  ]
  return {
    keys: values.map(taggedValue),
    aggregates: [
      ...states.map((state, i) => `${state!.sql} AS a${i}`),
      ...(chosen ? [`${chosen.sql} AS r`] : []),
      'count() AS n',
    ],
    names: [
      ...values.map((_, i) => `k${i}`),
      ...states.map((_, i) => `a${i}`),
      ...(chosen ? [chosen.shown] : []),
    ],
    states: states.map((state) => state!.state),
    doubts,
  }
}

interface CompiledChoice {
  readonly sql: string
  /** Texts of what `r` has of the row. */
  readonly shown: string
  readonly doubts: readonly string[]
}

/** The row that stands for a group: preferred ones before others, then by pagination key, then by object. */
function compileChoice(
  { preferred, pick, values }: RowChoice,
  context: CompileContext,
): CompiledChoice | undefined {
  const condition = preferred && toldTruth(compileCondition(preferred, context))
  if (preferred && !condition) return undefined
  const kept = values.map((value) => compileOperand(value, context))
  if (kept.includes(undefined)) return undefined
  const known = kept as CompiledValue[]
  const isPreferred = `toUInt8(${condition?.sql ?? '0'})`
  const age = pick === 'oldest' ? 'pagination_key' : 'bitNot(pagination_key)'
  // Of rows their values as they are: texts are made of those of groups alone.
  const row = ['object', 'pagination_key', 'version', isPreferred]
  const shown = row.map((_, i) => `toString(r.${i + 1})`)
  for (const value of known) {
    const typed: Partial<Record<TypedKind, string>> = {}
    for (const kind of typedKinds) {
      const sql = value.typed[kind]
      if (sql !== undefined) typed[kind] = `r.${row.push(sql)}`
    }
    shown.push(taggedValue({ ...value, typed }))
  }
  return {
    sql: `argMin((${row.join(', ')}), (1 - ${isPreferred}, ${age}, object))`,
    shown: `[${shown.join(', ')}]`,
    doubts: [
      ...(condition?.doubts ?? []),
      ...known.flatMap(({ doubts, isHidden }) => [...doubts, isHidden]),
    ],
  }
}
