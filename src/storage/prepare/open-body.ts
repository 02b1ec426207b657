import { JsonScanner } from '../../json/scan.ts'

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** A scanner at the beginning of a body of JSON, behind its byte order mark. */
export function openBody(body: Uint8Array): JsonScanner {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const start = byteOrderMark.equals(bytes.subarray(0, byteOrderMark.length))
    ? byteOrderMark.length
    : 0
  return new JsonScanner(bytes, start)
}
