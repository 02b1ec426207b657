/** A JSON string with escapes as the text it stands for, with the place that each byte came from. */

const backslash = 0x5c

/** What the letter behind a backslash stands for, where it is not itself. */
const short = new Map(
  Object.entries({ b: 0x08, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 }).map(([letter, code]) => {
    return [letter.charCodeAt(0), code] as const
  }),
)

export class DecodedString {
  bytes = Buffer.alloc(1024)
  /** Where each byte begins in the JSON text, and where the last one ends. */
  places = new Int32Array(1025)
  length = 0

  /** Decodes what is between the quotes of a string, whose escapes are valid. */
  read(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    let length = 0
    let at = start
    while (at < end) {
      const byte = bytes[at]!
      if (byte !== backslash) {
        this.bytes[length] = byte
        this.places[length++] = at++
        continue
      }
      const letter = bytes[at + 1]!
      if (letter !== 0x75) {
        this.bytes[length] = short.get(letter) ?? letter
        this.places[length++] = at
        at += 2
        continue
      }
      const begin = at
      let code = hexadecimal(bytes, at + 2)
      at += 6
      if (code >= 0xd800 && code < 0xdc00 && bytes[at] === backslash && bytes[at + 1] === 0x75) {
        const low = hexadecimal(bytes, at + 2)
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
          at += 6
        }
      }
      const before = length
      length = encode(code, this.bytes, length)
      this.places.fill(begin, before, length)
    }
    this.places[length] = end
    this.length = length
  }

  #reserve(most: number): void {
    if (most < this.bytes.length) return
    this.bytes = Buffer.alloc(most * 2)
    this.places = new Int32Array(most * 2 + 1)
  }
}

function hexadecimal(bytes: Uint8Array, at: number): number {
  let code = 0
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? 0
    code = code * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
  }
  return code & 0xffff
}

/** Half of a pair becomes three bytes, which are no UTF-8 and match nothing. */
function encode(code: number, out: Uint8Array, start: number): number {
  let at = start
  if (code < 0x80) out[at++] = code
  else {
    if (code < 0x800) out[at++] = 0xc0 | (code >> 6)
    else {
      if (code < 0x10000) out[at++] = 0xe0 | (code >> 12)
      else {
        out[at++] = 0xf0 | (code >> 18)
        out[at++] = 0x80 | ((code >> 12) & 0x3f)
      }
      out[at++] = 0x80 | ((code >> 6) & 0x3f)
    }
    out[at++] = 0x80 | (code & 0x3f)
  }
  return at
}
