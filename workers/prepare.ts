/** Parses and checks the bodies of large write requests, off the main thread. */
import { toAssayError } from '../src/error.ts'
import { type PrepareOutcome, type PrepareTask, prepareRows } from '../src/storage/prepare.ts'

/**
 * Answers with rows in shared memory, which the writer then reads in place. To hand over memory of
 * its own would detach it, after which all typed arrays of the thread, which queries share, are slow.
 */
export default function prepare({ body, options }: PrepareTask): PrepareOutcome {
  try {
    const rows = prepareRows(body, options)
    return { rows: { ...rows, bytes: shared(rows.bytes), blockBytes: shared(rows.blockBytes) } }
  } catch (thrown) {
    return { error: toAssayError(thrown).toWire() }
  }
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
