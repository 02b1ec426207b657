/** Records of JSON lines, and of JSON arrays, whose elements are records. */
import { JsonScanner } from '../json/scan.ts'
import { ByteWindow } from './byte-window.ts'
import { decodeUtf8 } from './encoding.ts'
import { type BadLine, type FileRecord, reasonOf } from './file-record.ts'

const lineFeed = 0x0a
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * @param chunks UTF-8. What begins with a bracket is an array of records; what has nothing else in its first line
 * than a brace are objects over several lines each. All else has a record in each line.
 */
export async function* jsonRecords(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<FileRecord | BadLine> {
  const window = new ByteWindow(chunks)
  const lines = { next: 1 }
  try {
    if (await isSpread(window)) yield* spreadRecords(window, lines)
    yield* lineRecords(window, lines)
  } finally {
    await window.close()
  }
}

/** The record in a JSON text. Throws with what is wrong with it. */
export function readRecord(bytes: Uint8Array, line: number): FileRecord {
  const text = decodeUtf8(bytes)
  const isAscii = text.length === bytes.length
  const scanner = new JsonScanner(bytes)
  const values = new Map<string, string>()
  const slice = (start: number, end: number) =>
    isAscii ? text.slice(start, end) : decodeUtf8(bytes.subarray(start, end))
  if (!scanner.openObject()) {
    scanner.value()
    scanner.finish()
    throw new Error('not a JSON object')
  }
  while (scanner.nextMember()) {
    const name = JSON.parse(slice(scanner.keyStart, scanner.keyEnd)) as string
    const start = scanner.value()
    // Of two members of a name the last counts.
    values.delete(name)
    const value = slice(start, scanner.position)
    if (value !== 'null') values.set(name, value)
  }
  scanner.finish()
  return { line, values, text }
}

function recordOrFault(bytes: Uint8Array, line: number): FileRecord | BadLine {
  try {
    return readRecord(bytes, line)
  } catch (error) {
    return { line, fault: reasonOf(error) }
  }
}

/** The number of the line that is next. */
interface Lines {
  next: number
}

async function* lineRecords(
  window: ByteWindow,
  lines: Lines,
): AsyncGenerator<FileRecord | BadLine> {
  let searched = 0
  for (;;) {
    const { bytes } = window
    const end = bytes.indexOf(lineFeed, searched)
    if (end < 0) {
      searched = bytes.length
      if (await window.more()) continue
      if (!isBlank(bytes)) yield recordOrFault(bytes, lines.next)
      window.drop(bytes.length)
      return
    }
    const line = bytes.subarray(0, end)
    const number = lines.next++
    window.drop(end + 1)
    searched = 0
    if (!isBlank(line)) yield recordOrFault(line, number)
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isSpace)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

async function isSpread(window: ByteWindow): Promise<boolean> {
  for (;;) {
    const { bytes } = window
    const first = bytes.findIndex((byte) => !isSpace(byte))
    if (first >= 0 && bytes[first] === openBracket) return true
    if (first >= 0 && bytes[first] !== openBrace) return false
    const next = bytes.findIndex((byte, at) => at > first && byte !== 0x20 && byte !== 0x0d)
    if (first >= 0 && next >= 0) return bytes[next] === lineFeed
    if (!(await window.more())) return false
  }
}

/**
 * Values that may stand on any number of lines: the elements of arrays, and objects outside of them. Ends after the
 * first array, where lines may follow.
 */
async function* spreadRecords(
  window: ByteWindow,
  lines: Lines,
): AsyncGenerator<FileRecord | BadLine> {
  let isInArray = false
  for (;;) {
    const byte = await nextByte(window, lines)
    if (byte === undefined) {
      if (isInArray) yield { line: lines.next, fault: 'the array ends here without a bracket' }
      return
    }
    if (byte === comma && isInArray) window.drop(1)
    else if (byte === closeBracket && isInArray) {
      window.drop(1)
      await nextByte(window, lines)
      return
    } else if (byte === openBracket && !isInArray) {
      isInArray = true
      window.drop(1)
    } else {
      const end = await endOfValue(window, isInArray)
      const bytes = window.bytes.subarray(0, end)
      const { next } = lines
      lines.next += count(bytes, lineFeed)
      window.drop(end)
      yield recordOrFault(bytes, next)
    }
  }
}

/** The byte that is not blank and comes next; those before it are dropped. */
async function nextByte(window: ByteWindow, lines: Lines): Promise<number | undefined> {
  for (;;) {
    const { bytes } = window
    const first = bytes.findIndex((byte) => !isSpace(byte))
    const blank = first < 0 ? bytes.length : first
    lines.next += count(bytes.subarray(0, blank), lineFeed)
    window.drop(blank)
    if (first >= 0) return bytes[first]
    if (!(await window.more()) && window.bytes.length === 0) return undefined
  }
}

/**
 * Where a value ends: at what encloses it, or a comma, outside of strings. A string does not go on over the end of
 * its line, so that one that is not closed spoils no more than its own value.
 */
async function endOfValue(window: ByteWindow, isInArray: boolean): Promise<number> {
  let depth = 0
  let isInString = false
  let at = 0
  for (;;) {
    const { bytes } = window
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (isInString) {
        if (byte === backslash) at++
        else if (byte === quote || byte === lineFeed) isInString = false
        continue
      }
      if (byte === quote) isInString = true
      else if (byte === openBrace || byte === openBracket) depth++
      else if (byte === closeBrace || byte === closeBracket) {
        if (depth === 0) return Math.max(at, 1)
        depth--
        if (depth === 0) return at + 1
      } else if (depth === 0 && (byte === comma || (!isInArray && byte === lineFeed))) return at
    }
    if (!(await window.more())) return window.bytes.length
  }
}

function count(bytes: Uint8Array, wanted: number): number {
  let found = 0
  for (const byte of bytes) if (byte === wanted) found++
  return found
}
