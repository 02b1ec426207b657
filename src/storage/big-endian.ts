/**
 * Big-endian integers in bytes that are known to have room for them: Buffer's own ways check more than they
 * read or write.
 */

export function readUint(bytes: Uint8Array, at: number): number {
  const low = (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  return bytes[at]! * 2 ** 24 + low
}

export function writeUint(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/** Of 48 bits. */
export function readUint48(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 8) | bytes[at + 1]!) * 2 ** 32 + readUint(bytes, at + 2)
}

/** Of 48 bits. */
export function writeUint48(bytes: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  bytes[at] = high >>> 8
  bytes[at + 1] = high
  writeUint(bytes, at + 2, value >>> 0)
}

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)
const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

export function writeDouble(bytes: Uint8Array, at: number, value: number): void {
  double[0] = value
  for (let i = 0; i < 8; i++) bytes[at + i] = doubleBytes[isLittleEndian ? 7 - i : i]!
}
