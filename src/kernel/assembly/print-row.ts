/** Rows of blocks as they are printed: their members in another order, and what is the same for all between them. */
import { writeDigits, writeUuids } from './digits'

const hexValue: u32 = 1
const uuidValue: u32 = 2
const quote: u8 = 0x22
const uuidBytes: usize = 16
const uuidLength: usize = 36

const headBytes: usize = 16
const fieldBytes: usize = 16
const stepBytes: usize = 12
const memberBytes: usize = 16

/**
 * Writes a row to `out` and returns where it ends; 0, and nothing is written, where its members are not those that the
 * program is for. Puts the number of bytes of names, colons and values to the fourth number of the program.
 *
 *     program = field count, step count, first, 0, field*, step*, text   all numbers of 32 bits
 *     field   = rank, name length, kind, where in the text its name is   in the order of the row
 *     step    = rank of a member, or -1 - number of a derived value; where the text behind it begins and ends
 *     first   = where in the text what comes before the first step ends
 *
 * @param lengths of the values, as varints
 * @param derived a length of 32 bits and the bytes of each, end to end
 * @param ranked room for members by rank
 */
export function printRow(
  program: usize,
  lengths: usize,
  source: usize,
  sourceEnd: usize,
  derived: usize,
  ranked: usize,
  out: usize,
): usize {
  const fieldCount = <usize>load<u32>(program)
  const stepCount = <usize>load<u32>(program, 4)
  const steps = program + headBytes + fieldCount * fieldBytes
  const text = steps + stepCount * stepBytes
  let bytes: usize = 0
  for (let field = program + headBytes; field < steps; field += fieldBytes) {
    let length: usize = 0
    let shift: usize = 0
    let byte: usize
    do {
      byte = <usize>load<u8>(lengths++)
      length |= (byte & 0x7f) << shift
      shift += 7
    } while (byte > 0x7f && shift < 32)
    const nameLength = <usize>load<u32>(field, 4)
    const kind = load<u32>(field, 8)
    const value = source + nameLength + 1
    if (value > sourceEnd) return 0
    if (memory.compare(source, text + <usize>load<u32>(field, 12), nameLength) !== 0) return 0
    const packed = packedLength(kind, length)
    if (packed > sourceEnd - value) return 0
    const member = ranked + <usize>load<u32>(field) * memberBytes
    store<u32>(member, <u32>source)
    store<u32>(member, <u32>value, 4)
    store<u32>(member, <u32>length, 8)
    store<u32>(member, kind, 12)
    bytes += nameLength + 1 + length
    source = value + packed
  }
  if (source !== sourceEnd) return 0
  store<u32>(program, <u32>bytes, 12)
  out = copy(text, <usize>load<u32>(program, 8), out)
  for (let step = steps; step < text; step += stepBytes) {
    const what = load<i32>(step)
    if (what < 0) {
      let value = derived
      for (let i = -1; i > what; i--) value += 4 + <usize>load<u32>(value)
      out = copy(value + 4, <usize>load<u32>(value), out)
    } else {
      const member = ranked + <usize>what * memberBytes
      const start = <usize>load<u32>(member)
      const value = <usize>load<u32>(member, 4)
      const length = <usize>load<u32>(member, 8)
      const kind = load<u32>(member, 12)
      if (kind === 0) out = copy(start, value - start + length, out)
      else out = unpack(kind, value, length, copy(start, value - start, out))
    }
    const start = <usize>load<u32>(step, 4)
    out = copy(text + start, <usize>load<u32>(step, 8) - start, out)
  }
  return out
}

/** As `packedLength` of `storage/row/packed-value.ts`. */
function packedLength(kind: u32, length: usize): usize {
  if (kind === uuidValue) return uuidBytes
  return kind === hexValue ? (length - 2) >> 1 : length
}

/** Sixteen bytes at once, so that more may be read and written than is meant. */
function copy(from: usize, length: usize, out: usize): usize {
  const end = out + length
  while (out < end) {
    v128.store(out, v128.load(from))
    from += 16
    out += 16
  }
  return end
}

/** The value with its quotes. */
function unpack(kind: u32, value: usize, length: usize, out: usize): usize {
  store<u8>(out, quote)
  if (kind === uuidValue) {
    writeUuids(value, 1, out + 1)
    store<u8>(out + 1 + uuidLength, quote)
    return out + uuidLength + 2
  }
  writeDigits(value, <i32>((length - 2) >> 1), out + 1)
  store<u8>(out + length - 1, quote)
  return out + length
}
