/**
 * Values of any kind on their way between threads, as bytes in shared memory. As they are, a message makes each of
 * them anew, at either end at one stroke: of lists with a million texts that held the main thread for 0.1 s, twice.
 */
import { deserialize, serialize } from 'node:v8'
import { noteLong } from '../../json/turn-limit.ts'
import type { PlainValue } from '../../type/plain.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { newSharedMemory } from '../thread/idle-memory.ts'

export interface PackedValues {
  readonly kind: 'packed'
  /** Rows of the column, among all that were packed. */
  readonly from: number
  readonly to: number
  /** The values of each block as one. */
  readonly bytes: Uint8Array
  /** Where blocks begin, and where the last one ends: in rows, and in bytes. */
  readonly rows: Int32Array
  readonly places: Float64Array
}

/** Packed or unpacked between two cancellation checks: less than a millisecond, unless one value is longer. */
const blockBytes = 128 * 1024

/** @param valueBytes about as many as all values take in memory */
export function packValues(values: readonly PlainValue[], valueBytes: number): PackedValues {
  const blockCount = Math.min(values.length, Math.ceil(valueBytes / blockBytes))
  const rows = Int32Array.from({ length: blockCount + 1 }, (_, block) => {
    return Math.round((block / blockCount) * values.length)
  })
  const places = new Float64Array(blockCount + 1)
  const blocks: Buffer[] = []
  for (let block = 0; block < blockCount; block++) {
    checkCancelled()
    const bytes = serialize(values.slice(rows[block], rows[block + 1]))
    blocks.push(bytes)
    places[block + 1] = places[block]! + bytes.length
  }
  const bytes = new Uint8Array(newSharedMemory(places[blockCount]!))
  for (const [block, part] of blocks.entries()) {
    checkCancelled()
    bytes.set(part, places[block])
  }
  return { kind: 'packed', from: 0, to: values.length, bytes, rows, places }
}

export function unpackValues(packed: PackedValues): PlainValue[] {
  const { from, to, rows } = packed
  const values: PlainValue[] = []
  for (let block = 0; block + 1 < rows.length; block++) {
    const [first, end] = [rows[block]!, rows[block + 1]!]
    if (end <= from || first >= to) continue
    checkCancelled()
    const part = unpackBlock(packed, block)
    for (let row = Math.max(from, first); row < Math.min(to, end); row++)
      values.push(part[row - first]!)
  }
  return values
}

/** Bytes that are read to have the value of a row. */
export function packedLength({ from, rows, places }: PackedValues, row: number): number {
  let block = 0
  while (rows[block + 1]! <= from + row) block++
  return places[block + 1]! - places[block]!
}

/** Rows `from … to` of the column: the same memory. */
export function slicePacked(packed: PackedValues, from: number, to: number): PackedValues {
  return { ...packed, from: packed.from + from, to: packed.from + to }
}

function unpackBlock({ bytes, places }: PackedValues, block: number): PlainValue[] {
  const [from, to] = [places[block]!, places[block + 1]!]
  noteLong(to - from)
  return deserialize(bytes.subarray(from, to)) as PlainValue[]
}
