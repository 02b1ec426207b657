/**
 * The frame format of LZ4, by which the Arrow files of many programs are compressed. What there is for browsers
 * reads its blocks only where their length is known, which frames do not tell.
 */

const mark = 0x184d2204
const isUncompressed = 0x80000000

/** Throws for what is no frame. */
export function decompressLz4Frame(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 7 || view.getUint32(0, true) !== mark) throw new Error('no frame of LZ4')
  const flags = bytes[4]!
  const blockChecksum = (flags & 0x10) !== 0 ? 4 : 0
  let at = 7 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0)
  const out = new GrowingBytes(4 * bytes.length)
  for (;;) {
    if (at + 4 > bytes.length) throw cutOff()
    const size = view.getUint32(at, true)
    at += 4
    if (size === 0) return out.finish()
    const end = at + (size & ~isUncompressed)
    if (end > bytes.length) throw cutOff()
    if ((size & isUncompressed) !== 0) out.append(bytes, at, end)
    else decompressBlock(bytes, at, end, out)
    at = end + blockChecksum
  }
}

function cutOff(): Error {
  return new Error('a frame of LZ4 that is cut off')
}

class GrowingBytes {
  #bytes: Uint8Array
  #length = 0

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity)
  }

  append(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    this.#bytes.set(source.subarray(start, end), this.#length)
    this.#length += end - start
  }

  /** Appends what lies `back` bytes before the end, and may go on into what it appends. */
  repeat(back: number, count: number): void {
    if (back === 0 || back > this.#length) throw new Error('a block of LZ4 that is damaged')
    this.#reserve(count)
    const bytes = this.#bytes
    for (let i = 0; i < count; i++, this.#length++)
      bytes[this.#length] = bytes[this.#length - back]!
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const grown = new Uint8Array(2 * (this.#length + count))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Runs of bytes as they are, each but the last followed by one that came before. */
function decompressBlock(bytes: Uint8Array, start: number, end: number, out: GrowingBytes): void {
  let at = start
  /** Lengths of 15 and more go on in further bytes. */
  const lengthOf = (first: number) => {
    let length = first
    if (first < 15) return length
    for (let byte = 255; byte === 255 && at < end; length += byte) byte = bytes[at++]!
    return length
  }
  while (at < end) {
    const token = bytes[at++]!
    const literals = lengthOf(token >> 4)
    if (at + literals > end) throw new Error('a block of LZ4 that is damaged')
    out.append(bytes, at, at + literals)
    at += literals
    if (at >= end) return
    const back = bytes[at]! | (bytes[at + 1]! << 8)
    at += 2
    out.repeat(back, lengthOf(token & 15) + 4)
  }
}
