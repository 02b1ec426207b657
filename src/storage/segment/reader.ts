/**
 * Reads a segment in place: columns are typed arrays over the bytes that are given, made when they
 * are first asked for. Where they lie is known from the metadata, so Arrow's own is never looked at.
 *
 * A buffer is checked against its checksum when a thread first uses it (about 3 GB/s); until its
 * metadata is dropped, a thread does not check it again.
 */
import { crc32 } from 'node:zlib'
import type { AssayError } from '../../error.ts'
import { requireLeft } from '../../json/turn-limit.ts'
import { type NarrowNumbers, narrowCodes, narrowNumbers } from '../../kernel/widen.ts'
import { samePath } from '../../type/value.ts'
import type {
  CompressedTexts,
  KeyColumns,
  NumberColumn,
  PathColumns,
  TextColumn,
  Texts,
} from '../../vector/column.ts'
import { ColumnTable, ListedColumns } from '../../vector/column-table.ts'
import { type Codes, elementsOf } from '../../vector/elements.ts'
import type { GramIndex } from '../../vector/gram-index.ts'
import { bitmapBytes } from './arrow-column.ts'
import { type CheckedBytes, CheckedPages, checkedBytes, PagedBytes } from './checked-pages.ts'
import { ByteCache, FetchedBytes, type Held, type ReadChunk } from './chunked-bytes.ts'
import { type IndexKind, indexesOf, type TextIndexes } from './column-indexes.ts'
import { gramBytesOf, openGrams } from './gram-writer.ts'
import { bufferAlignment, type KeyColumnName } from './layout.ts'
import {
  type BufferPlace,
  type ColumnMetadata,
  corruptSegment,
  type GramPlace,
  type NumberColumnMetadata,
  residualPathsOf,
  type SegmentMetadata,
  type TermIndexMetadata,
  type TextColumnMetadata,
} from './metadata.ts'
import { PackedTexts } from './packed-texts.ts'
import { TermReader } from './term-reader.ts'
import { termBytesOf } from './term-writer.ts'
import { BlockState, TextBlocks, type TextEnds } from './text-blocks.ts'

/** What this thread knows of a segment's buffers, by their offsets. */
interface BufferStates {
  readonly checked: Set<number>
  readonly blocks: Map<number, BlockState>
  readonly pages: Map<number, CheckedPages>
  readonly texts: Map<number, object>
}

const bufferStates = new WeakMap<SegmentMetadata, BufferStates>()

/** Indexes beside a segment, as far as they were read, by their offsets; with what was checked of them. */
interface IndexesBeside extends Held {
  readonly grams: Map<number, GramIndex>
  readonly terms: Map<number, TermReader>
}

const indexesBeside = new ByteCache<IndexesBeside>()

/**
 * The columns of the segment that `bytes` are. Throws STORAGE_CORRUPT when `bytes` have not the size
 * that they were written with; a column that was damaged throws it when it is asked for.
 * Errors name it by its id `segment`.
 *
 * @param readIndex reads its `textIndexes`, if it has any
 */
export function openSegment(
  bytes: Uint8Array,
  metadata: SegmentMetadata,
  segment?: number,
  readIndex?: ReadChunk,
): ColumnTable {
  const buffers = new Buffers(bytes, metadata, segment, readIndex)
  return new ColumnTable({
    rowCount: metadata.rowCount,
    keys: new SegmentKeys(buffers, metadata),
    paths: new ListedColumns(pathEntries(buffers, metadata)),
    residual: residualOpener(buffers, metadata),
    residualPaths: residualPathsOf(metadata),
  })
}

function* pathEntries(
  buffers: Buffers,
  metadata: SegmentMetadata,
): Generator<readonly [readonly string[], () => PathColumns]> {
  const { columns } = metadata
  // The columns of a path stand side by side.
  for (let from = 0; from < columns.length; ) {
    const { path } = columns[from]!
    let to = from + 1
    while (to < columns.length && samePath(columns[to]!.path, path)) to++
    const ofPath = columns.slice(from, to)
    yield [path, () => openColumns(buffers, ofPath, metadata)]
    from = to
  }
}

