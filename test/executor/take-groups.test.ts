/** Whether groups of the cluster are merged with all others or finished where they are taken in, the answer is the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyAt } from '../../src/executor/column/key-column.ts'
import { runFinish } from '../../src/executor/finish.ts'
import { groupsOfCluster } from '../../src/executor/group/cluster-groups.ts'
import { runTakeGroups } from '../../src/executor/take-groups.ts'
import type { FinishTask, TakeGroupsTask } from '../../src/executor/task/task.ts'
import type { MadeGroupsForm } from '../../src/planner/made-groups.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'

const form: MadeGroupsForm = {
  keyCount: 1,
  states: ['count', 'sum', 'numbers'],
  rowValues: undefined,
  hasPreferred: false,
}

const { plan } = physicalQuery(
  `dimensions: metadata.m as m | measures: count(1) as n, sum(metrics.t) as s, percentile(metrics.t, 0.5) as p
   | from: experiment('e') | sort: s desc | limit: 3`,
  () => 1,
)

/** Texts of groups with such keys, each behind its length. */
function partOf(keys: ReadonlyMap<string, number>): SharedArrayBuffer {
  const texts = Array.from(keys, ([key, number]) => {
    const sum = ['1', String(number * 2 ** 20), '0', '0']
    const text = Buffer.from(JSON.stringify([`s${key}`, '1', sum, [number], 0]))
    return Buffer.concat([Buffer.from([text.length]), text])
  })
  const bytes = Buffer.concat(texts)
  const memory = new SharedArrayBuffer(bytes.length)
  bytes.copy(Buffer.from(memory))
  return memory
}

const storage = {} as Parameters<typeof runFinish>[1]
const common = { plan, context: clock, semiJoinSets: [], cancelled: undefined } as const

function answer(input: Extract<FinishTask['input'], { kind: 'groups' }>): unknown {
  const { relation } = runFinish({ kind: 'finish', ...common, input, segments: [] }, storage)
  return Array.from({ length: relation.rowCount }, (_, row) => {
    return relation.groupColumns?.map((column) => keyAt(column, row))
  })
}

const keys = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 })
const groups = fc.uniqueArray(fc.tuple(keys, fc.integer({ min: -5, max: 5 })), {
  selector: ([key]) => key,
})

test('groups that nobody else has found are finished by the task that takes them in', () => {
  const kept = { local: 0, merged: 0 }
  fc.assert(
    fc.property(groups, fc.array(groups, { maxLength: 3 }), (ofOthers, parts) => {
      const rows = ofOthers.map(([key, number]) => {
        return [`s${key}`, '1', ['1', String(number * 2 ** 20), '0', '0'], [number], 0]
      })
      const others = [groupsOfCluster(rows, form)]
      // Of the cluster, too, each key has one group.
      const taken = new Set<string>()
      const memories = parts.map((part) => {
        const first = part.filter(([key]) => !taken.has(key))
        for (const [key] of first) taken.add(key)
        return partOf(new Map(first))
      })
      const task: TakeGroupsTask = {
        kind: 'take groups',
        ...common,
        ...{ form, parts: memories, others: undefined, dictionaries: [] },
      }
      const merged = runTakeGroups(task, storage)
      expect(merged.local).toBeUndefined()
      const dictionaries = [] as const
      const partials = [...others, ...merged.partials]
      const expected = answer({ kind: 'groups', partials, local: [], dictionaries })
      const { partials: open, local } = runTakeGroups({ ...task, others }, storage)
      const input = { kind: 'groups', partials: [...others, ...open], dictionaries } as const
      expect(answer({ ...input, local: local ? [local] : [] })).toEqual(expected)
      const openKeys = open.reduce((sum, { groupCount }) => sum + groupCount, 0)
      expect(openKeys).toBe(ofOthers.filter(([key]) => taken.has(key)).length)
      kept.merged += openKeys
      kept.local += taken.size - openKeys
    }),
    { numRuns: 300 },
  )
  expect(kept.local).toBeGreaterThan(100)
  expect(kept.merged).toBeGreaterThan(100)
})
