import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { AssayError } from '../error.ts'
import type { PrepareOptions, PrepareOutcome, PrepareTask } from '../storage/prepare.ts'
import type { PreparedRows } from '../storage/prepared-rows.ts'

const filename = fileURLToPath(
  new URL(`../../workers/prepare${import.meta.url.slice(-3)}`, import.meta.url),
)

/**
 * A body of so many bytes moves to the other thread; a smaller one is copied, because all typed
 * arrays of a thread become slow when memory of one is detached.
 */
const movedBytes = 32 * 2 ** 20

/** Prepares the rows of `body` on a thread of `pool`. Its memory may be taken. */
export async function prepareInWorker(
  pool: Piscina,
  body: Uint8Array,
  options: PrepareOptions,
): Promise<PreparedRows> {
  const task: PrepareTask = { body, options }
  const isMoved = body.length >= movedBytes && body.length === body.buffer.byteLength
  const transferList = isMoved ? [body.buffer as ArrayBuffer] : []
  const outcome = (await pool.run(task, { filename, transferList })) as PrepareOutcome
  if ('error' in outcome) throw AssayError.fromWire(outcome.error)
  return outcome.rows
}
