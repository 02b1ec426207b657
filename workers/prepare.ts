/** Parses and checks the bodies of large write requests, off the main thread. */
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { toAssayError } from '../src/error.ts'
import { type PrepareOutcome, type PrepareTask, prepareRows } from '../src/storage/prepare.ts'

/** Answers with rows whose memory is handed over, not copied. */
export default function prepare({ body, options }: PrepareTask): unknown {
  try {
    const rows = prepareRows(body, options)
    const outcome: PrepareOutcome = { rows }
    return move({ [transferableSymbol]: [rows.bytes.buffer], [valueSymbol]: outcome })
  } catch (thrown) {
    return { error: toAssayError(thrown).toWire() } satisfies PrepareOutcome
  }
}
