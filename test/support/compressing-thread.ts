/** A module for threads: compresses some megabytes, of which nothing is kept. */
import { randomBytes } from 'node:crypto'
import { compressSync } from 'lz4-napi'

const block = randomBytes(128 * 1024)

export default function compress(blocks: number): number {
  let bytes = 0
  for (let i = 0; i < blocks; i++) bytes += compressSync(block).length
  return bytes
}
