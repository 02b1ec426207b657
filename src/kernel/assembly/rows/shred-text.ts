/**
 * The texts of one column, as `storage/shred/shred-text.ts` collects them. A builder has:
 *
 *     codes u32, offsets u32, room for offsets i32, bytes u32, room for bytes u32, slots u32, slot count i32,
 *     texts i32, bytes i32, values i32, next row i32, last code i32, has dictionary i32, probes i32
 */
import { areEqual, factor } from './json-text'
import { reserve } from './shred-heap'

const builderBytes: usize = 64
const shortTextBytes: i64 = 64
const maximumLongTexts: i32 = 65536
const trialTexts: i32 = 4096
const longTrialTexts: i32 = 1024
const longTextBytes: i32 = 100
const smallDictionary: i32 = 16
const firstSlots: i32 = 64

let rowCount: i32 = 0

export function beginTexts(rows: i32): void {
  rowCount = rows
}

/** A builder without texts; 0 where there is no room. */
export function newText(): usize {
  const builder = reserve(builderBytes)
  const codes = reserve((<usize>rowCount) << 2)
  const offsets = reserve(65 << 2)
  const bytes = reserve(1024)
  if (builder === 0 || codes === 0 || offsets === 0 || bytes === 0) return 0
  memory.fill(codes, 0xff, (<usize>rowCount) << 2)
  store<u32>(offsets, 0)
  store<u32>(builder, <u32>codes)
  store<u32>(builder, <u32>offsets, 4)
  store<i32>(builder, 65, 8)
  store<u32>(builder, <u32>bytes, 12)
  store<u32>(builder, 1024, 16)
  memory.fill(builder + 20, 0, 24)
  store<i32>(builder, -1, 44)
  store<i32>(builder, 1, 48)
  store<i32>(builder, 0, 52)
  return builder
}

function textCount(builder: usize): i32 {
  return load<i32>(builder, 28)
}

function byteLength(builder: usize): i32 {
  return load<i32>(builder, 32)
}

function offsetAt(builder: usize, text: i32): u32 {
  return load<u32>(<usize>load<u32>(builder, 4) + ((<usize>text) << 2))
}

/** Sets the text of `row`. Returns false where there is no room. */
export function appendText(
  builder: usize,
  row: i32,
  start: usize,
  length: usize,
  isVerbatim: bool,
): bool {
  store<i32>(builder, load<i32>(builder, 36) + 1, 36)
  if (load<i32>(builder, 48) === 0) {
    if (!fillTo(builder, row) || !push(builder, start, length)) return false
    store<i32>(builder, row + 1, 40)
    return true
  }
  const known = textCount(builder)
  const code = codeOf(builder, start, length)
  if (code < 0) return false
  store<i32>(<usize>load<u32>(builder) + ((<usize>row) << 2), code)
  store<i32>(builder, isVerbatim ? code : -1, 44)
  const collides = load<i32>(builder, 52) > load<i32>(builder, 36) * 16 + longTrialTexts
  if (collides || (code === known && !isWorthwhile(builder))) return giveUpDictionary(builder, row)
  return true
}

/** Sets the text that was set last for `row`, too, if it stands at `start`; returns its length, or -1. */
export function repeatText(builder: usize, row: i32, start: usize): i32 {
  const code = load<i32>(builder, 44)
  if (code < 0) return -1
  const from = offsetAt(builder, code)
  const length = <usize>(offsetAt(builder, code + 1) - from)
  if (load<u8>(start + length) !== 0x22) return -1
  if (!areEqual(<usize>load<u32>(builder, 12) + <usize>from, start, length)) return -1
  store<i32>(builder, load<i32>(builder, 36) + 1, 36)
  store<i32>(<usize>load<u32>(builder) + ((<usize>row) << 2), code)
  return <i32>length
}

