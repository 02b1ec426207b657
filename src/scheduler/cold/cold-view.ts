/** What of a snapshot is read of the cluster. */
import { ExportFault } from '../../clickhouse/fault.ts'
import { ColdReader } from '../../clickhouse/read/cold-reader.ts'
import { AssayError } from '../../error.ts'
import type { SupersedingRange } from '../../storage/read/superseded-rows.ts'

export { ColdReader }

export interface ColdView {
  /** Rows of this transaction and earlier ones. */
  readonly exportedThrough: number
  /** Of the export that they arrived with. */
  readonly round: string
  readonly reader: ColdReader
  /** Whether the object has any such rows. */
  readonly hasRows: (object: number) => boolean
  /**
   * What nodes are to have so that they know of all such rows of the objects that the snapshot does not see any more; undefined:
   * they do not all know it yet.
   */
  readonly endsKnownWith: (objects: readonly number[]) => number | undefined
  /** The same with rows that are here, too, as far as the ends of those of the objects are known. */
  readonly furthest: (objects: readonly number[]) => ColdView
}

/** Up to which transaction rows are cold, and up to which they have arrived; of which export. */
export interface ColdThrough {
  readonly through: number
  readonly arrived: number
  readonly round: string
}

/** What is known here of an object. */
export interface ColdObjects {
  /** The first transaction that wrote to it, of those of which rows are left. */
  readonly firstOf: (object: number) => number | undefined
  /** Whether versions may have been superseded so. */
  readonly mayEnd: (object: number, range: SupersedingRange) => boolean
}

/**
 * Of a snapshot's transaction; undefined where all of it is here.
 *
 * @param removing objects of which rows were removed here that the cluster may still have
 */
export function coldViewAt(
  { through, arrived, round }: ColdThrough,
  reader: ColdReader,
  objects: ColdObjects,
  { transaction, since }: { readonly transaction: number; readonly since: number },
  removing: ReadonlySet<number>,
): ColdView | undefined {
  const exportedThrough = Math.min(through, transaction)
  if (exportedThrough <= since) return undefined
  const arrivedThrough = Math.max(exportedThrough, Math.min(arrived, transaction))
  return viewThrough(exportedThrough, {
    arrivedThrough,
    transaction,
    round,
    reader,
    objects,
    removing,
  })
}

interface ViewOptions {
  readonly arrivedThrough: number
  readonly transaction: number
  readonly round: string
  readonly reader: ColdReader
  readonly objects: ColdObjects
  readonly removing: ReadonlySet<number>
}

function viewThrough(exportedThrough: number, options: ViewOptions): ColdView {
  const { arrivedThrough, transaction, round, reader, removing } = options
  const { firstOf, mayEnd } = options.objects
  const known = new Map<number, boolean>()
  const hasRows = (object: number): boolean => {
    const has =
      known.get(object) ?? (firstOf(object) ?? Number.POSITIVE_INFINITY) <= exportedThrough
    if (has && removing.has(object)) throw removalUnderWay()
    known.set(object, has)
    return has
  }
  const range = { after: arrivedThrough, through: transaction, version: exportedThrough }
  const ends = new Map<number, boolean>()
  const mayEndLater = (object: number): boolean => {
    const may = ends.get(object) ?? (arrivedThrough < transaction && mayEnd(object, range))
    ends.set(object, may)
    return may
  }
  const endsKnownWith = (objects: readonly number[]) =>
    objects.some((object) => hasRows(object) && mayEndLater(object)) ? undefined : arrivedThrough
  const view: ColdView = {
    exportedThrough,
    round,
    reader,
    hasRows,
    endsKnownWith,
    furthest: (objects) => {
      for (let back = 0; arrivedThrough - back > exportedThrough; back = nextStep(back)) {
        const further = viewThrough(arrivedThrough - back, options)
        if (further.endsKnownWith(objects) !== undefined) return further
      }
      return view
    },
  }
  return view
}

/** What was written last is changed most often, as spans that end: soon there is a place before all that was. */
function nextStep(back: number): number {
  return Math.max(16, 16 * back)
}

function removalUnderWay(): AssayError {
  return new AssayError(
    'BACKEND_UNAVAILABLE',
    'rows that were removed here are being removed from ClickHouse, which alone has older records',
    { hint: 'try again in some seconds', retryAfterSeconds: 2 },
  )
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
