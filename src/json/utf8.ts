import { isUtf8 } from 'node:buffer'
import { AssayError } from '../error.ts'

/** Throws REQUEST_NOT_UTF8 unless `bytes` are UTF-8. */
export function requireUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) {
    throw new AssayError('REQUEST_NOT_UTF8', 'the text is not encoded in UTF-8', {
      hint: 'send UTF-8',
    })
  }
}

/** Decodes bytes that are known to be UTF-8. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8', start, end)
}
