/** Columns of rows in the form of the row store, made by `assembly/rows/`. */
import { type RowKernels, rowKernels } from './row-kernels.ts'

/** A path of the tree that is to become columns: its name as JSON has it, in quotes. */
export interface ShreddedPath {
  readonly quotedName: Uint8Array
  readonly children: readonly ShreddedPath[]
  /** Whether its texts are the times of rows. */
  readonly isTime: boolean
}

/** Texts of a column, of which codes are undefined unless they are a dictionary. */
export interface ShreddedTexts {
  readonly bytes: Buffer
  readonly offsets: Int32Array
  readonly codes: Int32Array | undefined
}

const nodeIntegers = 16
const fields = {
  firstChild: 0,
  childCount: 1,
  lastChild: 2,
  name: 3,
  nameLength: 4,
  kinds: 5,
  numbers: 6,
  timestamps: 7,
  text: 8,
  json: 9,
  isTime: 10,
  hasManyResiduals: 12,
} as const

const texts = {
  codes: 0,
  offsets: 1,
  bytes: 3,
  count: 7,
  byteLength: 8,
  hasDictionary: 12,
} as const

/** For rows; the rest of the memory is for columns. */
const mostRowBytes = 8 * 2 ** 20
/** Names are compared by so many bytes. */
const roomBytes = 32

/**
 * The rows of one part. All that it gives is in memory that the next takes, and stands for nothing if any
 * method says that there is no room.
 */
export class RowShred {
  readonly #kernels: RowKernels
  readonly #memory: Buffer
  readonly #integers: Int32Array
  readonly #rows: number
  #nodes = 0
  #rowCount = 0

  constructor() {
    this.#kernels = rowKernels()
    const { buffer } = this.#kernels.memory
    this.#memory = Buffer.from(buffer)
    this.#integers = new Int32Array(buffer)
    this.#rows = this.#kernels.inputPlace.value
  }

  /** Begins with `rows`, end to end; numbers of paths are those of `breadthFirst`, then comes that of residuals. */
  begin(rows: Uint8Array, rowCount: number, root: ShreddedPath, mostValueBytes: number): boolean {
    const paths = breadthFirst<ShreddedPath>(root)
    const names = paths.reduce((sum, { quotedName }) => sum + quotedName.length, 0)
    if (rows.length + (paths.length + 1) * nodeIntegers * 4 + names > mostRowBytes) return false
    this.#memory.set(rows, this.#rows)
    this.#rowCount = rowCount
    this.#nodes = alignUp(this.#rows + rows.length + roomBytes)
    const free = this.#writeNodes(paths)
    const nodeCount = paths.length + 1
    return this.#kernels.beginShred(this.#nodes, nodeCount, rowCount, mostValueBytes, free) !== 0
  }

  /** Takes the row that stands at `start … end` of the rows. */
  add(row: number, start: number, end: number): boolean {
    return this.#kernels.shredRow(row, this.#rows + start, end - start) !== 0
  }

  finish(): boolean {
    return this.#kernels.finishShred() !== 0
  }

  /** What rows have there, as `storage/shred/shred-column.ts` numbers it; undefined where none has anything. */
  kinds(path: number): Uint8Array | undefined {
    const place = this.#of(path, fields.kinds)
    return place === 0 ? undefined : this.#memory.subarray(place, place + this.#rowCount)
  }

  numbers(path: number): Float64Array {
    return this.#doubles(this.#of(path, fields.numbers))
  }

  timestamps(path: number): Float64Array {
    return this.#doubles(this.#of(path, fields.timestamps))
  }

  texts(path: number): ShreddedTexts {
    return this.#texts(this.#of(path, fields.text))
  }

  json(path: number): ShreddedTexts {
    return this.#texts(this.#of(path, fields.json))
  }

  /** Whether more names right below the path went into residuals than are listed. */
  hasManyResiduals(path: number): boolean {
    return this.#of(path, fields.hasManyResiduals) !== 0
  }

  /** Other paths at which residuals begin, as the number of the path around them and the name in quotes. */
  residualPaths(): { readonly parent: number; readonly quotedName: Buffer }[] {
    const first = this.#kernels.residualPaths.value >> 2
    return Array.from({ length: this.#kernels.residualPathCount.value }, (_, i) => {
      const [parent, start, end] = this.#integers.subarray(first + i * 3, first + i * 3 + 3)
      return { parent: parent!, quotedName: this.#memory.subarray(start, end) }
    })
  }

  #of(path: number, field: number): number {
    return this.#integers[(this.#nodes >> 2) + path * nodeIntegers + field]!
  }

  /** Returns where memory is free behind them. */
  #writeNodes(paths: readonly ShreddedPath[]): number {
    const first = this.#nodes >> 2
    const nodeCount = paths.length + 1
    let at = this.#nodes + nodeCount * nodeIntegers * 4
    this.#integers.fill(0, first, first + nodeCount * nodeIntegers)
    let child = 1
    paths.forEach(({ quotedName, children, isTime }, path) => {
      const node = first + path * nodeIntegers
      this.#integers[node + fields.firstChild] = child
      this.#integers[node + fields.childCount] = children.length
      this.#integers[node + fields.lastChild] = -1
      this.#integers[node + fields.name] = at
      this.#integers[node + fields.nameLength] = quotedName.length
      this.#integers[node + fields.isTime] = Number(isTime)
      this.#memory.set(quotedName, at)
      at += quotedName.length
      child += children.length
    })
    return at + roomBytes
  }

  #doubles(place: number): Float64Array {
    return new Float64Array(this.#memory.buffer, place, this.#rowCount)
  }

  #texts(place: number): ShreddedTexts {
    const { buffer } = this.#memory
    const of = (field: number) => this.#integers[(place >> 2) + field]!
    const bytes = of(texts.bytes)
    return {
      bytes: this.#memory.subarray(bytes, bytes + of(texts.byteLength)),
      offsets: new Int32Array(buffer, of(texts.offsets), of(texts.count) + 1),
      codes:
        of(texts.hasDictionary) === 0
          ? undefined
          : new Int32Array(buffer, of(texts.codes), this.#rowCount),
    }
  }
}

/** So that the children of each stand side by side. */
export function breadthFirst<Path extends { readonly children: readonly Path[] }>(
  root: Path,
): Path[] {
  const paths = [root]
  for (let i = 0; i < paths.length; i++) paths.push(...paths[i]!.children)
  return paths
}

function alignUp(place: number): number {
  return Math.ceil(place / 16) * 16
}
