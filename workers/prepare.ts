/** Parses and checks the bodies of large write requests, off the main thread. */
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { toAssayError, type WireError } from '../src/error.ts'
import { type PrepareOptions, prepareRows } from '../src/storage/prepare.ts'
import type { PreparedRows } from '../src/storage/prepared-rows.ts'

export interface PrepareTask {
  readonly body: Uint8Array
  readonly options: PrepareOptions
}

export type PrepareOutcome = { readonly rows: PreparedRows } | { readonly error: WireError }

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
