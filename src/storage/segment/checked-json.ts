/** JSON that tells whether it is still what was written: `{"checksum":…,"content":…}`. */
import { crc32 } from 'node:zlib'

export function encodeChecked(content: unknown): Buffer {
  const text = JSON.stringify(content)
  return Buffer.from(`{"checksum":${crc32(text)},"content":${text}}`)
}

/** Undefined when `bytes` are not what `encodeChecked` made. */
export function decodeChecked(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const prefix = /^\{"checksum":(\d+),"content":/.exec(text)
  if (prefix === null || !text.endsWith('}')) return undefined
  const content = text.slice(prefix[0].length, -1)
  return crc32(content) === Number(prefix[1]) ? JSON.parse(content) : undefined
}