function openColumns(
  buffers: Buffers,
  columns: readonly ColumnMetadata[],
  metadata: SegmentMetadata,
): PathColumns {
  const opened: { -readonly [Type in keyof PathColumns]: PathColumns[Type] } = {}
  for (const column of columns) {
    switch (column.type) {
      case 'number':
      case 'timestamp':
        opened[column.type] = openNumbers(buffers, column)
        break
      case 'boolean':
        opened.boolean = {
          bits: buffers.bitmap(column.values),
          validity: buffers.validity(column.validity),
        }
        break
      case 'text':
      case 'json':
        opened[column.type] = openText(
          buffers,
          column,
          indexesOf(metadata, column.path, column.type),
        )
        break
      default:
        opened[column.type] = buffers.bitmap(column.values)
    }
  }
  return opened
}

/** Values are opened when they are asked for: a search of texts asks only which rows have some. */
function openNumbers(buffers: Buffers, column: NumberColumnMetadata): NumberColumn {
  let values: NumberColumn['values'] | undefined
  return {
    get values() {
      values ??= column.scale
        ? narrowNumbers(buffers.narrow(column.values), column.scale)
        : elementsOf(buffers.doubles(column.values))
      return values
    },
    validity: buffers.validity(column.validity),
  }
}

function residualOpener(
  buffers: Buffers,
  metadata: SegmentMetadata,
): (() => TextColumn) | undefined {
  const { residual } = metadata
  return residual && (() => openText(buffers, residual, indexesOf(metadata, [], 'residual')))
}

function openText(buffers: Buffers, column: TextColumnMetadata, indexes: TextIndexes): TextColumn {
  const validity = buffers.validity(column.validity)
  const { rowCount } = buffers
  const textCount = column.encoding === 'dictionary' ? column.distinctCount : rowCount
  const { kind } = indexes
  // Asked for again whenever they are needed, so that no column keeps what was read of those beside it.
  const openGrams = () => indexes.grams && buffers.grams(indexes.grams, textCount, kind)
  const openTerms = () => indexes.terms && buffers.terms(indexes.terms, kind)
  if (column.encoding === 'plain') {
    let texts: Texts | undefined
    return {
      encoding: 'plain',
      get texts() {
        texts ??= buffers.texts(column, rowCount)
        return texts
      },
      validity,
      get grams() {
        return openGrams()
      },
      get terms() {
        return openTerms()
      },
    }
  }
  if (column.encoding === 'compressed' || column.encoding === 'packed') {
    let texts: CompressedTexts | undefined
    return {
      encoding: 'compressed',
      get texts() {
        texts ??=
          column.encoding === 'packed'
            ? buffers.packedTexts(column, validity)
            : buffers.textBlocks(column)
        return texts
      },
      validity,
      get grams() {
        return openGrams()
      },
      get terms() {
        return openTerms()
      },
    }
  }
  let codes: Codes | undefined
  let dictionary: Texts | undefined
  return {
    encoding: 'dictionary',
    get codes() {
      codes ??= openCodes(buffers.narrow(column.codes))
      return codes
    },
    get dictionary() {
      dictionary ??= buffers.texts(column, column.distinctCount)
      return dictionary
    },
    validity,
    get grams() {
      return openGrams()
    },
  }
}

function openCodes(codes: NarrowNumbers): Codes {
  return codes instanceof Int32Array ? elementsOf(codes) : narrowCodes(codes)
}

/** Key columns that are opened one by one. */
class SegmentKeys implements KeyColumns {
  readonly shownTransaction?: Float64Array
  readonly supersededBy?: Float64Array
  readonly #buffers: Buffers
  readonly #places: SegmentMetadata['keys']
  readonly #opened: Partial<Record<KeyColumnName, Int32Array | Float64Array>> = {}

  constructor(buffers: Buffers, metadata: SegmentMetadata) {
    this.#buffers = buffers
    this.#places = metadata.keys
    // Too rare to be worth opening late.
    if (metadata.keys.shownTransaction) this.shownTransaction = this.#doubles('shownTransaction')
    if (metadata.keys.supersededBy) this.supersededBy = this.#doubles('supersededBy')
  }

  get object(): Int32Array {
    return this.#integers('object')
  }

  get paginationTransaction(): Float64Array {
    return this.#doubles('paginationTransaction')
  }

  get paginationIndex(): Int32Array {
    return this.#integers('paginationIndex')
  }

  get transaction(): Float64Array {
    return this.#doubles('transaction')
  }

  get index(): Int32Array {
    return this.#integers('index')
  }

