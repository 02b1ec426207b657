/**
 * CSV as RFC 4180 has it: a line of names, then rows, each line ended by CRLF, texts in quotes where
 * they need them. A null is an empty field; an empty text is `""`, so that readers can tell.
 *
 * What a text says is never changed. A spreadsheet may take one that begins with =, +, - or @ for a
 * formula; whoever opens files of unknown texts should import them as text.
 */
import type { ByteWriter } from '../json/byte-writer.ts'
import { decodeUtf8 } from '../json/utf8.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

export function csvHead(names: readonly string[]): Uint8Array {
  if (names.length === 0) return new Uint8Array()
  return Buffer.from(`${names.map(quoted).join(',')}\r\n`)
}

/** Appends the value that is the JSON text from `start` to `end` as a field. */
export function writeCsvField(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  if (bytes[start] === quote) writeText(bytes, start, end, out)
  // An object or an array, as its JSON; anything else has nothing that needs quotes.
  else if (bytes[start] === 0x7b || bytes[start] === 0x5b) {
    out.text(quoted(decodeUtf8(bytes, start, end)))
  } else if (bytes[start] !== 0x6e) out.copy(bytes, start, end)
}

function writeText(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  let isPlain = end - start > 2 && bytes[start + 1] !== 0x20 && bytes[end - 2] !== 0x20
  for (let i = start + 1; isPlain && i < end - 1; i++) {
    // JSON has no bare line ends, and no quote without a backslash.
    if (bytes[i] === comma || bytes[i] === backslash) isPlain = false
  }
  if (isPlain) out.copy(bytes, start + 1, end - 1)
  else out.text(quoted(JSON.parse(decodeUtf8(bytes, start, end)) as string))
}

/** A field as it stands: in quotes if it is empty, or has what ends a field, or blanks at its ends. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
