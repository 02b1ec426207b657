/** What the cluster knows of the value of an expression. */
import type { ValueKind } from '../../type/value.ts'
import { choice, conjunction, disjunction, negation } from './bounds.ts'

/** Kinds of values whose SQL is compared and grouped by. */
export type TypedKind = 'boolean' | 'number' | 'timestamp' | 'string' | 'array'

export const typedKinds: readonly TypedKind[] = [
  'boolean',
  'number',
  'timestamp',
  'string',
  'array',
]

export interface CompiledValue {
  /**
   * By kind, SQL that has the value where it is of that kind, and null elsewhere. Numbers are `Float64`, times microseconds
   * since 1970 as `Int64`, arrays their canonical JSON.
   */
  readonly typed: Partial<Record<TypedKind, string>>
  /** Where the value is of one of `hidden`: there is one, and only the body has it. */
  readonly isHidden: string
  readonly hidden: readonly ValueKind[]
  /** Never null itself. */
  readonly isNull: string
  /** Where none of this holds: only the body tells. */
  readonly doubts: readonly string[]
  /** The same for who asks only for a boolean, number or text; undefined: they are no fewer. */
  readonly scalarDoubts?: readonly string[]
}

/** Doubts of who asks only for a boolean, number or text, and not whether there is nothing. */
export function doubtsOfScalar({
  doubts,
  scalarDoubts = doubts,
}: CompiledValue): readonly string[] {
  return scalarDoubts
}

/** Whether the value is known to be neither an array nor an object. */
export function isScalar({ typed, hidden }: CompiledValue): boolean {
  return typed.array === undefined && hidden.length === 0
}

export const nullValue: CompiledValue = {
  typed: {},
  isHidden: '0',
  hidden: [],
  isNull: '1',
  doubts: [],
}

export function typedValue(kind: TypedKind, sql: string, doubts: readonly string[] = []) {
  return { typed: { [kind]: sql }, isHidden: '0', hidden: [], isNull: '0', doubts } as CompiledValue
}

/** The first of the values that is not null. */
export function firstPresent(values: readonly CompiledValue[]): CompiledValue {
  const typed: Partial<Record<TypedKind, string>> = {}
  for (const kind of typedKinds) {
    if (!values.some((value) => value.typed[kind])) continue
    const sql = choice(
      values.map(({ isNull, typed: of }) => ({ where: negation(isNull), sql: of[kind] ?? 'NULL' })),
    )
    if (sql !== 'NULL') typed[kind] = sql
  }
  const isHidden = disjunction(
    values.map((value, i) => {
      const before = values.slice(0, i).map(({ isNull }) => isNull)
      return conjunction([...before, value.isHidden])
    }),
  )
  return {
    typed,
    isHidden,
    hidden: [...new Set(values.flatMap(({ hidden }) => hidden))],
    isNull: conjunction(values.map(({ isNull }) => isNull)),
    doubts: values.flatMap(({ doubts }) => doubts),
  }
}

/**
 * A text that is the same for the same values only: a letter of the kind, and the value. Null for null, and for what is
 * hidden.
 */
export function taggedValue({ typed }: CompiledValue): string {
  const branches = typedKinds.flatMap((kind) => {
    const sql = typed[kind]
    if (sql === undefined) return []
    return `isNotNull(${sql}), concat('${tags[kind]}', toString(assumeNotNull(${shownForm(kind, sql)})))`
  })
  return branches.length === 0
    ? 'CAST(NULL AS Nullable(String))'
    : `multiIf(${branches.join(', ')}, NULL)`
}

const tags: Record<TypedKind, string> = {
  boolean: 'b',
  number: 'n',
  timestamp: 't',
  string: 's',
  array: 'a',
}

/** One zero has no sign. */
function shownForm(kind: TypedKind, sql: string): string {
  if (kind === 'number') return `(${sql} + 0.)`
  return kind === 'boolean' ? `toUInt8(${sql})` : sql
}