  #integers(name: KeyColumnName): Int32Array {
    this.#opened[name] ??= this.#buffers.integers(this.#place(name), this.#buffers.rowCount)
    return this.#opened[name] as Int32Array
  }

  #doubles(name: KeyColumnName): Float64Array {
    this.#opened[name] ??= this.#buffers.doubles(this.#place(name))
    return this.#opened[name] as Float64Array
  }

  #place(name: KeyColumnName): BufferPlace {
    const place = this.#places[name]
    if (place === undefined) throw this.#buffers.corrupt(`the key column "${name}" is missing`)
    return place
  }
}

/** An index as it was opened: `keeps` is to be told of what else is kept of it in memory. */
interface OpenedIndex {
  readonly bytes: CheckedBytes
  readonly keeps: ((byteLength: number) => void) | undefined
}

/** Typed arrays over the bytes of a segment. */
class Buffers {
  readonly rowCount: number
  readonly #bytes: Uint8Array
  readonly #states: BufferStates
  readonly #segment: number | undefined
  readonly #metadata: SegmentMetadata
  readonly #readIndex: ReadChunk | undefined
  /** Indexes in the file, by their offsets. */
  readonly #grams = new Map<number, GramIndex>()

  constructor(
    bytes: Uint8Array,
    metadata: SegmentMetadata,
    segment: number | undefined,
    readIndex: ReadChunk | undefined,
  ) {
    this.#segment = segment
    this.#metadata = metadata
    this.#readIndex = readIndex
    if (bytes.byteLength !== metadata.byteLength) {
      throw corruptSegment(
        segment,
        `it has ${bytes.byteLength} bytes instead of ${metadata.byteLength}`,
      )
    }
    this.rowCount = metadata.rowCount
    // LMDB aligns what it maps and what it copies; bytes from elsewhere may have to be moved.
    this.#bytes = bytes.byteOffset % bufferAlignment === 0 ? bytes : new Uint8Array(bytes)
    this.#states = bufferStates.get(metadata) ?? {
      checked: new Set(),
      blocks: new Map(),
      pages: new Map(),
      texts: new Map(),
    }
    bufferStates.set(metadata, this.#states)
  }

  doubles(place: BufferPlace): Float64Array {
    const bytes = this.#buffer(place, this.rowCount * 8)
    return new Float64Array(bytes.buffer, bytes.byteOffset, this.rowCount)
  }

  integers(place: BufferPlace, count: number): Int32Array {
    const bytes = this.#buffer(place, count * 4)
    return new Int32Array(bytes.buffer, bytes.byteOffset, count)
  }

  /** One for each row, as wide as the buffer has room for. */
  narrow(place: BufferPlace): NarrowNumbers {
    const { rowCount } = this
    const width = [1, 2].find((bytes) => place[1] === rowCount * bytes) ?? 4
    const { buffer, byteOffset } = this.#buffer(place, rowCount * width)
    if (width === 1) return new Int8Array(buffer, byteOffset, rowCount)
    if (width === 2) return new Int16Array(buffer, byteOffset, rowCount)
    return new Int32Array(buffer, byteOffset, rowCount)
  }

  bitmap(place: BufferPlace): Uint8Array {
    return this.#buffer(place, bitmapBytes(this.rowCount))
  }

  validity(place: BufferPlace | undefined): Uint8Array | undefined {
    return place && this.bitmap(place)
  }

  texts(places: { offsets: BufferPlace; bytes: BufferPlace }, count: number): Texts {
    const bytes = this.#buffer(places.bytes, places.bytes[1])
    const [offset] = places.bytes
    const identity = this.#states.texts.get(offset) ?? {}
    this.#states.texts.set(offset, identity)
    return {
      identity,
      // As a Buffer, like the bytes of columns that were just shredded: one kind, one fast path.
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      offsets: this.integers(places.offsets, count + 1),
    }
  }

  /** Checked page by page, so that a search reads little of it. */
  grams(of: GramPlace, textCount: number, kind: IndexKind): GramIndex {
    const grams = kind === 'beside' ? this.#beside().grams : this.#grams
    const known = grams.get(of.place[0]) ?? this.#openGrams(of, textCount, kind)
    grams.set(of.place[0], known)
    return known
  }

  terms(of: TermIndexMetadata, kind: IndexKind): TermReader {
    if (kind !== 'beside') return this.#openTerms(of, kind)
    const { terms } = this.#beside()
    const known = terms.get(of.place[0]) ?? this.#openTerms(of, kind)
    terms.set(of.place[0], known)
    return known
  }

