/** A thread that reads the first segment's columns and tells by how much its memory has grown. */
import { parentPort, workerData } from 'node:worker_threads'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { segmentKey } from './segment-values.ts'

const environment = openSegments(workerData as string, { readOnly: true })
const before = process.memoryUsage().arrayBuffers
const bytes = environment.columns.getBinaryFast(segmentKey(0))!
const grown = process.memoryUsage().arrayBuffers - before
parentPort!.postMessage({ grown, length: bytes.length, last: bytes.at(-1) })
await closeSegments(environment)
