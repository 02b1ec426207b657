/** Masks files that are kept beside records. */
import { isUtf8 } from 'node:buffer'
import { AssayError } from '../../error.ts'
import { JsonScanner } from '../../json/scan.ts'
import { Edits } from '../../masking/edits.ts'
import type { Masker } from '../../masking/masker.ts'

const space = 0x20

/**
 * The file with its values masked, if it is text: values of JSON by the names of their members, too, be it one
 * document or one a line. Itself where nothing is to be masked.
 */
export function maskFile(given: Uint8Array, masker: Masker): Uint8Array {
  if (!isUtf8(given)) return given
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  return maskDocuments(bytes, masker) ?? masker.text(bytes)
}

/** Undefined where the text is no JSON. */
function maskDocuments(bytes: Buffer, masker: Masker): Uint8Array | undefined {
  const edits = new Edits()
  try {
    const scanner = new JsonScanner(bytes)
    while (scanner.peek() !== -1) scanner.value()
    masker.begin(bytes, edits)
    for (let at = textFrom(bytes, 0); at < bytes.length; ) at = textFrom(bytes, masker.value(at))
  } catch (thrown) {
    if (thrown instanceof AssayError) return undefined
    throw thrown
  } finally {
    masker.end()
  }
  return edits.length === 0 ? bytes : edits.apply(bytes, 0, bytes.length)
}

function textFrom(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at]! <= space) at++
  return at
}
