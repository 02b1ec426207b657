/**
 * To be imported before a service: how much of a processor the turns of its main thread took. It looks every millisecond
 * and writes each time that was longer than others should be into the file TURN_WATCH_FILE, a line of milliseconds each.
 * What is counted is the thread's own time, whatever else the machine does. Linux only.
 */
import { appendFileSync, openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env.TURN_WATCH_FILE
const leastMs = 5

if (isMainThread && file && process.argv.includes('serve')) {
  const status = openSync(`/proc/self/task/${process.pid}/schedstat`)
  const bytes = Buffer.alloc(64)
  const processorMs = () => {
    readSync(status, bytes, 0, bytes.length, 0)
    return Number(bytes.latin1Slice(0, bytes.indexOf(' '))) / 1e6
  }
  let before = processorMs()
  setInterval(() => {
    const now = processorMs()
    if (now - before >= leastMs) appendFileSync(file, `${now - before}\n`)
    before = processorMs()
  }, 1)
}
