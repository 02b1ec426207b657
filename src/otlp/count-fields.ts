/** How many fields a message of protocol buffers has, found out without decoding it. */

/** Numbers of the fields that hold resources, scopes, and spans or log records. */
const partFields: readonly number[] = [1, 2, 2]

/** Values in values; what is deeper is no value of OTLP that is kept. */
const deepestField = 100

/** Longer fields take room for themselves. A text has no byte below that, so it is taken for no message either. */
const shortBytes = 32

/** Whether a request has more resources, scopes, and spans or log records than `most` together. */
export function hasMoreParts(bytes: Uint8Array, most: number): boolean {
  // A part has two bytes at least.
  if (bytes.length <= 2 * most) return false
  return countParts(bytes, 0, bytes.length, 0, most) > most
}

/** Whether a message has more short fields than `most`, with all that could be messages in it. */
export function hasMoreFields(bytes: Uint8Array, most: number): boolean {
  if (bytes.length <= 2 * most) return false
  return countShort(bytes, 0, bytes.length, deepestField, most) > most
}

function countParts(
  bytes: Uint8Array,
  start: number,
  end: number,
  level: number,
  most: number,
): number {
  let count = 0
  eachDelimited(bytes, start, end, (number, from, to) => {
    if (number !== partFields[level]) return true
    count++
    if (level + 1 < partFields.length) count += countParts(bytes, from, to, level + 1, most - count)
    return count <= most
  })
  return count
}

function countShort(
  bytes: Uint8Array,
  start: number,
  end: number,
  depth: number,
  most: number,
): number {
  let count = 0
  eachDelimited(bytes, start, end, (_, from, to) => {
    if (to - from < shortBytes) count++
    if (depth > 1 && to - from > 1) count += countShort(bytes, from, to, depth - 1, most - count)
    return count <= most
  })
  return count
}

/** Fields that have a length, until bytes are no message any more, or `goOn` is false. */
function eachDelimited(
  bytes: Uint8Array,
  start: number,
  end: number,
  goOn: (number: number, from: number, to: number) => boolean,
): void {
  let at = start
  while (at < end) {
    const tag = varint(bytes, at, end)
    if (!tag || tag.value < 8) return
    at = tag.end
    const wireType = tag.value % 8
    if (wireType === 0) at = varint(bytes, at, end)?.end ?? end
    else if (wireType === 1) at += 8
    else if (wireType === 5) at += 4
    else if (wireType === 2) {
      const length = varint(bytes, at, end)
      if (!length || length.end + length.value > end) return
      at = length.end + length.value
      if (!goOn(Math.floor(tag.value / 8), length.end, at)) return
    } else return
  }
}

function varint(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  let factor = 1
  for (let at = start; at < end && at < start + 10; at++) {
    const byte = bytes[at]!
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return { value, end: at + 1 }
    factor *= 128
  }
  return undefined
}
