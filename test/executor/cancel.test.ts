/** A task whose query was cancelled reads no further batch, whatever is left of its inputs. */
import { expect, test } from 'vitest'
import { runTask } from '../../src/executor/run-task.ts'
import { sharedInputs } from '../../src/executor/task/shared-inputs.ts'
import type { ScanTask } from '../../src/executor/task/task.ts'
import { context, planOf, ScannedRecords } from '../support/scan-task.ts'

const records = Array.from({ length: 4 }, (_, n) => ({ id: `r${n}`, metadata: { n } }))
const units = 50

test('tasks of a cancelled query end before their next batch', () => {
  ScannedRecords.during(records, (scanned) => {
    const cancelled = new Int32Array(new SharedArrayBuffer(4))
    const ranges = Array.from({ length: units }, () => [scanned.segmentRows(0, records.length)])
    const waiting = new Int32Array(new SharedArrayBuffer(4))
    const { inputs, share } = sharedInputs(ranges, 2, waiting)
    const opened: number[] = []
    const task: ScanTask = {
      kind: 'scan',
      plan: planOf({ stage: { kind: 'groups', keys: [], aggregates: [], row: undefined } }),
      context,
      semiJoinSets: [],
      dictionaries: [],
      localGrouping: undefined,
      snapshot: { transaction: 2 ** 48 - 2 },
      inputs,
      share,
      wanted: Number.POSITIVE_INFINITY,
      threshold: undefined,
      mayBePartial: false,
      budgetBytes: Number.POSITIVE_INFINITY,
      cancelled,
    }
    const storage = {
      ...scanned.storage,
      openSegment: (segment: number) => {
        // The client leaves while the third of the fifty is being read.
        if (opened.push(segment) === 3) Atomics.store(cancelled, 0, 1)
        return scanned.storage.openSegment(segment)
      },
    }
    const outcomes = [runTask(task, storage), runTask(task, storage)]
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ error: { code: 'QUERY_CANCELLED' } })
    }
    // Each of two tasks may have begun with one more, which it does not read.
    expect(opened.length).toBeLessThanOrEqual(4)
  })
})
