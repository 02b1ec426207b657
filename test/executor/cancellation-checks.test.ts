/**
 * Whatever goes through many rows within one task asks every few thousand of them whether anybody still
 * waits, and ends where nobody does. Rows are counted here, since no clock can be trusted.
 */
import { expect, test, vi } from 'vitest'
import { CollectState } from '../../src/executor/aggregate/collect.ts'
import { wholeRows } from '../../src/executor/aggregate/state.ts'
import { GroupTable } from '../../src/executor/column/group-table.ts'
import { keyColumn } from '../../src/executor/column/key-column.ts'
import { columnOf, gatherColumn } from '../../src/executor/column/relation-column.ts'
import type { SortedRows } from '../../src/executor/column/row-list.ts'
import { ValueCodes } from '../../src/executor/column/value-codes.ts'
import { vectorOf, type WireValues } from '../../src/executor/column/wire-values.ts'
import type { Batch } from '../../src/executor/expression/batch.ts'
import { withSemiJoinSets } from '../../src/executor/expression/semi-join-set.ts'
import { mergeGroups } from '../../src/executor/group/merge-groups.ts'
import { RowBuffer, runOrder } from '../../src/executor/order/row-buffer.ts'
import { valueWriter } from '../../src/executor/print/write-vector.ts'
import { compareRows } from '../../src/executor/relation/compare-rows.ts'
import type { Relation } from '../../src/executor/relation/relation.ts'
import { RelationReader } from '../../src/executor/relation/relation-batch.ts'
import { columnOrder, orderRows } from '../../src/executor/relation/relation-order.ts'
import { shareResult } from '../../src/executor/task/share-result.ts'
import type { PartialGroups, RowsResult, UnifyResult } from '../../src/executor/task/task.ts'
import { compileText } from '../../src/executor/text/text-operators.ts'
import { watchCancelled } from '../../src/executor/thread/cancelled.ts'
import { runUnify } from '../../src/executor/unify.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { Value } from '../../src/type/value.ts'
import { SharedTexts } from '../../src/vector/shared-dictionary.ts'
import { constant, context, field, planOf, ScannedRecords } from '../support/scan-task.ts'
import { versionedRow } from '../support/versioned-row.ts'

const rows = 1 << 17
const mostRowsPerLook = 1 << 15

const numbers = Array.from({ length: rows }, (_, i) => (i * 7919) % rows)
const texts = numbers.map((number) => `text ${number}`)
const mixed = numbers.map((number): Value => (number % 2 === 0 ? number : [number]))

/** Runs the work, which nobody waits for any more from its n-th look on; how often it has looked. */
function looksOf(work: () => unknown, last = Number.POSITIVE_INFINITY): number {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  let looks = 0
  const load = vi.spyOn(Atomics, 'load').mockImplementation((array, index) => {
    if ((array as unknown) === flag && ++looks >= last) flag[0] = 1
    return array[index] as never
  })
  watchCancelled(flag)
  try {
    work()
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'QUERY_CANCELLED' })
    expect(looks).toBe(last)
  } finally {
    watchCancelled(undefined)
    load.mockRestore()
  }
  return looks
}

function coded(values: readonly Value[]) {
  const codes = new ValueCodes()
  const out = new Int32Array(values.length)
  codes.encode({ kind: 'values', values }, values.length, undefined, out)
  return { codes, out }
}

function sortedRows(keys: readonly WireValues[]): SortedRows {
  return {
    object: new Int32Array(rows).fill(1),
    paginationTransaction: Float64Array.from(numbers),
    paginationIndex: new Int32Array(rows),
    transaction: Float64Array.from(numbers),
    index: new Int32Array(rows),
    keys,
  }
}

function groupsOf(key: WireValues): PartialGroups {
  const rest = { rows: undefined, preferred: undefined, rowValues: [] }
  return { kind: 'groups', groupCount: rows, keys: [key], states: [], ...rest }
}

