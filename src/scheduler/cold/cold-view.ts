/** What of a snapshot is read of the cluster. */
import { ExportFault } from '../../clickhouse/fault.ts'
import { ColdReader } from '../../clickhouse/read/cold-reader.ts'
import { AssayError } from '../../error.ts'

export { ColdReader }

export interface ColdView {
  /** Rows of this transaction and earlier ones. */
  readonly exportedThrough: number
  readonly reader: ColdReader
}

/** Of a snapshot's transaction; undefined where all of it is here. */
export function coldViewAt(
  through: number,
  reader: ColdReader,
  { transaction, since }: { readonly transaction: number; readonly since: number },
): ColdView | undefined {
  const exportedThrough = Math.min(through, transaction)
  return exportedThrough > since ? { exportedThrough, reader } : undefined
}

/** The same, with what went wrong as an error that whoever asked is told. */
export async function* faultsTold<Of>(of: AsyncIterable<Of>): AsyncGenerator<Of> {
  try {
    yield* of
  } catch (thrown) {
    if (!(thrown instanceof ExportFault)) throw thrown
    const code = thrown.kind === 'unreachable' ? 'BACKEND_UNAVAILABLE' : 'BACKEND_FAILED'
    throw new AssayError(code, `older records are in ClickHouse: ${thrown.message}`, {
      cause: thrown,
    })
  }
}
