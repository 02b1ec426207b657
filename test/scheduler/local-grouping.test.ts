/** Groups are local where that leaves fewer to be merged: where most texts of a key are in one segment only. */
import { expect, test } from 'vitest'
import type { TaskDictionary } from '../../src/executor/task/task-dictionaries.ts'
import { localGroupingKey } from '../../src/scheduler/scan/local-grouping.ts'
import { SharedDictionaryBuilder } from '../../src/vector/shared-dictionary.ts'
import { field, planOf } from '../support/scan-task.ts'
import { textColumn } from '../support/text-column.ts'

const stage = { kind: 'groups', keys: [field('trace')], aggregates: [], row: undefined } as const
const stages = [
  { kind: 'sort', keys: [] },
  { kind: 'limit', count: 3, offset: 0 },
] as const
const plan = planOf({ stage, stages })

function dictionaryOf(segments: readonly (readonly string[])[]): TaskDictionary {
  const builder = new SharedDictionaryBuilder(1, undefined)
  for (const [i, texts] of segments.entries()) builder.add(textColumn([...texts]), i)
  return { path: ['trace'], dictionary: builder.finish(), maps: new Map(), isComplete: true }
}

test('traces, of which few lie in two segments, are local', () => {
  const traces = dictionaryOf([
    ['a', 'b', 'c'],
    ['c', 'd', 'e'],
  ])
  expect(localGroupingKey(plan, [traces])).toBe(0)
})

test('users, most of whom are in both segments, are not', () => {
  const users = dictionaryOf([
    ['a', 'b', 'c'],
    ['a', 'b', 'd'],
    ['c', 'a', 'b'],
  ])
  expect(localGroupingKey(plan, [users])).toBeUndefined()
})
