/**
 * Identifiers in half of their bytes: values that are strings of hexadecimal digits look random, so
 * that nothing else makes them smaller. What is packed is given back to the byte.
 */

/** A value that stands as it is. */
export const plainValue = 0
/** A string of at least 16 digits, an even number of them. */
const digitsValue = 1
/** A UUID in lower case. */
const uuidValue = 2
const fewestDigits = 16

const uuidLength = 38
const uuidBytes = 16

const quote = 0x22
const dash = 0x2d

/** Of a byte, its value as a digit; 16 for others. */
const digits = new Uint8Array(256).fill(16)
/** Of a value, its digit. */
const characters = Buffer.from('0123456789abcdef')
characters.forEach((character, value) => {
  digits[character] = value
})

/** Whether there is nothing but hexadecimal digits in lower case. */
export function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (digits[bytes[at]!] === 16) return false
  return true
}

/** Whether a UUID in lower case begins there. */
export function isUuid(bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < uuidLength - 2; i++) {
    const byte = bytes[start + i]!
    if (isDashPlace(i) ? byte !== dash : digits[byte] === 16) return false
  }
  return true
}

function isDashPlace(i: number): boolean {
  return i === 8 || i === 13 || i === 18 || i === 23
}

/** Of which kind a value is best kept: JSON text, or none. */
export function packedKindOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length < fewestDigits + 2 || bytes[start] !== quote || bytes[end - 1] !== quote) {
    return plainValue
  }
  if (length === uuidLength && isUuid(bytes, start + 1)) return uuidValue
  return length % 2 === 0 && areDigits(bytes, start + 1, end - 1) ? digitsValue : plainValue
}

/** How many bytes a value of so many takes. */
export function packedLength(kind: number, length: number): number {
  if (kind === plainValue) return length
  return kind === uuidValue ? uuidBytes : (length - 2) / 2
}

/** How many bytes a packed value of so many has as a text. */
export function unpackedLength(kind: number, length: number): number {
  return kind === uuidValue ? uuidLength : length * 2 + 2
}

/** Writes a byte for each two digits of those at `start … end` from `to` on, and none for dashes. */
export function packDigits(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
): void {
  for (let at = start; at < end; at += 2) {
    if (bytes[at] === dash) at++
    target[to++] = (digits[bytes[at]!]! << 4) | digits[bytes[at + 1]!]!
  }
}

/** Writes the value whose packed form begins at `from` to `start … end` of `target`. */
export function unpackValue(
  kind: number,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  start: number,
  end: number,
): void {
  target[start] = quote
  target[end - 1] = quote
  unpackDigits(kind === uuidValue, source, from, target, start + 1, end - 1)
}

/** Writes the digits of the bytes from `from` on to `start … end` of `target`; those of a UUID with its dashes. */
export function unpackDigits(
  isUuid: boolean,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  start: number,
  end: number,
): void {
  for (let at = start, byte = from; at < end; byte++) {
    if (isUuid && isDashPlace(at - start)) target[at++] = dash
    const value = source[byte]!
    target[at++] = characters[value >> 4]!
    target[at++] = characters[value & 15]!
  }
}
