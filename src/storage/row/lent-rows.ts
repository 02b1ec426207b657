/**
 * Row versions that are in no row store here and are lent to one task, in shared memory, end to end. Integers are
 * little-endian; a key is `transaction × 65536 + index`.
 *
 *     row = object u32, pagination key u64, version u64, transaction u64, flags u8, previous version u64 (0: none),
 *           created i64 (microseconds since 1970), length of the body as LEB128, body
 *
 * The body is the record as JSON, without what its keys and its object tell.
 */
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { RowKey } from '../../type/transaction.ts'
import { buildJsonRow } from './json-row.ts'
import { RowView } from './row.ts'
import { RowBuilder } from './row-builder.ts'

/** Where the parts of a row begin. */
const places = {
  paginationKey: 4,
  version: 12,
  transaction: 20,
  flags: 28,
  previous: 29,
  created: 37,
}
const fixedBytes = 45
/** Of a length: no row is longer than 4 GiB. */
const mostLengthBytes = 5

export interface LentVersion {
  readonly key: RowKey
  readonly view: RowView
}

/** The end of the row that begins at `start`; undefined when not all of it is there. */
export function endOfLentRow(bytes: Uint8Array, start: number, end: number): number | undefined {
  const body = bodyAt(bytes, start, end)
  return body && body.to <= end ? body.to : undefined
}

/** Numbers of the objects of the rows in the memory, and how many rows there are. */
export function describeLent(memory: SharedArrayBuffer): {
  readonly objects: ReadonlySet<number>
  readonly rowCount: number
} {
  const bytes = Buffer.from(memory)
  const objects = new Set<number>()
  let rowCount = 0
  for (let start = 0; start < bytes.length; start = bodyAt(bytes, start, bytes.length)!.to) {
    objects.add(objectOfLentRow(bytes, start))
    rowCount++
  }
  return { objects, rowCount }
}

/** Whether the memory has the row of that version. */
export function hasLent(memory: SharedArrayBuffer, object: number, version: RowKey): boolean {
  return partOf(memory).has(object, version)
}

function objectOfLentRow(bytes: Buffer, start: number): number {
  return bytes.readUInt32LE(start)
}

function bodyAt(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly from: number; readonly to: number } | undefined {
  let length = 0
  for (let place = 0; place < mostLengthBytes; place++) {
    const at = start + fixedBytes + place
    if (at >= end) return undefined
    const byte = bytes[at]!
    length += (byte & 0x7f) * 2 ** (7 * place)
    if (byte < 0x80) return { from: at + 1, to: at + 1 + length }
  }
  throw new AssayError('INTERNAL', 'a lent row has a length of more than 32 bits')
}

export class LentRows {
  readonly #parts: readonly LentPart[]

  private constructor(parts: readonly LentPart[]) {
    this.#parts = parts
  }

  static of(memories: readonly SharedArrayBuffer[]): LentRows {
    return new LentRows(memories.map(partOf))
  }

  /** The row of that version; undefined where it is not among them. */
  find(object: number, version: RowKey): RowView | undefined {
    for (const part of this.#parts) {
      const view = part.find(object, version)
      if (view) return view
    }
    return undefined
  }

  /** All versions of an object, in the order in which they came. */
  *versionsOf(object: number): Generator<LentVersion> {
    for (const part of this.#parts) yield* part.versionsOf(object)
  }
}

/** What is known of a memory goes with it. */
const knownParts = new WeakMap<SharedArrayBuffer, LentPart>()

function partOf(memory: SharedArrayBuffer): LentPart {
  const part = knownParts.get(memory) ?? new LentPart(memory)
  knownParts.set(memory, part)
  return part
}

class LentPart {
  readonly #bytes: Buffer
  /** Where rows begin, by their names; made when the first is looked for. */
  #starts: Map<string, number> | undefined

  constructor(memory: SharedArrayBuffer) {
    this.#bytes = Buffer.from(memory)
  }

  find(object: number, version: RowKey): RowView | undefined {
    const start = this.#startOf(object, version)
    return start === undefined ? undefined : this.#viewAt(start)
  }

  has(object: number, version: RowKey): boolean {
    return this.#startOf(object, version) !== undefined
  }

  #startOf(object: number, { transaction, index }: RowKey): number | undefined {
    this.#starts ??= this.#index()
    return this.#starts.get(`${object} ${transaction} ${index}`)
  }

  *versionsOf(object: number): Generator<LentVersion> {
    for (const start of this.#rows()) {
      if (objectOfLentRow(this.#bytes, start) !== object) continue
      yield { key: this.#keyAt(start + places.version), view: this.#viewAt(start) }
    }
  }

  #index(): Map<string, number> {
    const starts = new Map<string, number>()
    for (const start of this.#rows()) {
      const { transaction, index } = this.#keyAt(start + places.version)
      starts.set(`${objectOfLentRow(this.#bytes, start)} ${transaction} ${index}`, start)
    }
    return starts
  }

  *#rows(): Generator<number> {
    const { length } = this.#bytes
    for (let start = 0; start < length; ) {
      yield start
      start = bodyAt(this.#bytes, start, length)!.to
    }
  }

  #keyAt(at: number): RowKey {
    return { transaction: this.#bytes.readUIntLE(at + 2, 6), index: this.#bytes.readUInt16LE(at) }
  }

  #viewAt(start: number): RowView {
    const bytes = this.#bytes
    const { from, to } = bodyAt(bytes, start, bytes.length)!
    const previous = this.#keyAt(start + places.previous)
    const builder = new RowBuilder(new ByteWriter(to - from + 512))
    const header = {
      flags: bytes[start + places.flags]!,
      createdMs: Number(bytes.readBigInt64LE(start + places.created)) / 1000,
      paginationKey: this.#keyAt(start + places.paginationKey),
      transaction: bytes.readUIntLE(start + places.transaction, 6),
      previous: previous.transaction === 0 ? undefined : previous,
    }
    buildJsonRow(bytes.subarray(from, to), header, builder)
    return new RowView(builder.out.view())
  }
}
