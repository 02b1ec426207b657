/** Parses and checks the bodies of large write requests, off the main thread. */
import { toAssayError } from '../src/error.ts'
import { type PrepareOutcome, type PrepareTask, prepareRows } from '../src/storage/prepare.ts'

/** Answers with rows whose bytes are copied: why, `query.ts` tells, whose threads run this too. */
export default function prepare({ body, options }: PrepareTask): PrepareOutcome {
  try {
    const rows = prepareRows(body, options)
    // What lies around a view would be copied with it.
    return { rows: { ...rows, bytes: new Uint8Array(rows.bytes) } }
  } catch (thrown) {
    return { error: toAssayError(thrown).toWire() }
  }
}
