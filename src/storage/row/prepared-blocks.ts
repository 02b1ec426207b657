/** Puts rows into blocks before they are written, while no lock is held. */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { letQueriesPass } from '../give-way.ts'
import type { PreparedBlock, PreparedRows } from './prepared-rows.ts'
import { encodeRequestBody, fullBlockBytes, fullBlockRows } from './row-block.ts'

export interface BlockLimits {
  /** A block is full when its rows have so many bytes. */
  readonly bytes: number
  /** An object whose rows have fewer has them written one by one. */
  readonly worthwhileBytes: number
}

export const defaultBlockLimits: BlockLimits = {
  bytes: fullBlockBytes,
  worthwhileBytes: fullBlockBytes / 16,
}

/**
 * The blocks of the rows' objects, and the bytes that they name.
 *
 * @param out what these are written to, from its beginning on
 */
export function prepareBlocks(
  rows: Pick<PreparedRows, 'bytes' | 'ends' | 'numbers' | 'objects' | 'objectOf'>,
  out: ByteWriter,
  limits: BlockLimits = defaultBlockLimits,
): { readonly blocks: readonly PreparedBlock[]; readonly blockBytes: Uint8Array } {
  const blocks: PreparedBlock[] = []
  out.truncate(0)
  for (let object = 0; object < rows.objects.length; object++) {
    for (const members of fullBlocks(rows, object, limits)) {
      letQueriesPass()
      const texts = members.map((row) => rowBytes(rows, row))
      const numbers = members.map((row) => rows.numbers[row]!)
      const { codec, length, bytes } = encodeRequestBody(numbers, texts)
      const start = out.length
      out.copy(bytes)
      blocks.push({ object, rows: members, codec, length, start, end: out.length })
    }
  }
  return { blocks, blockBytes: out.view() }
}

/** Which rows are an object's, block by block; none where they are not worth it. */
function fullBlocks(
  rows: Pick<PreparedRows, 'ends' | 'objectOf'>,
  object: number,
  limits: BlockLimits,
): number[][] {
  const blocks: number[][] = []
  let total = 0
  let bytes = 0
  for (let row = 0; row < rows.ends.length; row++) {
    if (rows.objectOf[row] !== object) continue
    const length = rowLength(rows, row)
    const block = blocks.at(-1)
    if (!block || bytes + length > limits.bytes || block.length === fullBlockRows) {
      blocks.push([row])
      bytes = 0
    } else {
      block.push(row)
    }
    bytes += length
    total += length
  }
  return total < limits.worthwhileBytes ? [] : blocks
}

function startOf({ ends }: Pick<PreparedRows, 'ends'>, row: number): number {
  return row === 0 ? 0 : ends[row - 1]!
}

export function rowLength(rows: Pick<PreparedRows, 'ends'>, row: number): number {
  return rows.ends[row]! - startOf(rows, row)
}

/** The encoded form of a prepared row. */
export function rowBytes(rows: Pick<PreparedRows, 'bytes' | 'ends'>, row: number): Uint8Array {
  return rows.bytes.subarray(startOf(rows, row), rows.ends[row]!)
}
