/** Strings of JSON in the bytes of a row. */
import { decodeUtf8 } from '../json/utf8.ts'

const quote = 0x22
const backslash = 0x5c

export function isString(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === quote
}

/** Whether the string stands between its quotes as it is. */
export function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  const at = bytes.indexOf(backslash, start)
  return at < 0 || at >= end
}

/** @param start of the opening quote */
export function stringOf(bytes: Uint8Array, start: number, end: number): string {
  if (isPlain(bytes, start, end)) return decodeUtf8(bytes, start + 1, end - 1)
  return JSON.parse(decodeUtf8(bytes, start, end)) as string
}

/** Escapes of JSON text as what they stand for, so that no letter of one joins a word. */
export function withoutEscapes(json: string): string {
  if (!json.includes('\\')) return json
  return json.replace(/\\(?:u([0-9a-fA-F]{4})|.)/g, (_, digits: string | undefined) =>
    digits === undefined ? ' ' : String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