/** Takes back the text of `row`, the last that was set. */
export function takeBackText(builder: usize, row: i32): void {
  store<i32>(builder, load<i32>(builder, 36) - 1, 36)
  if (load<i32>(builder, 48) !== 0) {
    store<i32>(<usize>load<u32>(builder) + ((<usize>row) << 2), -1)
    return
  }
  const count = textCount(builder) - 1
  store<i32>(builder, count, 28)
  store<i32>(builder, <i32>offsetAt(builder, count), 32)
  store<i32>(builder, row, 40)
}

/** To be called after the last row; returns false where there is no room. */
export function finishText(builder: usize): bool {
  if (load<i32>(builder, 48) !== 0) {
    if (dictionaryPays(builder)) return true
    if (!giveUpDictionary(builder, rowCount - 1)) return false
  }
  return fillTo(builder, rowCount)
}

function isWorthwhile(builder: usize): bool {
  const count = textCount(builder)
  if (count <= smallDictionary) return true
  if (!dictionaryPays(builder)) return false
  const values = load<i32>(builder, 36)
  if (count === values && count >= trialTexts) return false
  if (count < longTrialTexts || byteLength(builder) < count * longTextBytes) return true
  return count * 2 <= values
}

function dictionaryPays(builder: usize): bool {
  const count = textCount(builder)
  if (count <= 1) return true
  if (<i64>byteLength(builder) <= <i64>count * shortTextBytes) return count * 2 <= rowCount
  return count <= maximumLongTexts && count * 4 <= rowCount
}

/** Writes the texts of all rows up to `lastRow` one by one. */
function giveUpDictionary(builder: usize, lastRow: i32): bool {
  const codes = <usize>load<u32>(builder)
  const distinct = <usize>load<u32>(builder, 12)
  const ends = <usize>load<u32>(builder, 4)
  let total: usize = 1024
  for (let row = 0; row <= lastRow; row++) {
    const code = load<i32>(codes + ((<usize>row) << 2))
    if (code < 0) continue
    const at = ends + ((<usize>code) << 2)
    total += <usize>(load<u32>(at, 4) - load<u32>(at))
  }
  // As much again for the rows that are left, by what there was so far.
  total += (total / <usize>(lastRow + 1)) * <usize>(rowCount - lastRow - 1)
  const offsets = reserve((<usize>(rowCount + 1)) << 2)
  const bytes = reserve(total)
  if (offsets === 0 || bytes === 0) return false
  store<u32>(offsets, 0)
  store<u32>(builder, <u32>offsets, 4)
  store<i32>(builder, rowCount + 1, 8)
  store<u32>(builder, <u32>bytes, 12)
  store<u32>(builder, <u32>total, 16)
  store<i32>(builder, 0, 28)
  store<i32>(builder, 0, 32)
  store<i32>(builder, -1, 44)
  store<i32>(builder, 0, 48)
  for (let row = 0; row <= lastRow; row++) {
    const code = load<i32>(codes + ((<usize>row) << 2))
    if (code < 0) {
      if (!pushEmpty(builder)) return false
      continue
    }
    const at = ends + ((<usize>code) << 2)
    const from = load<u32>(at)
    if (!push(builder, distinct + <usize>from, <usize>(load<u32>(at, 4) - from))) return false
  }
  store<i32>(builder, lastRow + 1, 40)
  return true
}

function fillTo(builder: usize, row: i32): bool {
  for (let at = load<i32>(builder, 40); at < row; at++) if (!pushEmpty(builder)) return false
  store<i32>(builder, row, 40)
  return true
}

function push(builder: usize, start: usize, length: usize): bool {
  const from = <usize>byteLength(builder)
  const room = <usize>load<u32>(builder, 16)
  if (from + length > room) {
    const grown = max(room * 2, from + length)
    const bytes = reserve(grown)
    if (bytes === 0) return false
    memory.copy(bytes, <usize>load<u32>(builder, 12), from)
    store<u32>(builder, <u32>bytes, 12)
    store<u32>(builder, <u32>grown, 16)
  }
  copy(<usize>load<u32>(builder, 12) + from, start, length)
  store<i32>(builder, <i32>(from + length), 32)
  return pushEmpty(builder)
}

