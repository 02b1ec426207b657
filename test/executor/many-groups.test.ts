/** A task that finishes its groups ends once it has many, so that the next begins with room for their states. */
import { expect, test } from 'vitest'
import { runScan } from '../../src/executor/scan.ts'
import { isTaken, sharedInputs } from '../../src/executor/task/shared-inputs.ts'
import type { GroupsResult, ScanTask } from '../../src/executor/task/task.ts'
import { runUnify } from '../../src/executor/unify.ts'
import type { RelationStage } from '../../src/planner/physical-plan.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { context, field, planOf, ScannedRecords } from '../support/scan-task.ts'
import { versionedRow } from '../support/versioned-row.ts'

const path = ['root_span_id']
const many = 65_536

const set = shred(
  Array.from({ length: many }, (_, n) => {
    const json = JSON.stringify({ id: `${n}`, root_span_id: `trace ${n}` })
    return versionedRow(json, { version: { transaction: 1000 + n, index: 0 } })
  }),
)
const { metadata } = writeSegment(set, 1)

/** Scans the rows up to `to`, then one more; tells whether the same task did both. */
function isOneTask(to: number, isLocal: boolean): boolean {
  let isOne = false
  ScannedRecords.during([{ id: 'a' }], (scanned) => {
    const storage = { ...scanned.storage, openSegment: () => set, segmentMetadata: () => metadata }
    const unlimited = { maximumBytes: 1e9, homes: undefined, cancelled: undefined }
    const unify = { kind: 'unify', id: 1, dictionary: undefined, path, segments: [1] } as const
    const { dictionary, maps } = runUnify({ ...unify, ...unlimited }, storage)
    const units = [[scanned.segmentRows(0, to)], [scanned.segmentRows(many - 1, many)]]
    const { inputs, share } = sharedInputs(units, 1, new Int32Array(1))
    const open = new Int32Array(0)
    const stages: RelationStage[] = [
      { kind: 'sort', keys: [] },
      { kind: 'limit', count: 3, offset: 0 },
    ]
    const stage = {
      kind: 'groups',
      keys: [field(...path)],
      aggregates: [],
      row: undefined,
    } as const
    const task: ScanTask = {
      kind: 'scan',
      plan: planOf({ stage, stages }),
      context,
      semiJoinSets: [],
      dictionaries: [
        { path, dictionary: dictionary!, maps: new Map([[1, maps[0]!]]), isComplete: true },
      ],
      localGrouping: isLocal ? { key: 0, segments: [1], open } : undefined,
      snapshot: { transaction: 2 ** 48 - 2 },
      inputs,
      share,
      wanted: Number.POSITIVE_INFINITY,
      threshold: undefined,
      mayBePartial: false,
      budgetBytes: Number.POSITIVE_INFINITY,
      cancelled: undefined,
    }
    const { groupCount } = runScan(task, storage) as GroupsResult
    expect(groupCount).toBe(isLocal ? 0 : many)
    isOne = isTaken(share)
  })
  return isOne
}

test('only with many groups, and only where they are local', () => {
  expect(isOneTask(many, true)).toBe(false)
  expect(isOneTask(many - 1, true)).toBe(true)
  expect(isOneTask(many, false)).toBe(true)
})
