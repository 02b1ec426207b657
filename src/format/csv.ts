/**
 * CSV as RFC 4180 has it: a line of names, then rows, each line ended by CRLF, texts in quotes where
 * they need them. A null is an empty field; an empty text is `""`, so that readers can tell. Where a column may have
 * other values than texts, a text that reads like a number, true or false is in quotes, too.
 *
 * What a text says is not changed, unless formulas are to be escaped (`type/formula-text.ts`).
 */
import type { ByteWriter } from '../json/byte-writer.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { escapeFormula, formulaStarts } from '../type/formula-text.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

export interface CsvFieldOptions {
  /** Whether the column may have other values than texts. */
  readonly isMixed?: boolean
  /** Whether texts that a spreadsheet would take for formulas are escaped; numbers are no texts. */
  readonly escapesFormulas?: boolean
}

export function csvHead(names: readonly string[], escapesFormulas = false): Uint8Array {
  if (names.length === 0) return new Uint8Array()
  const fields = names.map((name) => quoted(escapesFormulas ? escapeFormula(name) : name))
  return Buffer.from(`${fields.join(',')}\r\n`)
}

/** Appends the value that is the JSON text from `start` to `end` as a field. */
export function writeCsvField(
  bytes: Buffer,
  start: number,
  end: number,
  out: ByteWriter,
  { isMixed = false, escapesFormulas = false }: CsvFieldOptions = {},
): void {
  if (bytes[start] === quote) {
    if (escapesFormulas && writeEscaped(bytes, start, end, out)) return
    if (isMixed && readsAsOther(bytes, start + 1, end - 1)) out.copy(bytes, start, end)
    else writeText(bytes, start, end, out)
  }
  // An object or an array, as its JSON; anything else has nothing that needs quotes.
  else if (bytes[start] === 0x7b || bytes[start] === 0x5b) writeJsonText(bytes, start, end, out)
  else if (bytes[start] !== 0x6e) out.copy(bytes, start, end)
}

const other = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)$/

/** Whether a text without quotes would be the JSON of a number, or true or false. */
function readsAsOther(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start]!
  const isDigit = first >= 0x30 && first <= 0x39
  // A minus, the beginning of false, or that of true.
  if (!isDigit && first !== 0x2d && first !== 0x66 && first !== 0x74) return false
  if (first >= 0x66 && end - start > 'false'.length) return false
  return other.test(decodeUtf8(bytes, start, end))
}

/** Appends a text of JSON as an escaped formula. False, and nothing is appended, where it is none. */
function writeEscaped(bytes: Buffer, start: number, end: number, out: ByteWriter): boolean {
  const first = bytes[start + 1]!
  // JSON may write any character by its number.
  if (first !== backslash && !formulaStarts.has(first)) return false
  const text = JSON.parse(decodeUtf8(bytes, start, end)) as string
  const escaped = escapeFormula(text)
  if (escaped === text) return false
  out.text(quoted(escaped))
  return true
}

function writeText(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  let isPlain = end - start > 2 && bytes[start + 1] !== 0x20 && bytes[end - 2] !== 0x20
  for (let i = start + 1; isPlain && i < end - 1; i++) {
    // JSON has no bare line ends, and no quote without a backslash.
    if (bytes[i] === comma || bytes[i] === backslash) isPlain = false
  }
  if (isPlain) out.copy(bytes, start + 1, end - 1)
  else if (!writeUnescaped(bytes, start, end, out)) {
    out.text(quoted(JSON.parse(decodeUtf8(bytes, start, end)) as string))
  }
}

/** What may follow a backslash, but for `u`, and the character that it stands for; 0: nothing. */
const escapes = new Uint8Array(256)
for (const [name, character] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' })) {
  escapes[name.charCodeAt(0)] = character.charCodeAt(0)
}
for (const character of '"\\/') escapes[character.charCodeAt(0)] = character.charCodeAt(0)

/**
 * Appends a text of JSON in quotes. False, and nothing is appended, where it has a character by its number or needs
 * no quotes. A decoded text takes 2.5 times as long.
 */
function writeUnescaped(bytes: Buffer, start: number, end: number, out: ByteWriter): boolean {
  out.reserve(end - start)
  const target = out.bytes
  const first = out.length + 1
  let at = first
  let needsQuotes = end - start === 2
  for (let i = start + 1; i < end - 1; i++) {
    let byte = bytes[i]!
    if (byte === backslash) {
      byte = escapes[bytes[++i]!]!
      if (byte === 0) return false
      if (byte === quote) target[at++] = quote
      if (byte === quote || byte === 0x0a || byte === 0x0d) needsQuotes = true
    } else if (byte === comma) needsQuotes = true
    target[at++] = byte
  }
  if (!needsQuotes && target[first] !== 0x20 && target[at - 1] !== 0x20) return false
  target[first - 1] = quote
  target[at++] = quote
  out.skip(at - out.length)
  return true
}

function writeJsonText(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  out.reserve(2 * (end - start) + 2)
  const target = out.bytes
  const first = out.length + 1
  let at = first
  let needsQuotes = false
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === quote) target[at++] = quote
    if (byte === quote || byte === comma) needsQuotes = true
    target[at++] = byte
  }
  if (!needsQuotes) {
    out.copy(bytes, start, end)
    return
  }
  target[first - 1] = quote
  target[at++] = quote
  out.skip(at - out.length)
}

/** A field as it stands: in quotes if it is empty, or has what ends a field, or blanks at its ends. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