  #openGrams({ place, ...shape }: GramPlace, textCount: number, kind: IndexKind): GramIndex {
    const { bytes } = this.#index(place, gramBytesOf(shape, textCount), kind)
    return openGrams(bytes, shape, textCount, kind === 'older')
  }

  #openTerms({ place, beside, ...shape }: TermIndexMetadata, kind: IndexKind): TermReader {
    const grams = beside && this.grams(beside, this.rowCount, kind)
    const { bytes, keeps } = this.#index(place, termBytesOf(shape), kind)
    return new TermReader(
      bytes,
      { ...shape, isOlder: kind === 'older' },
      grams,
      this.rowCount,
      keeps,
    )
  }

  /** The bytes of an index, `byteLength` of them without their checksums. */
  #index([offset, allBytes]: BufferPlace, byteLength: number, kind: IndexKind): OpenedIndex {
    const corrupt = () => this.corrupt(`its index at byte ${offset} was damaged`)
    if (allBytes !== checkedBytes(byteLength)) {
      throw this.corrupt(`its index at byte ${offset} has the wrong size`)
    }
    if (kind !== 'beside') {
      const { pages } = this.#states
      let known = pages.get(offset)
      if (known === undefined) {
        known = new CheckedPages(byteLength)
        pages.set(offset, known)
      }
      const bytes = new PagedBytes(this.#view(offset, allBytes), byteLength, corrupt, known)
      return { bytes, keeps: undefined }
    }
    const beside = this.#beside()
    const { textIndexes } = this.#metadata
    const read = this.#readIndex
    if (!textIndexes || !read) throw this.corrupt('its indexes are missing')
    if (offset + allBytes > textIndexes.byteLength) {
      throw this.corrupt(`its index at byte ${offset} has the wrong size`)
    }
    const keeps = (keptBytes: number) => {
      beside.heldBytes += keptBytes
      indexesBeside.set(this.#metadata, beside)
    }
    return { bytes: new FetchedBytes({ offset, byteLength }, read, keeps, corrupt), keeps }
  }

  #beside(): IndexesBeside {
    let beside = indexesBeside.get(this.#metadata)
    if (beside === undefined) {
      beside = { heldBytes: 0, grams: new Map(), terms: new Map() }
      indexesBeside.set(this.#metadata, beside)
    }
    return beside
  }

  textBlocks(places: Extract<TextColumnMetadata, { encoding: 'compressed' }>): TextBlocks {
    const [offset, byteLength] = places.blocks
    const directory = this.integers(places.directory, places.directory[1] / 4)
    const { blocks } = this.#states
    let state = blocks.get(offset)
    if (state === undefined) {
      state = new BlockState(directory)
      blocks.set(offset, state)
    }
    const ends = this.#ends(places.ends)
    return new TextBlocks(ends, directory, this.#view(offset, byteLength), state, () =>
      this.corrupt(`its texts at byte ${offset} were damaged`),
    )
  }

  #ends(place: BufferPlace): TextEnds {
    const { rowCount } = this
    if (place[1] !== rowCount * Uint16Array.BYTES_PER_ELEMENT) return this.integers(place, rowCount)
    const { buffer, byteOffset } = this.#buffer(place, place[1])
    return new Uint16Array(buffer, byteOffset, rowCount)
  }

  packedTexts(
    packed: Extract<TextColumnMetadata, { encoding: 'packed' }>,
    validity: Uint8Array | undefined,
  ): PackedTexts {
    return new PackedTexts(
      this.#buffer(packed.values, packed.width * this.rowCount),
      packed,
      validity,
    )
  }

  corrupt(fault: string): AssayError {
    return corruptSegment(this.#segment, fault)
  }

  #buffer([offset, byteLength, checksum]: BufferPlace, expectedBytes: number): Uint8Array {
    if (byteLength !== expectedBytes) {
      throw this.corrupt(`its buffer at byte ${offset} has the wrong size`)
    }
    const buffer = this.#view(offset, byteLength)
    if (byteLength > 0 && !this.#states.checked.has(offset)) {
      // That takes an eighth of what decoding does.
      requireLeft(byteLength / 8)
      if (crc32(buffer) !== checksum) {
        throw this.corrupt(`its buffer at byte ${offset} was damaged`)
      }
      this.#states.checked.add(offset)
    }
    return buffer
  }

  #view(offset: number, byteLength: number): Uint8Array {
    if (offset + byteLength > this.#bytes.byteLength) {
      throw this.corrupt(`its buffer at byte ${offset} has the wrong size`)
    }
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + offset, byteLength)
  }
}
