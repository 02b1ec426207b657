/** Texts end to end, each of them behind its length in bytes as LEB128, as RowBinary has them. */

interface TextSpan {
  readonly from: number
  readonly to: number
}

/** Where the text is whose length begins at `start`; undefined when not all of it is there. */
export function prefixedText(bytes: Uint8Array, start: number): TextSpan | undefined {
  let length = 0
  for (let [at, scale] = [start, 1]; at < bytes.length; scale *= 0x80) {
    const byte = bytes[at++]!
    length += (byte & 0x7f) * scale
    if (byte >= 0x80) continue
    return at + length <= bytes.length ? { from: at, to: at + length } : undefined
  }
  return undefined
}

/** All texts of bytes that end with the last one. */
export function* prefixedTexts(bytes: Buffer): Generator<string> {
  let at = 0
  for (let span = prefixedText(bytes, at); span; span = prefixedText(bytes, at)) {
    yield bytes.toString('utf8', span.from, span.to)
    at = span.to
  }
}
