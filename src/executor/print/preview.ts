/** Fields that are shown shortened: a page of a list needs no more of them. */

import type { ByteWriter } from '../../json/byte-writer.ts'
import { decodeUtf8 } from '../../json/utf8.ts'

/** The fields that a preview shortens, where they are shown as they are. */
export const previewedFields: readonly string[] = [
  'error',
  'expected',
  'input',
  'metadata',
  'output',
]

const quote = 0x22

/**
 * Appends the value that is the JSON text from `start` to `end`. When its text (of a string, what it
 * says; of anything else, its JSON) has more than `length` characters, a string of the first of them
 * takes its place, with an ellipsis at its end.
 */
export function writePreview(
  bytes: Buffer,
  start: number,
  end: number,
  length: number,
  out: ByteWriter,
): void {
  // A character takes a byte at least, and with JSON's escapes more.
  if (end - start > length) {
    const text =
      bytes[start] === quote
        ? (JSON.parse(decodeUtf8(bytes, start, end)) as string)
        : // Enough for one character more than is shown, in UTF-8; a cut one at its end does not count.
          decodeUtf8(bytes, start, Math.min(end, start + (length + 2) * 4))
    const cut = indexAfter(text, length)
    if (cut < text.length) {
      out.text(JSON.stringify(`${text.slice(0, cut)}…`))
      return
    }
  }
  out.copy(bytes, start, end)
}

/** Where the first `count` characters of the text end; a pair of surrogates is one. */
function indexAfter(text: string, count: number): number {
  let at = 0
  for (let i = 0; i < count && at < text.length; i++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return Math.min(at, text.length)
}
