/** Asks for the health of a service every 50 ms, in a thread of its own: how long the longest answer took since it was asked. */
import { get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const everyMs = 50
const open = new Set()
let longest = 0

setInterval(() => {
  // Further ones would only wait behind these.
  if (open.size >= 10) return
  const started = performance.now()
  const done = () => {
    open.delete(started)
    longest = Math.max(longest, performance.now() - started)
  }
  open.add(started)
  const request = get(`${workerData.url}/healthz`, (response) => response.resume().on('end', done))
  request.on('error', done)
}, everyMs)

parentPort.on('message', () => {
  const now = performance.now()
  parentPort.postMessage(Math.max(longest, ...Array.from(open, (started) => now - started)))
  longest = 0
})
