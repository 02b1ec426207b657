/** Pages of a result of JSON lines, read from its file a block at a time. */
import type { FileHandle } from 'node:fs/promises'
import { AssayError } from '../../error.ts'

export interface PagePlace {
  /** Bytes of the file. */
  readonly from: number
  readonly to: number
}

const blockBytes = 256 * 1024

/** A page ends with the row that makes it as long as this. */
const enoughBytes = 4 * 2 ** 20

const newline = 0x0a

/** Where a page of at most `limit` rows ends that begins at `from`. */
export async function findPage(
  file: FileHandle,
  from: number,
  size: number,
  limit: number,
): Promise<PagePlace> {
  let rows = 0
  let to = from
  for await (const { at, bytes } of blocks(file, from, size)) {
    for (let i = bytes.indexOf(newline); i >= 0; i = bytes.indexOf(newline, i + 1)) {
      to = at + i + 1
      rows++
      if (rows >= limit || to - from >= enoughBytes) return { from, to }
    }
  }
  return { from, to }
}

/** The rows of a page with commas between them: JSON that is compact has no other ends of lines. */
export async function* pageRows(
  file: FileHandle,
  { from, to }: PagePlace,
): AsyncGenerator<Uint8Array> {
  // Without the end of the last line.
  for await (const { bytes } of blocks(file, from, to - 1)) {
    for (let i = bytes.indexOf(newline); i >= 0; i = bytes.indexOf(newline, i + 1)) bytes[i] = 0x2c
    yield bytes
  }
}

/** The bytes of a file as they are. */
export async function* fileBytes(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of blocks(file, 0, size)) yield bytes
}

async function* blocks(file: FileHandle, from: number, to: number) {
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafe(Math.min(blockBytes, to - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) throw new AssayError('STORAGE_CORRUPT', 'a result is shorter than it was')
    yield { at, bytes: buffer.subarray(0, bytesRead) }
    at += bytesRead
  }
}

export function formatPageCursor(place: number): string {
  return Buffer.from(String(place)).toString('base64url')
}

/** Throws REQUEST_INVALID for what is no cursor of this result. */
export async function readPageCursor(
  cursor: string | null,
  file: FileHandle,
  size: number,
): Promise<number> {
  if (cursor === null || cursor === '') return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  const place = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (place === 0) return 0
  if (place > 0 && place <= size) {
    const before = Buffer.alloc(1)
    await file.read(before, 0, 1, place - 1)
    if (before[0] === newline) return place
  }
  throw new AssayError(
    'REQUEST_INVALID',
    `cursor "${cursor.slice(0, 100)}" is none of this result`,
    {
      path: 'cursor',
      hint: 'give the cursor of the page before, as it came',
    },
  )
}
