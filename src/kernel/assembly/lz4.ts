/** LZ4's block format: literals and matches with what came before. */

const shortestMatch: i32 = 4
const farthestMatch: usize = 65535
/** The format wants no match to begin in the last 12 bytes, or to reach into the last 5. */
const unmatchedBytes: usize = 12
const lastLiterals: usize = 5
/** After so many places without a match the steps grow. */
const patience: i32 = 1 << 6

/**
 * Compresses the bytes from `start` to `end`, and returns how many it writes to `out`: up to 1/255 and 16 more
 * than they are. Matches may lie in what is before them, down to `base`, where `table` knows of it.
 *
 * @param table 4,096 places by the hash of the four bytes there, at first 0
 */
export function compressLz4(base: usize, start: usize, end: usize, table: usize, out: usize): i32 {
  let to = out
  let anchor = start
  let at = start
  while (at + unmatchedBytes <= end) {
    let tries = patience
    let match: usize = 0
    while (at + unmatchedBytes <= end) {
      const word = load<u32>(at)
      const slot = slotOf(table, word)
      match = <usize>load<u32>(slot)
      store<u32>(slot, <u32>at)
      if (match >= base && at - match <= farthestMatch && load<u32>(match) === word) break
      match = 0
      at += <usize>(tries++ >> 6)
    }
    if (match === 0) break
    while (at > anchor && match > base && load<u8>(at - 1) === load<u8>(match - 1)) {
      at--
      match--
    }
    const matched = at + endOfMatch(at, match, end - lastLiterals)
    to = writeSequence(to, anchor, at, at - match, <i32>(matched - at))
    at = matched
    anchor = matched
    store<u32>(slotOf(table, load<u32>(at - 2)), <u32>(at - 2))
  }
  const literals = <i32>(end - anchor)
  store<u8>(to, min(literals, 15) << 4)
  to = writeLength(to + 1, literals)
  copyWide(to, anchor, literals)
  return <i32>(to + literals - out)
}

function slotOf(table: usize, word: u32): usize {
  return table + ((<usize>((word * <u32>0x9e3779b1) >>> 20)) << 2)
}

/** How many bytes are equal, of which four are known to be. */
function endOfMatch(at: usize, match: usize, end: usize): usize {
  let length: usize = shortestMatch
  while (at + length + 8 <= end) {
    const difference = load<u64>(at + length) ^ load<u64>(match + length)
    if (difference !== 0) return length + <usize>(ctz(difference) >> 3)
    length += 8
  }
  while (at + length < end && load<u8>(at + length) === load<u8>(match + length)) length++
  return length
}

function writeSequence(out: usize, anchor: usize, at: usize, offset: usize, length: i32): usize {
  const literals = <i32>(at - anchor)
  const rest = length - shortestMatch
  store<u8>(out, (min(literals, 15) << 4) | min(rest, 15))
  let to = writeLength(out + 1, literals)
  copyWide(to, anchor, literals)
  to += literals
  store<u16>(to, <u16>offset)
  return writeLength(to + 2, rest)
}

/** Up to 15 bytes more than are wanted, for which there is room. */
function copyWide(to: usize, from: usize, length: i32): void {
  for (let i: usize = 0; i < <usize>length; i += 16) v128.store(to + i, v128.load(from + i))
}

/** What of a length of 15 or more does not fit beside the other one. */
function writeLength(out: usize, length: i32): usize {
  if (length < 15) return out
  let to = out
  let rest = length - 15
  for (; rest >= 255; rest -= 255) store<u8>(to++, 255)
  store<u8>(to, rest)
  return to + 1
}
