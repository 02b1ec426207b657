/** Groups that a cluster has made of its rows, as the finish takes them from tasks. */
import { extremeKinds, type GroupStateKind } from '../../clickhouse/read/compile-aggregate.ts'
import { assert } from '../../error.ts'
import type { WireState } from '../../executor/aggregate/wire-state.ts'
import { keyColumn } from '../../executor/column/key-column.ts'
import type { RowList } from '../../executor/column/row-list.ts'
import type { PartialGroups } from '../../executor/task/task.ts'
import { unitBits } from '../../kernel/exact-number.ts'
import type { WireSums } from '../../kernel/group-sums.ts'
import type { WireUnits } from '../../kernel/unit-sums.ts'
import { parseJson } from '../../type/parse-json.ts'
import { timestampOf } from '../../type/time.ts'
import type { Value } from '../../type/value.ts'

/** Keys, states, and the row that stands for the group (`clickhouse/read/compile-stage.ts`). */
export type GroupRow = readonly unknown[]

export interface GroupsForm {
  readonly keyCount: number
  readonly states: readonly GroupStateKind[]
  /** Whether a row stands for each group, and how many values are kept of it. */
  readonly rowValues: number | undefined
  /** Whether some of these rows are preferred to others. */
  readonly hasPreferred: boolean
}

export function groupsOfCluster(rows: readonly GroupRow[], form: GroupsForm): PartialGroups {
  const { keyCount, states, rowValues, hasPreferred } = form
  const column = (place: number) => rows.map((row) => row[place])
  const keys = Array.from({ length: keyCount }, (_, i) => keyColumn(column(i).map(taggedValueOf)))
  const chosen =
    rowValues === undefined ? undefined : (column(keyCount + states.length) as (string | null)[][])
  return {
    kind: 'groups',
    groupCount: rows.length,
    keys,
    states: states.map((state, i) => stateOf(state, column(keyCount + i))),
    rows: chosen && rowsOf(chosen),
    preferred:
      chosen && hasPreferred ? Uint8Array.from(chosen, (row) => Number(row[3])) : undefined,
    rowValues: Array.from({ length: rowValues ?? 0 }, (_, i) =>
      keyColumn(chosen!.map((row) => taggedValueOf(row[4 + i]))),
    ),
  }
}

/** Of a tagged text: a letter of the kind, and the value; null for none. */
function taggedValueOf(tagged: unknown): Value {
  if (typeof tagged !== 'string' || tagged === '') return null
  const text = tagged.slice(1)
  switch (tagged[0]) {
    case 'b':
      return text === '1'
    case 'n':
      return Number(text)
    case 't':
      return timeOf(BigInt(text))
    case 's':
      return text
    default:
      return parseJson(text)
  }
}

function timeOf(microseconds: bigint): Value {
  const rest = ((microseconds % 1000n) + 1000n) % 1000n
  return timestampOf(Number((microseconds - rest) / 1000n), Number(rest))
}