const grouping = { keys: [field('metadata', 'k')], aggregates: [], row: undefined }
const ofTexts = keyColumn(texts)

test.each<readonly [string, () => unknown]>([
  ['making a column of texts', () => keyColumn(texts)],
  ['making a column of numbers', () => keyColumn(numbers)],
  ['making a column of anything', () => keyColumn(mixed)],
  ['putting texts in order', () => orderRows(rows, [columnOrder(ofTexts, false)], rows)],
  ['picking texts', () => gatherColumn(ofTexts, Int32Array.from(numbers))],
  ['numbering anything', () => coded(mixed)],
  [
    'numbering texts',
    () => {
      const table = new GroupTable([undefined])
      table.assignKeys([ofTexts], rows, new Int32Array(rows))
    },
  ],
  [
    'making lists',
    () => {
      const state = new CollectState()
      state.update([{ kind: 'values', values: texts }], wholeRows(new Int32Array(rows)))
      return state.column(Int32Array.of(0))
    },
  ],
  ['making objects of numbers', () => vectorOf(columnOf(numbers.map((a) => ({ a }))))],
  ['merging groups', () => mergeGroups(grouping, [groupsOf(ofTexts), groupsOf(ofTexts)], [])],
])('%s', (_, work) => {
  expectManyLooks(work)
})

test.each<readonly [string, readonly Value[]]>([
  ['texts', texts],
  ['numbers', numbers],
  ['anything', mixed],
])('giving away keys of groups that are %s', (_, values) => {
  const { codes, out } = coded(values)
  expectManyLooks(() => codes.toWire(out))
})

test('a long list that is printed', () => {
  const write = valueWriter({ kind: 'values', values: [numbers] })
  const out = new ByteWriter(1024)
  expect(looksOf(() => write(0, out))).toBe(rows / 1024)
  expect(out.view().toString()).toBe(JSON.stringify(numbers))
  expect(looksOf(() => write(0, out), 3)).toBe(3)
})

test('rows of two experiments that are compared', () => {
  const keys = keyColumn(numbers.map((number) => `text ${number >> 1}`))
  const relation: Relation = {
    rowCount: rows,
    rows: { ...sortedRows([]), object: Int32Array.from(numbers, (number) => 1 + (number & 1)) },
    groupColumns: [keys, columnOf(numbers.map((a) => ({ a })))],
    fields: [],
  }
  const column = (index: number) => ({ kind: 'group_column', index, type: 'json' }) as const
  const [key, scores, metrics] = [column(0), column(1), column(1)]
  const stage = { kind: 'compare', objects: [1, 2], key, scores, metrics } as const
  ScannedRecords.during([], ({ storage }) => {
    const { objects } = planOf({ stage: { kind: 'rows', carried: [] } })
    const read = (of: Relation) => new RelationReader(of, { objects }, { segments: [], storage })
    const compare = () =>
      compareRows(relation, stage, {
        evaluation: withSemiJoinSets(context, []),
        read,
        profile: undefined,
      })
    expectManyLooks(compare)
    const made = compare()
    expect(made.rowCount).toBe(rows / 2)
    const differences = made.fields.find(({ name }) => name === 'score_differences')!
    expect(vectorOf(differences.values)).toEqual({
      kind: 'values',
      values: Array.from({ length: rows / 2 }, () => ({ a: 1 })),
    })
  })
})

test('rows in order', () => {
  const sort = [{ expression: field('metadata', 'k'), descending: false }]
  const plan = planOf({ stage: { kind: 'rows', carried: [] }, sort })
  const lists = [sortedRows([ofTexts])]
  const task = {
    kind: 'order',
    plan,
    lists,
    partial: [],
    wanted: rows,
    cancelled: undefined,
  } as const
  expectManyLooks(() => runOrder(task))
  const buffer = new RowBuffer(sort, rows, 0)
  expectManyLooks(() => buffer.add(lists[0]!))
  const full = new RowBuffer(sort, rows, 0)
  full.add(lists[0]!)
  // Once they are in order, little is left to compare.
  full.cut()
  expectManyLooks(() => full.cut())
  expectManyLooks(() => full.finish())
})

