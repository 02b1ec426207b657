/** Bytes as the texts of identifiers: hexadecimal digits in lower case, and UUIDs. */
import { beginKernel, kernels, place, placeOutput, takeOutput } from './arena.ts'

/** Bytes that a kernel takes at once: with what becomes of them, they have room where it works. */
const partBytes = 2 ** 17

const uuidBytes = 16
const uuidLength = 36

/** Writes two digits for each byte of `packed`. */
export function writeDigits(packed: Uint8Array, out: Uint8Array): void {
  for (let from = 0; from < packed.length; from += partBytes) {
    const part = packed.subarray(from, from + partBytes)
    const text = out.subarray(from * 2, (from + part.length) * 2)
    beginKernel()
    const source = place(part, part.length)
    const at = placeOutput(text, text.length)
    kernels.writeDigits(source, part.length, at)
    takeOutput(text, text.length, at)
  }
}

/** Writes a UUID of 36 characters for each sixteen bytes of `packed`. */
export function writeUuids(packed: Uint8Array, out: Uint8Array): void {
  for (let from = 0; from < packed.length; from += partBytes) {
    const part = packed.subarray(from, from + partBytes)
    const count = part.length / uuidBytes
    const first = (from / uuidBytes) * uuidLength
    const text = out.subarray(first, first + count * uuidLength)
    beginKernel()
    const source = place(part, part.length)
    const at = placeOutput(text, text.length)
    kernels.writeUuids(source, count, at)
    takeOutput(text, text.length, at)
  }
}
