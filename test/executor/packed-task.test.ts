/** A task is the same on the other side, whatever it reads; a plan that comes again is the one that was read before. */
import { expect, test } from 'vitest'
import { packTask, unpackTask } from '../../src/executor/task/packed-task.ts'
import type { AnswerTask, FinishTask, ScanTask, TaskInput } from '../../src/executor/task/task.ts'
import { context, planOf } from '../support/scan-task.ts'

const stage = { kind: 'groups', keys: [], aggregates: [], row: undefined } as const

const segment: TaskInput = {
  kind: 'segment',
  segment: 7,
  object: 3,
  from: 8192,
  to: 56_001,
  mayBeNewer: true,
}
const memtable: TaskInput = {
  kind: 'memtable',
  memtable: 12,
  memory: new SharedArrayBuffer(64),
  object: 3,
  from: 0,
  to: 1000,
  mayBeNewer: false,
}
const otherMemtable: TaskInput = {
  ...memtable,
  memtable: 13,
  memory: new SharedArrayBuffer(8),
  from: 10,
}
const logRange: TaskInput = {
  kind: 'log',
  object: 3,
  logRanges: [{ object: 3, after: 5, through: 9 }],
}
const records: TaskInput = { kind: 'records', object: 3, ids: ['a', 'b'] }
const others = [records, { ...segment, segment: 0, mayBeNewer: false }]
const inputs = [logRange, otherMemtable, segment, memtable, ...others]

function scanOf(parts: Partial<ScanTask>): ScanTask {
  return {
    kind: 'scan',
    plan: planOf({ stage }),
    context,
    semiJoinSets: [],
    dictionaries: [],
    localGrouping: undefined,
    snapshot: { transaction: 9 },
    inputs,
    share: undefined,
    wanted: Number.POSITIVE_INFINITY,
    threshold: undefined,
    mayBePartial: false,
    budgetBytes: Number.POSITIVE_INFINITY,
    cancelled: undefined,
    ...parts,
  }
}

/** As a message takes it. */
function sent<T extends ScanTask | AnswerTask | FinishTask>(task: T): T {
  return unpackTask(structuredClone(packTask(task))) as T
}

function memoryBytes({ inputs }: ScanTask): number[] {
  return inputs.flatMap((input) => (input.kind === 'memtable' ? input.memory.byteLength : []))
}

test('scans come with their plan and all inputs in their order', () => {
  const task = scanOf({})
  expect(sent(task)).toEqual(task)
  expect(memoryBytes(sent(task))).toEqual([8, 64])
  expect(sent(scanOf({ inputs: [] })).inputs).toEqual([])
})

test('a whole answer comes with its scan', () => {
  const form = { kind: 'json', separator: ',' } as const
  const task: AnswerTask = {
    kind: 'answer',
    scan: scanOf({}),
    known: undefined,
    bound: undefined,
    form,
    printedBytes: 1,
  }
  expect(sent(task)).toEqual(task)
})

test('a plan is read once, by tasks of any kind; another plan is another one', () => {
  const plan = planOf({ stage })
  const first = sent(scanOf({ plan }))
  const finish: FinishTask = {
    kind: 'finish',
    plan,
    context,
    semiJoinSets: [],
    input: { kind: 'groups', partials: [], local: [], dictionaries: [] },
    segments: [],
    cancelled: undefined,
  }
  expect(first.plan).not.toBe(plan)
  expect(sent(scanOf({ plan, inputs: [] })).plan).toBe(first.plan)
  expect(sent(finish).plan).toBe(first.plan)
  const other = planOf({ stage, limit: 3 })
  expect(sent(scanOf({ plan: other })).plan).toEqual(other)
})
