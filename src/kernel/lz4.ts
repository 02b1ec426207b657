/**
 * LZ4 blocks as lz4-napi writes and reads them: their length in four bytes, little-endian, comes first. That package
 * makes memory of its own for each, which collecting garbage then has to find; reading takes three fifths of its
 * time here, and can stop halfway.
 */
import { compressSync, uncompressSync } from 'lz4-napi'
import type { ByteWriter } from '../json/byte-writer.ts'
import { copyWhole } from '../json/copy-bytes.ts'
import { beginKernel, bytes, kernels, place, stageBytes, stagedBytes, whole } from './arena.ts'

const lengthBytes = 4
const noBytes = new Uint8Array(0)

/**
 * The first `length` bytes of a block; undefined if it is damaged. They lie in memory that the next kernel
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
  beginKernel()
  const source = place(block, block.length)
  const lowest = stageBytes(dictionary.length + length)
  bytes.set(dictionary, lowest)
  const out = lowest + dictionary.length
  const end = out + length
  const sourceEnd = source + block.length
  if (kernels.decompress(source + lengthBytes, sourceEnd, lowest, out, end) !== end)
    return undefined
  return whole.subarray(out, end)
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

/** Places within a block and its dictionary have 16 bits. */
const windowBytes = 2 ** 16
const tableBytes = 2 ** 14
/** Where nothing comes again, a block becomes larger by one byte for each 255, and a few. */
const mostCompressedBytes = windowBytes + windowBytes / 255 + 64

/** Appends a block to `out`, compressed; returns how many bytes it has there. */
export type Compress = (block: Uint8Array, out: ByteWriter) => number

/**
 * Compresses blocks, until another kernel of this thread begins.
 *
 * @param dictionary what each of them may refer to
 */
export function lz4Compressor(dictionary: Uint8Array = noBytes): Compress {
  beginKernel()
  const filled = stageBytes(tableBytes)
  const table = stageBytes(tableBytes)
  const lowest = stageBytes(windowBytes)
  const target = stageBytes(mostCompressedBytes)
  const start = lowest + dictionary.length
  if (dictionary.length < windowBytes) {
    copyWhole(dictionary, whole, lowest)
    kernels.fillTable(filled, lowest, start)
  }
  return (block, out) => {
    const before = out.length
    if (dictionary.length + block.length < windowBytes) {
      copyWhole(block, whole, start)
      whole.copyWithin(table, filled, filled + tableBytes)
      whole.writeUInt32LE(block.length, target)
      const end = kernels.compress(table, lowest, start, start + block.length, target + lengthBytes)
      out.copy(whole, target, end)
    } else out.copy(compressLarge(block, dictionary))
    return out.length - before
  }
}

function compressLarge({ buffer, byteOffset, length }: Uint8Array, dictionary: Uint8Array): Buffer {
  const block = Buffer.from(buffer, byteOffset, length)
  return compressSync(block, dictionary.length > 0 ? Buffer.from(dictionary) : undefined)
}
