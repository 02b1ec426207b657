/** What tasks and their results weigh, without looking closely. */
import type { Task } from './task.ts'

/** Bytes that a task was given of what others have found, but for dictionaries, which stay. */
export function givenBytes(task: Task): number {
  const lent = 'lent' in task ? (task.lent ?? []) : []
  return lent.reduce((sum, { byteLength }) => sum + byteLength, foundBytes(task))
}

function foundBytes(task: Task): number {
  switch (task.kind) {
    case 'take groups':
      return bytesOf(task.parts) + bytesOf(task.others ?? [])
    case 'order':
      return bytesOf(task.lists)
    case 'finish':
      return bytesOf(task.input.kind === 'rows' ? task.input.lists : task.input.partials)
    case 'print':
    case 'infer form':
      return bytesOf(task.relation)
    default:
      return 0
  }
}

/** Values all over a list, whose size is taken for that of all: the first of sorted ones may be the longest. */
const sampledValues = 64
const valueBytes = 16

/** About as many as it takes; memory that several arrays share counts once. */
export function bytesOf(part: unknown, counted = new Set<ArrayBufferLike>()): number {
  if (part instanceof SharedArrayBuffer) return part.byteLength
  if (ArrayBuffer.isView(part)) {
    if (counted.has(part.buffer)) return 0
    counted.add(part.buffer)
    return part.byteLength
  }
  if (typeof part === 'string') return valueBytes + 2 * part.length
  if (typeof part !== 'object' || part === null) return valueBytes
  const values: readonly unknown[] = Array.isArray(part) ? part : Object.values(part)
  const isSampled = Array.isArray(part) && values.length > sampledValues
  const sample = isSampled
    ? Array.from({ length: sampledValues }, (_, i) => {
        return values[Math.floor((i * values.length) / sampledValues)]
      })
    : values
  const bytes = sample.reduce<number>((sum, value) => sum + bytesOf(value, counted), valueBytes)
  return isSampled ? (bytes * values.length) / sampledValues : bytes
}
