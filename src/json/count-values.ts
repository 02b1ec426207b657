const quote = 0x22
const backslash = 0x5c

/** 1 for what is followed by another value of the text. */
const begins = new Uint8Array(256)
for (const sign of ',{[') begins[sign.charCodeAt(0)] = 1

/**
 * Whether a JSON text has more values than `most`, each object or list with what is in it; empty ones count twice. Parsed, each
 * takes many times the two bytes that it may be written with. Of what is no JSON the answer means nothing.
 */
export function hasMoreValues(
  bytes: Uint8Array,
  most: number,
  start = 0,
  end = bytes.length,
): boolean {
  if (end - start <= most) return false
  let count = 1
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      at++
      while (at < end && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
    } else if (begins[byte] === 1) {
      count++
      if (count > most) return true
    }
  }
  return false
}