function stateOf(kind: GroupStateKind, column: readonly unknown[]): WireState {
  switch (kind) {
    case 'count':
      return { kind: 'counts', counts: Float64Array.from(column, Number) }
    case 'sum':
      return { kind: 'sums', sums: sumsOf(column as readonly (readonly string[])[]) }
    case 'squares':
      return squaresOf(column as readonly (readonly string[])[])
    case 'truths':
      return { kind: 'truths', seen: Uint8Array.from(column, Number) }
    case 'least':
    case 'greatest': {
      const values = (column as readonly (readonly string[])[]).map((byKind) => {
        assert(byKind.length === extremeKinds.length, 'an extreme has other kinds')
        const found = byKind.filter((tagged) => tagged !== '')
        return taggedValueOf(kind === 'least' ? found[0] : found.at(-1))
      })
      return { kind: 'values', values: keyColumn(values) }
    }
    case 'values': {
      const { groups, items } = flattened(column as readonly (readonly string[])[])
      return { kind: 'pairs', groups, values: keyColumn(items.map(taggedValueOf)) }
    }
    case 'list': {
      const { groups, items } = flattened(column as readonly (readonly string[])[])
      const codes = Int32Array.from(items, (_, i) => i)
      return { kind: 'collected', groups, codes, values: keyColumn(items.map(taggedValueOf)) }
    }
    case 'tallies': {
      const pairs = column as readonly (readonly [readonly string[], readonly string[]])[]
      const { groups, items } = flattened(pairs.map(([values]) => values))
      const counts = Float64Array.from(
        pairs.flatMap(([, times]) => times),
        Number,
      )
      return { kind: 'tallies', groups, values: keyColumn(items.map(taggedValueOf)), counts }
    }
    case 'numbers': {
      const lists = column as readonly (readonly number[])[]
      const values = Float64Array.from(lists.flat())
      let end = 0
      const ends = Int32Array.from(lists, ({ length }) => {
        end += length
        return end
      })
      return { kind: 'numbers', ends, values }
    }
  }
}

/** What all groups have, one after the other, and of which group each is. */
function flattened(lists: readonly (readonly string[])[]): {
  readonly groups: Int32Array
  readonly items: readonly string[]
} {
  const groups = lists.flatMap((list, group) => list.map(() => group))
  return { groups: Int32Array.from(groups), items: lists.flat() }
}

/** Bits that a part of a sum is finer than the one before it, and those of the first. */
const partBits = 54n
const firstBits = 20n
const sumBits = firstBits + 2n * partBits

/** Counts, and sums in parts, as texts of integers. */
function sumsOf(column: readonly (readonly string[])[]): WireSums {
  const units = unitsOf(column, ([, upper, lower, last]) => {
    const parts = [upper, lower, last].map((part) => BigInt(part!)) as [bigint, bigint, bigint]
    const sum = (parts[0] << (2n * partBits)) + (parts[1] << partBits) + parts[2]
    return sum << (BigInt(unitBits) - sumBits)
  })
  return {
    ...noSums(column.length),
    counts: Float64Array.from(column, ([count]) => Number(count)),
    units,
  }
}

const squareBits = 2n * (firstBits + partBits)

function squaresOf(column: readonly (readonly string[])[]): WireState {
  const farSquares = unitsOf(column, (parts) => {
    return BigInt(parts[4]!) << (2n * BigInt(unitBits) - squareBits)
  })
  return { kind: 'squares', sums: sumsOf(column), squares: noSums(column.length), farSquares }
}

function noSums(count: number): WireSums {
  return {
    sums: new Float64Array(count),
    rests: new Float64Array(count),
    counts: new Float64Array(count),
    units: { places: [], sums: [] },
  }
}

function unitsOf(
  column: readonly (readonly string[])[],
  unitsAt: (parts: readonly string[]) => bigint,
): WireUnits {
  const found: { places: number[]; sums: bigint[] } = { places: [], sums: [] }
  for (const [place, parts] of column.entries()) {
    const units = unitsAt(parts)
    if (units === 0n) continue
    found.places.push(place)
    found.sums.push(units)
  }
  return found
}

const indexBits = 16n

/** Of object, pagination key and version as texts. */
function rowsOf(rows: readonly (readonly (string | null)[])[]): RowList {
  const keyOf = (text: string | null | undefined): readonly [number, number] => {
    const key = BigInt(text ?? 0)
    return [Number(key >> indexBits), Number(key & 0xffffn)]
  }
  return {
    object: Int32Array.from(rows, ([object]) => Number(object)),
    paginationTransaction: Float64Array.from(rows, ([, key]) => keyOf(key)[0]),
    paginationIndex: Int32Array.from(rows, ([, key]) => keyOf(key)[1]),
    transaction: Float64Array.from(rows, ([, , version]) => keyOf(version)[0]),
    index: Int32Array.from(rows, ([, , version]) => keyOf(version)[1]),
  }
}
