import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { AssayError } from '../error.ts'
import type { PrepareOptions, PrepareOutcome, PrepareTask } from '../storage/prepare.ts'
import type { PreparedRows } from '../storage/prepared-rows.ts'

const filename = fileURLToPath(
  new URL(`../../workers/prepare${import.meta.url.slice(-3)}`, import.meta.url),
)

/**
 * Prepares the rows of `body` on a thread of `pool`. The body's memory moves there when all of it
 * is the body's own, and is copied otherwise.
 */
export async function prepareInWorker(
  pool: Piscina,
  body: Uint8Array<ArrayBuffer>,
  options: PrepareOptions,
): Promise<PreparedRows> {
  const task: PrepareTask = { body, options }
  const isWhole = body.byteLength === body.buffer.byteLength
  const transferList = isWhole ? [body.buffer] : []
  const outcome = (await pool.run(task, { filename, transferList })) as PrepareOutcome
  if ('error' in outcome) throw AssayError.fromWire(outcome.error)
  return outcome.rows
}
