/** Groups that a cluster has made of its rows, as partial groups. */
import { assert } from '../../error.ts'
import { prefixedTexts } from '../../json/prefixed-texts.ts'
import type { WireSums } from '../../kernel/group-sums.ts'
import { SumsBuilder } from '../../kernel/sums-builder.ts'
import {
  extremeKinds,
  type GroupStateKind,
  type MadeGroupsForm,
} from '../../planner/made-groups.ts'
import { parseJson } from '../../type/parse-json.ts'
import { timestampOf } from '../../type/time.ts'
import type { Value } from '../../type/value.ts'
import type { WireState } from '../aggregate/wire-state.ts'
import { keyColumn } from '../column/key-column.ts'
import type { RowList } from '../column/row-list.ts'
import type { WireValues } from '../column/wire-values.ts'
import type { PartialGroups } from '../task/task.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

/** See `MadeGroupsForm`. */
export type GroupRow = readonly unknown[]

/** Groups at a time: of twenty thousand, what is parsed of each outlives V8's looks at what is young, and takes 1.4 times as long. */
const rowsAtOnce = 4096

/** The groups of texts (`json/prefixed-texts.ts`), some of which may be numbers: of rows that are in none. */
export function* rowsOfTexts(
  memories: readonly SharedArrayBuffer[],
): Generator<readonly GroupRow[]> {
  let rows: GroupRow[] = []
  for (const memory of memories) {
    for (const text of prefixedTexts(Buffer.from(memory))) {
      checkAtTimes()
      const row = JSON.parse(text) as GroupRow | number
      if (typeof row !== 'number') rows.push(row)
      if (rows.length < rowsAtOnce) continue
      yield rows
      rows = []
    }
  }
  if (rows.length > 0) yield rows
}

/** The values of their keys, key by key. */
export function keysOfCluster(
  rows: readonly GroupRow[],
  { keyCount }: Pick<MadeGroupsForm, 'keyCount'>,
): readonly WireValues[] {
  return Array.from({ length: keyCount }, (_, i) => {
    return keyColumn(rows.map((row) => taggedValueOf(row[i])))
  })
}

export function groupsOfCluster(rows: readonly GroupRow[], form: MadeGroupsForm): PartialGroups {
  const { keyCount, states, rowValues, hasPreferred } = form
  const column = (place: number) => rows.map((row) => row[place])
  const chosen =
    rowValues === undefined ? undefined : (column(keyCount + states.length) as (string | null)[][])
  return {
    kind: 'groups',
    groupCount: rows.length,
    keys: keysOfCluster(rows, form),
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
        const isFound = (tagged: string) => tagged !== ''
        return taggedValueOf(kind === 'least' ? byKind.find(isFound) : byKind.findLast(isFound))
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

/** What whole numbers of each part of a sum are of, and those of a sum of squares. */
const partUnits = [2 ** -20, 2 ** -74, 2 ** -128]
const squareUnit = 2 ** -148

/** Counts, and sums in parts, as texts of integers. */
function sumsOf(column: readonly (readonly string[])[]): WireSums {
  const builder = new SumsBuilder(column.length)
  for (let place = 0; place < column.length; place++) {
    checkAtTimes()
    const parts = column[place]!
    builder.count(place, Number(parts[0]))
    for (let i = 0; i < partUnits.length; i++) {
      builder.addWhole(place, parts[i + 1]!, partUnits[i]!)
    }
  }
  return builder.finish()
}

function squaresOf(column: readonly (readonly string[])[]): WireState {
  const squares = new SumsBuilder(column.length)
  for (const [place, parts] of column.entries()) squares.addWhole(place, parts[4]!, squareUnit)
  const farSquares = { places: [], sums: [] }
  return { kind: 'squares', sums: sumsOf(column), squares: squares.finish(), farSquares }
}

/** Of object, pagination key and version as texts. */
function rowsOf(rows: readonly (readonly (string | null)[])[]): RowList {
  const list = {
    object: new Int32Array(rows.length),
    paginationTransaction: new Float64Array(rows.length),
    paginationIndex: new Int32Array(rows.length),
    transaction: new Float64Array(rows.length),
    index: new Int32Array(rows.length),
  }
  for (let i = 0; i < rows.length; i++) {
    checkAtTimes()
    const [object, paginationKey, version] = rows[i]!
    list.object[i] = Number(object)
    placeKey(paginationKey ?? '', i, list.paginationTransaction, list.paginationIndex)
    placeKey(version ?? '', i, list.transaction, list.index)
  }
  return list
}

const indexes = 0x10000

/** @param key `transaction × 65536 + index`: in two parts, as a double does not hold it */
function placeKey(key: string, at: number, transactions: Float64Array, places: Int32Array): void {
  const upper = Number(key.slice(0, -9))
  const lower = (upper % indexes) * 1e9 + Number(key.slice(-9))
  transactions[at] = Math.floor(upper / indexes) * 1e9 + Math.floor(lower / indexes)
  places[at] = lower % indexes
}
