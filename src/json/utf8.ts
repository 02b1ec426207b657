import { isUtf8 } from 'node:buffer'
import { AssayError } from '../error.ts'
import { largeBytes, requireHeapRoom } from './heap-room.ts'
import { longBytes, noteLong } from './turn-limit.ts'

const loneSurrogate = /\p{Surrogate}/u

/** Throws REQUEST_NOT_UTF8 unless `bytes` are UTF-8. */
export function requireUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) {
    throw new AssayError('REQUEST_NOT_UTF8', 'the text is not encoded in UTF-8', {
      hint: 'send UTF-8',
    })
  }
}

/** Decodes bytes that are known to be UTF-8. Throws LIMIT_MEMORY when the text does not fit into the heap. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (end - start > longBytes) noteLong(end - start)
  if (end - start > largeBytes) requireHeapRoom(end - start)
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8', start, end)
}

/**
 * The UTF-8 bytes of a text. Half of a surrogate pair becomes the three bytes that its code point would have, which
 * are in no UTF-8: they equal nothing but themselves and come where `compareText` puts the half.
 */
export function encodeUtf8(text: string): Buffer {
  if (!loneSurrogate.test(text)) return Buffer.from(text)
  // By stretches, as each half is a part of its own.
  return Buffer.concat(stretchesOf(text, encodedUnits).map(encodeStretch))
}

const encodedUnits = 2 ** 16

function encodeStretch(text: string): Buffer {
  const parts = text.split(/(\p{Surrogate})/u)
  return Buffer.concat(parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : half(part))))
}

/** The text in stretches of about as many UTF-16 units, none of which ends within a pair. */
export function stretchesOf(text: string, units: number): string[] {
  const stretches: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + units, text.length)
    if (to < text.length && text.codePointAt(to - 1)! > 0xffff) to++
    stretches.push(text.slice(from, to))
    from = to
  }
  return stretches
}

function half(unit: string): Buffer {
  const code = unit.charCodeAt(0)
  return Buffer.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
}
