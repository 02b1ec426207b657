/** Heads of files in a tar archive (POSIX ustar), as far as backups need them: plain files with short names. */
import { AssayError } from '../error.ts'

export const blockBytes = 512
const longestName = 100
const checksumAt = 148
const checksumBytes = 8

/** What follows a file of so many bytes, up to the next block. */
export function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes
}

/** Two blocks of zeros. */
export const endOfArchive = Buffer.alloc(2 * blockBytes)

export function tarHead(name: string, bytes: number, timeMs: number): Buffer {
  if (Buffer.byteLength(name) > longestName) throw new RangeError('a long name in an archive')
  const head = Buffer.alloc(blockBytes)
  const octal = (number: number, digits: number) => `${number.toString(8).padStart(digits, '0')}\0`
  head.write(name, 0)
  head.write(octal(0o600, 7), 100)
  head.write(octal(0, 7), 108)
  head.write(octal(0, 7), 116)
  head.write(octal(bytes, 11), 124)
  head.write(octal(Math.floor(timeMs / 1000), 11), 136)
  head.write('0', 156)
  head.write('ustar\0' + '00', 257)
  head.write(`${sumOf(head).toString(8).padStart(6, '0')}\0 `, checksumAt)
  return head
}

/** Undefined at the end of the archive. */
export function readTarHead(head: Buffer): { name: string; bytes: number } | undefined {
  if (head.length < blockBytes || head.every((byte) => byte === 0)) return undefined
  const number = (from: number, to: number) =>
    Number.parseInt(head.toString('latin1', from, to).replace(/[\0 ]+$/, ''), 8)
  const bytes = number(124, 136)
  if (number(checksumAt, checksumAt + checksumBytes) !== sumOf(head) || !(bytes >= 0)) {
    throw new AssayError('STORAGE_CORRUPT', 'the head of a file in the archive is damaged')
  }
  const end = head.indexOf(0)
  return {
    name: head.toString('utf8', 0, Math.min(end < 0 ? longestName : end, longestName)),
    bytes,
  }
}

/** The field of the sum itself counts as spaces. */
function sumOf(head: Buffer): number {
  let sum = 0
  head.forEach((byte, at) => {
    sum += at >= checksumAt && at < checksumAt + checksumBytes ? 0x20 : byte
  })
  return sum
}
