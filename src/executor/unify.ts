import { assert } from '../error.ts'
import { type SharedDictionary, SharedDictionaryBuilder } from '../vector/shared-dictionary.ts'
import type { TaskStorage } from './scan/row-run.ts'
import type { UnifyResult, UnifyTask } from './task/task.ts'
import { checkCancelled, isCancelled } from './thread/cancelled.ts'

/**
 * Adds the texts that a field has in some segments to its shared dictionary. When nobody waits for it any more,
 * what was added by then is kept: other queries want it, too.
 */
export function runUnify(task: UnifyTask, storage: TaskStorage): UnifyResult {
  const builder = new SharedDictionaryBuilder(task.id, task.dictionary, checkCancelled)
  if (task.homes) builder.setHomes(task.homes)
  const maps: Int32Array[] = []
  for (const segment of task.segments) {
    const column = storage.openSegment(segment).columns(task.path)?.text
    assert(column, 'a field is numbered in a segment that has no texts of it')
    try {
      maps.push(builder.add(column, segment))
    } catch (thrown) {
      if (!isCancelled()) throw thrown
      break
    }
    if (builder.byteLength > task.maximumBytes)
      return { kind: 'unify', dictionary: undefined, maps: [] }
  }
  const dictionary: SharedDictionary = builder.finish()
  return { kind: 'unify', dictionary, maps }
}
