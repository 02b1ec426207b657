/** What the metadata of a segment says of the fields of an object's rows in it. */
import { decodeUtf8 } from '../../json/utf8.ts'
import type {
  ColumnMetadata,
  NumberColumnMetadata,
  NumberZones,
  ObjectRows,
  SegmentMetadata,
} from '../../storage/segment/metadata.ts'
import { formatPaginationKey, formatTransaction } from '../../type/transaction.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { SemiJoinSet } from '../expression/semi-join-set.ts'
import { type Held, heldAt, SegmentColumns } from './segment-columns.ts'

/** Lists beyond this are not compared with every granule. */
export const longList = 64

type Bounds<T> = { readonly minimum: T; readonly maximum: T | undefined } | undefined | 'unknown'

interface GranuleSum {
  readonly sum: number
  /** What rounding has taken from it. */
  readonly rest: number
  readonly count: number
}

/** How many rows of a granule have a value of a column that has nulls; undefined when nobody has counted. */
function countIn(column: ColumnMetadata, granule: number): number | undefined {
  const isCounted = column.type === 'number' || column.type === 'timestamp'
  return isCounted ? column.granuleCounts?.[granule] : undefined
}

/** What is known of the fields of an object's rows, in the whole segment or in one granule. */
export class Zones {
  readonly #metadata: SegmentMetadata
  readonly #rows: ObjectRows
  readonly #semiJoinSets: readonly SemiJoinSet[]
  /** The granule that is asked about; undefined for all rows. */
  granule: number | undefined

  constructor(metadata: SegmentMetadata, rows: ObjectRows, semiJoinSets: readonly SemiJoinSet[]) {
    this.#metadata = metadata
    this.#rows = rows
    this.#semiJoinSets = semiJoinSets
  }

  /** The object's traces in a set; unknown when they are many, too. */
  tracesIn(set: number): readonly string[] | 'unknown' {
    const known = this.#semiJoinSets[set]
    if (!known || known.numbered) return 'unknown'
    const texts = known.traces[known.objects.indexOf(this.#rows.object)]
    if (!texts) return []
    const { bytes, offsets } = texts
    const count = offsets.length - 1
    if (count > longList) return 'unknown'
    return Array.from({ length: count }, (_, i) => decodeUtf8(bytes, offsets[i]!, offsets[i + 1]!))
  }

  /** What holds all numbers, or times, at the path. */
  numberColumn(path: Path, type: 'number' | 'timestamp'): NumberZones | undefined | 'unknown' {
    const columns = this.#columns(path)
    if (columns === 'unknown') return 'unknown'
    // Integers past 2^53 are JSON; texts may be times.
    const alsoHeldBy = type === 'number' ? 'json' : 'text'
    if (columns.some((column) => column.type === alsoHeldBy)) return 'unknown'
    const column = columns.find((candidate) => candidate.type === type)
    return column as NumberColumnMetadata | undefined
  }

  numberBounds(path: Path, type: 'number' | 'timestamp'): Bounds<number> {
    const column = this.numberColumn(path, type)
    if (column === undefined || column === 'unknown') return column
    if (this.granule !== undefined) {
      const minimum = column.granuleMinimums[this.granule]!
      const maximum = column.granuleMaximums[this.granule]!
      return minimum === null || maximum === null ? undefined : { minimum, maximum }
    }
    const { firstCreated, lastCreated } = this.#rows
    if (path.length === 1 && path[0] === 'created' && firstCreated !== null) {
      return { minimum: firstCreated, maximum: lastCreated! }
    }
    return column
  }

  /** The bounds of a field that has values of this kind and no other. */
  onlyBounds(path: Path, kind: 'number' | 'timestamp') {
    const columns = this.#columns(path)
    if (columns === 'unknown') return undefined
    const isOnly = columns.every(({ type }) => type === kind || type === 'nulls')
    const bounds = isOnly ? this.numberBounds(path, kind) : undefined
    return bounds === 'unknown' ? undefined : bounds
  }

  /** Numbers of the granule that is asked about: of a field that has numbers and nothing else. */
  sumOf(path: Path): GranuleSum | undefined {
    const columns = this.#columns(path)
    const { granule } = this
    if (columns === 'unknown' || granule === undefined) return undefined
    const [column, ...others] = columns.filter(({ type }) => type !== 'nulls')
    if (column?.type !== 'number' || others.length > 0) return undefined
    const sum = column.granuleSums?.[granule] ?? undefined
    const count = this.#countIn(column, granule)
    if (sum === undefined || count === undefined || column.granuleErrors) return undefined
    return { sum, rest: column.granuleRests?.[granule] ?? 0, count }
  }

  /** In how many rows the field has a value. */
  countOf(path: Path): number | undefined {
    const { granule } = this
    if (granule === undefined) {
      const present = SegmentColumns.of(this.#metadata).presentAt(path)
      return present === 'unknown' ? undefined : present
    }
    const columns = this.#columns(path)
    if (columns === 'unknown') return undefined
    let count = 0
    for (const column of columns) {
      if (column.type === 'nulls') continue
      // A row has a value in one column at most.
      if (column.nullCount === 0) return this.#rowsIn(granule)
      const counted = countIn(column, granule)
      if (counted === undefined) return undefined
      count += counted
    }
    return count
  }

  #countIn(column: NumberColumnMetadata, granule: number): number | undefined {
    return column.nullCount === 0 ? this.#rowsIn(granule) : countIn(column, granule)
  }

  #rowsIn(granule: number): number {
    return Math.min(granuleRows, this.#metadata.rowCount - granule * granuleRows)
  }

  textBounds(path: Path): Bounds<string> {
    if (path.length === 1 && path[0] === '_pagination_key') {
      const { firstPagination, lastPagination } = this.#rows
      return {
        minimum: formatPaginationKey(firstPagination),
        maximum: formatPaginationKey(lastPagination),
      }
    }
    if (path.length === 1 && path[0] === '_xact_id') {
      if (this.#metadata.keys.shownTransaction) return 'unknown'
      const { firstTransaction, lastTransaction } = this.#rows
      return {
        minimum: formatTransaction(firstTransaction),
        maximum: formatTransaction(lastTransaction),
      }
    }
    const columns = this.#columns(path)
    if (columns === 'unknown') return 'unknown'
    // A string may be compared with a time; JSON holds strings that UTF-8 cannot.
    if (columns.some(({ type }) => type === 'timestamp' || type === 'json')) return 'unknown'
    const column = columns.find((candidate) => candidate.type === 'text')
    if (!column) return undefined
    if (column.type !== 'text' || !column.bounds) return 'unknown'
    return { minimum: column.bounds.minimum, maximum: column.bounds.maximum }
  }

  mayHoldAnything(path: Path): boolean {
    const columns = this.#columns(path)
    if (columns === 'unknown') return true
    const { granule } = this
    return columns.some((column) => {
      if (granule === undefined || (column.type !== 'number' && column.type !== 'timestamp')) {
        return column.type !== 'nulls'
      }
      return column.granuleMinimums[granule] !== null
    })
  }

  mayHoldNull(path: Path): boolean {
    const columns = this.#columns(path)
    if (columns === 'unknown') return true
    const { granule } = this
    return columns.every((column) => {
      if (column.type === 'nulls') return true
      if (granule === undefined || (column.type !== 'number' && column.type !== 'timestamp')) {
        return column.nullCount > 0
      }
      return this.#countIn(column, granule) !== this.#rowsIn(granule)
    })
  }

  #columns(path: Path): Held {
    return heldAt(path, this.#metadata)
  }
}
