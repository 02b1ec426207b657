import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BoundExpression, RowChoice } from '../../src/binder/bound.ts'
import { noRow, RowChooser } from '../../src/executor/column/row-choice.ts'
import type { GroupsResult, TaskInput } from '../../src/executor/task/task.ts'
import { constant, field, inputKinds, keyReader, ScannedRecords } from '../support/scan-task.ts'

const isRoot: BoundExpression = {
  kind: 'comparison',
  operator: 'eq',
  left: field('metadata', 'root'),
  right: constant(true),
  type: 'boolean',
}

const rows = [
  { id: 'r0', metadata: { group: 'a', root: false } },
  { id: 'r1', metadata: { group: 'a', root: true } },
  { id: 'r2', metadata: { group: 'b' } },
  { id: 'r3', metadata: { group: 'a', root: true } },
  { id: 'r4', metadata: { group: 'b', root: null } },
  { id: 'r5', metadata: { group: 'a' } },
]

function groupsBy(choice: RowChoice) {
  return {
    stage: { kind: 'groups', keys: [field('metadata', 'group')], aggregates: [], row: choice },
  } as const
}

/** Id of the chosen row by group, with `!` when it is a preferred one. */
function chosen({ keys, rows: list, preferred }: GroupsResult, records: ScannedRecords) {
  const keyAt = keyReader(keys[0]!)
  const { transaction } = records.set.keys
  return Object.fromEntries(
    Array.from(list!.transaction, (version, group) => {
      const id = records.ids[transaction.indexOf(version)]!
      return [String(keyAt(group)), preferred?.[group] ? `${id}!` : id]
    }),
  )
}

test.each(inputKinds)(
  'a group is told by its oldest or newest row, preferred ones first: %s',
  (kind) => {
    const records = new ScannedRecords(rows)
    const choose = (choice: RowChoice) =>
      chosen(records.scan(groupsBy(choice), kind) as GroupsResult, records)
    expect(choose({ preferred: undefined, pick: 'oldest', values: [] })).toEqual({
      a: 'r0',
      b: 'r2',
    })
    expect(choose({ preferred: undefined, pick: 'newest', values: [] })).toEqual({
      a: 'r5',
      b: 'r4',
    })
    expect(choose({ preferred: isRoot, pick: 'oldest', values: [] })).toEqual({ a: 'r1!', b: 'r2' })
    expect(choose({ preferred: isRoot, pick: 'newest', values: [] })).toEqual({ a: 'r3!', b: 'r4' })
  },
)

test('the same rows are chosen however the rows are split into tasks', () => {
  const records = new ScannedRecords(rows)
  const whole = (choice: RowChoice) =>
    chosen(records.scan(groupsBy(choice)) as GroupsResult, records)
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: rows.length - 1 }))
  const choices = fc.record({
    preferred: fc.constantFrom(undefined, isRoot),
    pick: fc.constantFrom('oldest' as const, 'newest' as const),
    values: fc.constant([]),
  })
  fc.assert(
    fc.property(cuts, choices, fc.infiniteStream(fc.nat()), (places, choice, order) => {
      const ends = [0, ...places.sort((a, b) => a - b), rows.length]
      const inputs = ends.slice(1).map((to, i): TaskInput => records.segmentRows(ends[i]!, to))
      const partials = inputs.map((input) => {
        return records.scan(groupsBy(choice), 'segment', { inputs: [input] }) as GroupsResult
      })
      const shuffled = inputs.toSorted(() => (order.next().value % 2) - 0.5)
      const together = records.scan(groupsBy(choice), 'segment', { inputs: shuffled })
      expect(chosen(together as GroupsResult, records)).toEqual(whole(choice))
      partials.sort(() => (order.next().value % 2) - 0.5)
      const chooser = new RowChooser(choice)
      const numbers = new Map<string, number>()
      for (const { keys, groupCount, rows: list, preferred } of partials) {
        const keyAt = keyReader(keys[0]!)
        const groups = Int32Array.from({ length: groupCount }, (_, group) => {
          const key = String(keyAt(group))
          if (!numbers.has(key)) numbers.set(key, numbers.size)
          return numbers.get(key)!
        })
        chooser.resize(numbers.size)
        chooser.merge({ rows: list!, preferred }, groups)
      }
      const keys = [{ kind: 'plain', values: [...numbers.keys()] }] as const
      const merged = { ...partials[0]!, keys, ...chooser.finish() }
      expect(chosen(merged, records)).toEqual(whole(choice))
    }),
    { numRuns: 50 },
  )
})

test('a group without rows has none', () => {
  const chooser = new RowChooser({ preferred: undefined, pick: 'oldest', values: [] })
  chooser.resize(2)
  const { rows: empty } = chooser.finish()
  expect(empty.object).toEqual(Int32Array.of(noRow, noRow))
  chooser.merge({ rows: empty, preferred: undefined }, Int32Array.of(1, 0))
  expect(chooser.finish().rows.object).toEqual(Int32Array.of(noRow, noRow))
})
