/** What the main thread merges by itself: little, by the number of groups and by what they hold. */
import { expect, test } from 'vitest'
import { keyColumn } from '../../src/executor/column/key-column.ts'
import { plainValues } from '../../src/executor/column/wire-values.ts'
import type { PartialGroups } from '../../src/executor/task/task.ts'
import { isShortFinish, isShortPrint } from '../../src/scheduler/cost/cost.ts'
import { field, planOf } from '../support/scan-task.ts'

const plan = planOf({
  stage: { kind: 'groups', keys: [field('model')], aggregates: [], row: undefined },
})

/** As many values, all of one group. */
function collected(count: number): PartialGroups {
  const texts = Array.from({ length: count }, (_, i) => `value ${i}`)
  const codes = Int32Array.from(texts, (_, i) => i)
  const groups = new Int32Array(count)
  return {
    kind: 'groups',
    groupCount: 1,
    keys: [keyColumn(['a'])],
    states: [{ kind: 'collected', groups, codes, values: keyColumn(texts) }],
    rows: undefined,
    preferred: undefined,
    rowValues: [],
  }
}

function isShort(partial: PartialGroups): boolean {
  const partials = [partial, partial]
  return isShortFinish(plan, { kind: 'groups', partials, local: [], dictionaries: [] })
}

test.each([
  [10, true],
  [1000, true],
  [100_000, false],
])('one group of %i values', (count, short) => {
  expect(isShort(collected(count))).toBe(short)
})

test('many groups', () => {
  const partial = (groupCount: number) => ({ ...collected(10), groupCount })
  expect([100, 1000, 10_000].map((count) => isShort(partial(count)))).toEqual([true, true, false])
})

test.each([
  [10, true],
  [1000, true],
  [100_000, false],
])('one row with a list of %i values is printed there', (count, short) => {
  const list = Array.from({ length: count }, (_, i) => `value ${i}`)
  const relation = { rowCount: 1, rows: undefined, fields: [], groupColumns: [plainValues([list])] }
  expect(isShortPrint(relation)).toBe(short)
})
