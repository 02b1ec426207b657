/**
 * Decompresses LZ4 blocks as lz4-napi writes them: their length in four bytes, little-endian, comes first. It
 * takes three fifths of lz4-napi's time, which makes memory of its own for each, and can stop halfway.
 */
import { uncompressSync } from 'lz4-napi'
import { beginLoop, bytes, kernels, place, stageBytes, stagedBytes } from './memory.ts'

const lengthBytes = 4
const noBytes = new Uint8Array(0)
/** The same memory: a part of a Buffer is made in half the time of one of other memory. */
const memory = Buffer.from(bytes.buffer)

/**
 * The first `length` bytes of a block; undefined if it is damaged. They lie in memory that the next loop
 * writes over.
 *
 * @param dictionary that the block was compressed with
 */
export function decompressLz4(
  block: Buffer,
  length: number,
  dictionary: Uint8Array = noBytes,
): Buffer | undefined {
  if (plainLength(block) < length) return undefined
  if (block.length + dictionary.length + length > stagedBytes) {
    return decompressLarge(block, length, dictionary)
  }
  beginLoop()
  const source = place(block, block.length)
  const lowest = stageBytes(dictionary.length + length)
  bytes.set(dictionary, lowest)
  const out = lowest + dictionary.length
  const end = out + length
  const sourceEnd = source + block.length
  if (kernels.decompress(source + lengthBytes, sourceEnd, lowest, out, end) !== end)
    return undefined
  return memory.subarray(out, end)
}

/** Of all of a block; -1 if it is damaged. */
export function plainLength(block: Buffer): number {
  return block.length < lengthBytes ? -1 : block.readUInt32LE(0)
}

function decompressLarge(
  block: Buffer,
  length: number,
  dictionary: Uint8Array,
): Buffer | undefined {
  try {
    const plain = uncompressSync(block, dictionary.length > 0 ? Buffer.from(dictionary) : undefined)
    return plain.subarray(0, length)
  } catch {
    return undefined
  }
}
