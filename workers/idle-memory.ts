/**
 * Gives back what tasks have left behind, once a thread has nothing to do: V8 looks for what is of no use any
 * more only when it is asked for memory, so a thread kept a gigabyte of decompressed texts, as much as a sort by
 * a long text of 10 M rows had read, until the next large query.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Of arrays beyond those that were there after the last time. */
const muchBytes = 128 * 2 ** 20
const idleMs = 1000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let keptBytes = 0
const timer = setTimeout(release, idleMs)
timer.unref()

/** To be called when a task ends. */
export function releaseWhenIdle(): void {
  timer.refresh()
}

function release(): void {
  if (process.memoryUsage().arrayBuffers < keptBytes + muchBytes) return
  collect()
  keptBytes = process.memoryUsage().arrayBuffers
}
