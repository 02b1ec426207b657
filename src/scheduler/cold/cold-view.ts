/** What of a snapshot is read of the cluster. */
import { ExportFault } from '../../clickhouse/fault.ts'
import { ColdReader } from '../../clickhouse/read/cold-reader.ts'
import { AssayError } from '../../error.ts'

export { ColdReader }

export interface ColdView {
  /** Rows of this transaction and earlier ones. */
  readonly exportedThrough: number
  /** Of the export that they arrived with. */
  readonly round: string
  readonly reader: ColdReader
  /** Whether the object has any such rows. */
  readonly hasRows: (object: number) => boolean
}

/** Up to which transaction rows are cold, of which export. */
export interface ColdThrough {
  readonly through: number
  readonly round: string
}

/**
 * Of a snapshot's transaction; undefined where all of it is here.
 *
 * @param firstOf the first transaction that wrote to an object, of those of which rows are left
 */
export function coldViewAt(
  { through, round }: ColdThrough,
  reader: ColdReader,
  firstOf: (object: number) => number | undefined,
  { transaction, since }: { readonly transaction: number; readonly since: number },
): ColdView | undefined {
  const exportedThrough = Math.min(through, transaction)
  if (exportedThrough <= since) return undefined
  const known = new Map<number, boolean>()
  const hasRows = (object: number): boolean => {
    const has =
      known.get(object) ?? (firstOf(object) ?? Number.POSITIVE_INFINITY) <= exportedThrough
    known.set(object, has)
    return has
  }
  return { exportedThrough, round, reader, hasRows }
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
