/** Compresses by LZ4, several texts that are alike one after the other. */
import { beginBatch, endBatches, kernels, newBytes, newCodes } from './memory.ts'

const tableSlots = 4096
const lengthBytes = 4

/** What compressed bytes may take more than plain ones. */
function spareOf(byteLength: number): number {
  return Math.ceil(byteLength / 255) + 32
}

/**
 * The texts compressed, each as its length (u32, little-endian) and a block of LZ4. Those after the first have
 * the last `dictionaryBytes` of it as their dictionary. It works in the memory of the thread's loops, which has
 * room for the first and the largest of the others with some megabytes each.
 */
export function compressAlike(texts: readonly Uint8Array[], dictionaryBytes: number): Buffer[] {
  const largest = Math.max(...texts.map(({ length }) => length))
  const first = texts[0]!
  beginBatch()
  const table = newCodes(tableSlots)
  const tableOfFirst = newCodes(tableSlots)
  const source = newBytes(first.length + largest)
  const out = newBytes(largest + spareOf(largest))
  endBatches()
  table.fill(0)
  const base = source.byteOffset
  const restAt = base + first.length
  return texts.map((text, i) => {
    const start = i === 0 ? base : restAt
    source.set(text, start - base)
    if (i === 1) tableOfFirst.set(table)
    if (i > 1) table.set(tableOfFirst)
    const lowest = i === 0 ? base : Math.max(base, restAt - dictionaryBytes)
    const end = start + text.length
    const length = kernels.compressLz4(lowest, start, end, table.byteOffset, out.byteOffset)
    const compressed = Buffer.allocUnsafe(lengthBytes + length)
    compressed.writeUInt32LE(text.length, 0)
    compressed.set(out.subarray(0, length), lengthBytes)
    return compressed
  })
}
