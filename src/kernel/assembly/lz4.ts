/** LZ4 blocks. Sixteen bytes are copied at once, so that more may be read and written than is meant. */

function copyOver(from: usize, to: usize, end: usize): void {
  do {
    v128.store(to, v128.load(from))
    from += 16
    to += 16
  } while (to < end)
}

/** Where a length ends that goes on from `source`, in bytes of 255 before the last; 0 of a damaged block. */
function endOfLength(source: usize, sourceEnd: usize): usize {
  while (source < sourceEnd) if (load<u8>(source++) !== 255) return source
  return 0
}

function moreOfLength(source: usize, end: usize): usize {
  return (end - source - 1) * 255 + <usize>load<u8>(end - 1)
}

/** At most fourteen literals and eighteen bytes of a match, each copied as a few more. */
const shortBytes: usize = 48
const shortSourceBytes: usize = 32

/**
 * Decompresses a block until `out` has come to `outEnd`, or to the end of the block. What it was compressed
 * with as a dictionary lies from `lowest` to where it is written. Returns where that ends, 0 of a damaged one.
 */
export function decompress(
  source: usize,
  sourceEnd: usize,
  lowest: usize,
  out: usize,
  outEnd: usize,
): usize {
  // Before these a short sequence neither ends nor is read or written beyond what there is.
  const shortUntil = sourceEnd - min(sourceEnd - source, shortSourceBytes)
  const shortOutUntil = outEnd - min(outEnd - out, shortBytes)
  while (source < sourceEnd && out < outEnd) {
    const token = <u32>load<u8>(source++)
    if (source < shortUntil && out < shortOutUntil && token < 0xf0 && (token & 15) !== 15) {
      v128.store(out, v128.load(source))
      const literals = <usize>(token >> 4)
      out += literals
      source += literals
      const offset = <usize>load<u16>(source)
      source += 2
      const from = out - offset
      if (offset === 0 || offset > out - lowest) return 0
      const end = out + <usize>(token & 15) + 4
      if (offset >= 16) {
        v128.store(out, v128.load(from))
        store<u32>(out + 16, load<u32>(from + 16))
      } else {
        for (let at = out; at < end; at++) store<u8>(at, load<u8>(at - offset))
      }
      out = end
      continue
    }
    let length = <usize>(token >> 4)
    if (length === 15) {
      const end = endOfLength(source, sourceEnd)
      if (end === 0) return 0
      length += moreOfLength(source, end)
      source = end
    }
    if (length > sourceEnd - source) return 0
    if (length > 0) {
      const end = out + min(length, outEnd - out)
      copyOver(source, out, end)
      source += length
      out = end
    }
    if (out === outEnd || source === sourceEnd) return out
    if (sourceEnd - source < 2) return 0
    const offset = <usize>load<u16>(source)
    source += 2
    if (offset === 0 || offset > out - lowest) return 0
    length = <usize>(token & 15) + 4
    if (length === 19) {
      const end = endOfLength(source, sourceEnd)
      if (end === 0) return 0
      length += moreOfLength(source, end)
      source = end
    }
    const end = out + min(length, outEnd - out)
    if (offset >= 16) copyOver(out - offset, out, end)
    else for (let at = out; at < end; at++) store<u8>(at, load<u8>(at - offset))
    out = end
  }
  return out
}

/** No match begins in the last twelve bytes of a block, nor has any of the last five. */
const unmatchedStarts: usize = 12
const unmatchedBytes: usize = 5
/** Positions by a hash of four bytes, of 16 bits each. */
const hashBits: u32 = 13
export const lz4TableBytes: usize = (<usize>2) << hashBits
/** After so many positions without a match steps become longer by one. */
const positionsPerStep: u32 = 64

function slotOf(table: usize, at: usize): usize {
  return table + ((<usize>((load<u32>(at) * 2654435761) >> (32 - hashBits))) << 1)
}

/** Puts what stands from `lowest` to `end` into a table of positions, for blocks that come behind it. */
export function fillTable(table: usize, lowest: usize, end: usize): void {
  memory.fill(table, 0, lz4TableBytes)
  for (let at = lowest; at + 8 <= end; at += 3) {
    store<u16>(slotOf(table, at), <u16>(at - lowest))
  }
}

function writeLength(out: usize, length: usize): usize {
  let rest = length
  while (rest >= 255) {
    store<u8>(out++, 255)
    rest -= 255
  }
  store<u8>(out++, <u8>rest)
  return out
}

function writeLiterals(out: usize, from: usize, length: usize): usize {
  if (length > 0) copyOver(from, out, out + length)
  return out + length
}

/** How many bytes are the same at two places, of which that of `at` ends at `end`. */
function sameBytes(at: usize, other: usize, end: usize): usize {
  const start = at
  while (at + 8 <= end) {
    const differing = load<u64>(at) ^ load<u64>(other)
    if (differing !== 0) return at - start + <usize>(ctz(differing) >> 3)
    at += 8
    other += 8
  }
  while (at < end && load<u8>(at) === load<u8>(other)) {
    at++
    other++
  }
  return at - start
}

/**
 * Compresses a block, behind which a few bytes may be read and `out` written. What it may refer to begins at
 * `lowest`, where `table` counts from; from there to its end are less than 64 KiB. Returns where the result ends.
 *
 * @param table zeros, or what `fillTable` has made; not to be used again
 */
export function compress(
  table: usize,
  lowest: usize,
  source: usize,
  end: usize,
  out: usize,
): usize {
  let literals = source
  let at = source
  if (end - source > unmatchedStarts) {
    const lastStart = end - unmatchedStarts
    const lastMatched = end - unmatchedBytes
    store<u16>(slotOf(table, at), <u16>(at - lowest))
    at++
    for (;;) {
      let match: usize = 0
      let tried: u32 = positionsPerStep
      let isFound = false
      while (at <= lastStart) {
        const slot = slotOf(table, at)
        match = lowest + <usize>load<u16>(slot)
        store<u16>(slot, <u16>(at - lowest))
        if (load<u32>(match) === load<u32>(at)) {
          isFound = true
          break
        }
        at += <usize>(tried++ / positionsPerStep)
      }
      if (!isFound) break
      while (at > literals && match > lowest && load<u8>(at - 1) === load<u8>(match - 1)) {
        at--
        match--
      }
      const literalCount = at - literals
      const token = out++
      if (literalCount >= 15) out = writeLength(out, literalCount - 15)
      out = writeLiterals(out, literals, literalCount)
      store<u16>(out, <u16>(at - match))
      out += 2
      const length = sameBytes(at + 4, match + 4, lastMatched)
      store<u8>(token, <u8>((min(literalCount, 15) << 4) | min(length, 15)))
      if (length >= 15) out = writeLength(out, length - 15)
      at += length + 4
      literals = at
      if (at > lastStart) break
      store<u16>(slotOf(table, at - 2), <u16>(at - 2 - lowest))
    }
  }
  const literalCount = end - literals
  store<u8>(out++, <u8>(min(literalCount, 15) << 4))
  if (literalCount >= 15) out = writeLength(out, literalCount - 15)
  return writeLiterals(out, literals, literalCount)
}
