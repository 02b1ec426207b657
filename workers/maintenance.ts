/** The thread that writes segments and tidies records: one per data directory. */
import { workerData } from 'node:worker_threads'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import { openRecords, openSegments } from '../src/storage/environment.ts'
import { giveWay } from '../src/storage/give-way.ts'
import {
  findVersions,
  type VersionAnswer,
  type VersionQuestion,
} from '../src/storage/maintenance/find-versions.ts'
import {
  answerLost,
  type LostAnswer,
  type LostQuestion,
  type MaintenanceStep,
  runStep,
  type StepOutcome,
} from '../src/storage/maintenance/maintenance-step.ts'
import { type ScrubAnswer, Scrubber, type ScrubStep } from '../src/storage/maintenance/scrub.ts'
import { checkpoint, hasGivenWay } from '../src/storage/maintenance/step-control.ts'
import { SegmentStore } from '../src/storage/segment/segment-store.ts'
import { storageError } from '../src/storage/storage-error.ts'
import { openWhenAble } from './open-when-able.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

const { directory, control, runningTasks } = workerData as {
  readonly directory: string
  readonly runningTasks: Int32Array
  /** See `StepControl`. */
  readonly control: Int32Array
}
const opened = openWhenAble(() => {
  const segments = new SegmentStore(openSegments(directory, { readOnly: false }))
  const records = openRecords(directory, { readOnly: false })
  return { segments, records, scrubber: new Scrubber(records, segments) }
})
lowerThreadPriority(niceness.segments)
giveWay(runningTasks)

/** Carries out one step. What fails has changed nothing that counts and may be tried again. */
export default function maintain(
  step: MaintenanceStep | LostQuestion | ScrubStep | VersionQuestion,
): StepOutcome | LostAnswer | ScrubAnswer | VersionAnswer {
  let segments: SegmentStore | undefined
  try {
    const { records, segments: store, scrubber } = opened()
    segments = store
    if (step.kind === 'scrub') return { scrubbed: scrubber.step(step) }
    if (step.kind === 'versions') return { versions: findVersions(step, records) }
    if (step.kind === 'lost') return { lost: answerLost(step, records, store) }
    return { changed: runStep(step, records, store, () => checkpoint(control)) }
  } catch (thrown) {
    if (hasGivenWay(thrown)) return { changed: false }
    return { error: storageError('the segments', thrown, directory).toWire() }
  } finally {
    segments?.endReads()
    releaseWhenIdle()
  }
}