function expectManyLooks(work: () => unknown): void {
  const looks = looksOf(work)
  expect(looks).toBeGreaterThanOrEqual(rows / mostRowsPerLook)
  // Others may have left the count of steps anywhere.
  for (const last of [1, looks >> 1, looks - 1]) expect(looksOf(work, last)).toBe(last)
}

test('memory that is shared with another thread', () => {
  const result = { kind: 'order', rows: sortedRows([]), isPartial: false } as const
  const large = new Float64Array((40 * 2 ** 20) / 8)
  const work = () => shareResult({ ...result, rows: { ...result.rows, transaction: large } })
  const looks = looksOf(work)
  // Of 40 MiB one for each 8, and of the others one at least.
  expect(looks).toBeGreaterThanOrEqual(5 + 4)
  expect(looksOf(work, looks >> 1)).toBe(looks >> 1)
})

test('numbering the texts of segments keeps those that it has come to', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => `text ${i}`)
  const versions = ids.map((id, index) => {
    return versionedRow(JSON.stringify({ id }), { version: { transaction: 1000, index } })
  })
  const set = shred(versions)
  ScannedRecords.during([{ id: 'any' }], (scanned) => {
    const storage = { ...scanned.storage, openSegment: () => set }
    const task = {
      kind: 'unify',
      id: 1,
      dictionary: undefined,
      path: ['id'],
      segments: [1, 2],
      homes: undefined,
      maximumBytes: 2 ** 30,
      cancelled: undefined,
    } as const
    const looks = looksOf(() => runUnify(task, storage))
    expect(looks).toBeGreaterThanOrEqual((2 * ids.length) / 4096)
    const found: UnifyResult[] = []
    looksOf(() => found.push(runUnify(task, storage)), looks - 2)
    const [{ maps, dictionary }] = found as [UnifyResult]
    expect(maps).toHaveLength(1)
    const numbered = new SharedTexts(dictionary!)
    expect(Array.from(maps[0]!, (code) => numbered.textAt(code))).toEqual(ids)
  })
})

test('texts that only a pattern can decide', () => {
  const count = 4096
  const text = 'some words, and others '
  const bytes = Buffer.from(text.repeat(count))
  const offsets = Int32Array.from({ length: count + 1 }, (_, i) => i * text.length)
  const left = { kind: 'text', texts: { bytes, offsets }, first: 0, valid: undefined } as const
  const batch = { rowCount: count } as Batch
  const search = (pattern: string) => {
    const right = { kind: 'constant', value: pattern } as const
    const operands = { operand: field('output'), pattern: constant(pattern) }
    const like = compileText({ kind: 'like', ...operands, caseInsensitive: true, type: 'boolean' })
    return () => like!(left, right, batch, undefined)
  }
  expect(looksOf(search('%some%x'))).toBeGreaterThanOrEqual(count)
  expect(looksOf(search('%some%x'), 100)).toBe(100)
  // Bytes tell that none has it.
  expect(looksOf(search('%nowhere%x'))).toBeLessThan(10)
})

test('stored rows, which may lie in a block each', () => {
  const records = Array.from({ length: 20 }, (_, n) => ({ id: `r${n}` }))
  ScannedRecords.during(records, (scanned) => {
    const stage = { kind: 'rows', carried: [] } as const
    const { rows } = scanned.scan({ stage }) as RowsResult
    const relation = { rowCount: rows.object.length, rows, groupColumns: [], fields: [] }
    const { storage } = scanned
    const reader = new RelationReader(relation, planOf({ stage }), { segments: [], storage })
    const work = () => {
      for (let row = 0; row < relation.rowCount; row++) reader.storedRow(rows, row)
    }
    expect(looksOf(work)).toBe(records.length)
    expect(looksOf(work, 7)).toBe(7)
  })
})