function copy(to: usize, from: usize, length: usize): void {
  if (length > 256) {
    memory.copy(to, from, length)
    return
  }
  for (let done: usize = 0; done < length; done += 16) {
    v128.store(to + done, v128.load(from + done))
  }
}

function pushEmpty(builder: usize): bool {
  const count = textCount(builder) + 1
  if (count === load<i32>(builder, 8)) {
    const offsets = reserve((<usize>count) << 3)
    if (offsets === 0) return false
    memory.copy(offsets, <usize>load<u32>(builder, 4), (<usize>count) << 2)
    store<u32>(builder, <u32>offsets, 4)
    store<i32>(builder, count * 2, 8)
  }
  store<i32>(builder, count, 28)
  store<i32>(<usize>load<u32>(builder, 4) + ((<usize>count) << 2), byteLength(builder))
  return true
}

/** The number of the text, which is added when it is new; -1 where there is no room. */
function codeOf(builder: usize, start: usize, length: usize): i32 {
  const count = textCount(builder)
  if (count * 2 >= load<i32>(builder, 24) && !rehash(builder)) return -1
  const slots = <usize>load<u32>(builder, 20)
  const mask = load<i32>(builder, 24) - 1
  const hash = hashText(start, length)
  let slot = hash & mask
  while (true) {
    const place = slots + ((<usize>slot) << 3)
    const code = load<i32>(place, 4)
    if (code === -1) break
    if (load<i32>(place) === hash) {
      const from = offsetAt(builder, code)
      const known = <usize>load<u32>(builder, 12) + <usize>from
      if (<usize>(offsetAt(builder, code + 1) - from) === length) {
        if (areEqual(known, start, length)) return code
      }
    }
    slot = (slot + 1) & mask
    store<i32>(builder, load<i32>(builder, 52) + 1, 52)
  }
  store<i32>(slots + ((<usize>slot) << 3), hash)
  store<i32>(slots + ((<usize>slot) << 3), count, 4)
  return push(builder, start, length) ? count : -1
}

function rehash(builder: usize): bool {
  const old = <usize>load<u32>(builder, 20)
  const oldCount = load<i32>(builder, 24)
  const count = oldCount === 0 ? firstSlots : oldCount * 2
  const slots = reserve((<usize>count) << 3)
  if (slots === 0) return false
  memory.fill(slots, 0xff, (<usize>count) << 3)
  const mask = count - 1
  for (let i = 0; i < oldCount; i++) {
    const entry = load<u64>(old + ((<usize>i) << 3))
    if (<i32>(entry >> 32) === -1) continue
    let slot = <i32>entry & mask
    while (load<i32>(slots + ((<usize>slot) << 3), 4) !== -1) slot = (slot + 1) & mask
    store<u64>(slots + ((<usize>slot) << 3), entry)
  }
  store<u32>(builder, <u32>slots, 20)
  store<i32>(builder, count, 24)
  return true
}

/** Of a long text, some at its ends and some spread over it: alike texts are rare, and compared. */
function hashText(start: usize, length: usize): i32 {
  let hash = <u64>length * factor
  if (length <= 128) {
    const end = start + length
    let at = start
    for (; at + 8 <= end; at += 8) hash = mix(hash, load<u64>(at))
    if (at < end) {
      hash = mix(hash, load<u64>(at) & (((<u64>1) << ((<u64>(end - at)) << 3)) - 1))
    }
  } else {
    const stride = length >> 4
    for (let i: usize = 0; i < 32; i += 8) {
      hash = mix(hash, load<u64>(start + i))
      hash = mix(hash, load<u64>(start + length - 8 - i))
    }
    for (let i: usize = 0; i < 15; i++) hash = mix(hash, load<u64>(start + i * stride))
  }
  return <i32>(hash >> 32)
}

function mix(hash: u64, word: u64): u64 {
  const product = (hash ^ word) * factor
  return product ^ (product >> 29)
}
