/**
 * Inputs that several tasks share. Each task takes the next morsel when it is done with the one before, so
 * that all of them end at about the same time, each thread collects what it finds in one place, and a
 * query needs no more messages than there are threads.
 *
 * A thread takes morsels of its own segments and memtables first, always the same ones, then what others have left: what it
 * keeps of those that it has read serves its next query, and is not kept by all threads.
 */
import type { SharedInputs, TaskInput } from './task.ts'

let threadNumber = 0

/** Tells which of the threads that share inputs this one is, from 0 on. */
export function numberThread(number: number): void {
  threadNumber = number
}

/** Morsels of inputs, to be taken by as many tasks at a time. */
export function sharedInputs(
  morsels: readonly (readonly TaskInput[])[],
  tasks: number,
  waiting: Int32Array,
): { readonly inputs: readonly TaskInput[]; readonly share: SharedInputs } {
  const starts = new Int32Array(morsels.length + 1)
  for (const [i, morsel] of morsels.entries()) starts[i + 1] = starts[i]! + morsel.length
  const taken = new Int32Array(new SharedArrayBuffer(4 * (morsels.length + 1)))
  return { inputs: morsels.flat(), share: { taken, starts, tasks, waiting } }
}

/** Whether all morsels were taken, if not read. */
export function isTaken({ taken, starts }: SharedInputs): boolean {
  return Atomics.load(taken, 0) >= starts.length - 1
}

/**
 * The inputs that are this task's, as it comes to them.
 *
 * @param isFull whether the task has found so much that another had better go on
 * @param mayGiveWay whether it may end because others wait: what it has found is then sent, and put together, by itself
 */
export function* takeInputs(
  inputs: readonly TaskInput[],
  share: SharedInputs | undefined,
  isFull: () => boolean = () => false,
  mayGiveWay: () => boolean = () => true,
): Generator<TaskInput> {
  if (!share) {
    yield* inputs
    return
  }
  const { waiting } = share
  for (const morsel of ownFirst(inputs, share)) {
    if (!take(morsel, share)) continue
    yield* inputs.slice(share.starts[morsel], share.starts[morsel + 1])
    if ((Atomics.load(waiting, 0) > 0 && mayGiveWay()) || isFull()) return
  }
}

/** Numbers of morsels: those of this thread in their order, then the others in theirs. */
function* ownFirst(
  inputs: readonly TaskInput[],
  { starts, tasks }: SharedInputs,
): Generator<number> {
  const isOwn = (morsel: number) => {
    return (numberOf(inputs[starts[morsel]!], morsel) + threadNumber) % tasks === 0
  }
  for (const own of [true, false]) {
    for (let morsel = 0; morsel < starts.length - 1; morsel++)
      if (isOwn(morsel) === own) yield morsel
  }
}

/** By which a morsel is the same one in the next query, where it has rows that a thread may have opened. */
function numberOf(input: TaskInput | undefined, morsel: number): number {
  if (input?.kind === 'segment') return input.segment
  return input?.kind === 'memtable' ? input.memtable : morsel
}

/** Whether no other task has taken the morsel. */
function take(morsel: number, { taken }: SharedInputs): boolean {
  if (Atomics.exchange(taken, morsel + 1, 1) === 1) return false
  Atomics.add(taken, 0, 1)
  return true
}
