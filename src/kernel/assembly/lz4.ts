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
  while (source < sourceEnd && out < outEnd) {
    const token = <u32>load<u8>(source++)
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
