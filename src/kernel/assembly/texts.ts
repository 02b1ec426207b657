/**
 * Loops over UTF-8 texts that lie end to end. Bytes of text `i` are those from `offsets[i]` on, counted from `base`,
 * which may lie before the memory's start.
 */
import { byteAt, codeAt, setCode } from './memory'

const firstFactor: i32 = 0x9e3779b1
const secondFactor: i32 = 0x85ebca6b

/**
 * Two hashes of each text, side by side, both 0 where it is not valid, and never else.
 *
 * @param valid one byte per text, 0 where it is not; 0: all are
 */
export function hashTexts(base: i32, offsets: usize, valid: usize, count: i32, out: usize): void {
  let start = codeAt(offsets, 0)
  for (let i = 0; i < count; i++) {
    const end = codeAt(offsets, i + 1)
    if (valid !== 0 && byteAt(valid, i) === 0) {
      store<i64>(out, 0)
      out += 8
      start = end
      continue
    }
    let first = end - start
    let second = ~first
    let at = start
    for (; at + 4 <= end; at += 4) {
      const word = load<i32>(<usize>(base + at))
      first = (first ^ word) * firstFactor
      first ^= <i32>(<u32>first >> 15)
      second = rotl<i32>((second ^ word) * secondFactor, 13)
    }
    for (; at < end; at++) {
      const byte = <i32>load<u8>(<usize>(base + at))
      first = (first ^ byte) * firstFactor
      first ^= <i32>(<u32>first >> 15)
      second = rotl<i32>((second ^ byte) * secondFactor, 13)
    }
    first = (first ^ <i32>(<u32>first >> 13)) * secondFactor
    second = (second ^ <i32>(<u32>second >> 16)) * firstFactor
    second ^= <i32>(<u32>second >> 15)
    store<i32>(out, first)
    store<i32>(out + 4, first | second ? second : 1)
    out += 8
    start = end
  }
}

/** Copies the texts of these rows end to end, and writes where each ends. */
export function pickTexts(
  base: i32,
  offsets: usize,
  rows: usize,
  count: i32,
  out: usize,
  ends: usize,
): void {
  let at = 0
  for (let i = 0; i < count; i++) {
    const row = codeAt(rows, i)
    const start = codeAt(offsets, row)
    const length = codeAt(offsets, row + 1) - start
    memory.copy(out + <usize>at, <usize>(base + start), <usize>length)
    at += length
    setCode(ends, i, at)
  }
}

const quote = 0x22
const backslash = 0x5c
const opening = 0x5b
const closing = 0x5d

/**
 * Copies the texts of JSON lists that have one each, without escapes, end to end, and writes where each ends; -1 where
 * a list is none such, else how many bytes they are. Where a list is not valid, its text is empty.
 */
export function singleTexts(
  base: i32,
  offsets: usize,
  valid: usize,
  count: i32,
  out: usize,
  ends: usize,
): i32 {
  let at = 0
  for (let i = 0; i < count; i++) {
    if (byteAt(valid, i) !== 0) {
      const start = <usize>(base + codeAt(offsets, i))
      const end = <usize>(base + codeAt(offsets, i + 1))
      if (end < start + 4) return -1
      if (load<u8>(start) !== opening || load<u8>(start + 1) !== quote) return -1
      if (load<u8>(end - 1) !== closing || load<u8>(end - 2) !== quote) return -1
      for (let from = start + 2; from < end - 2; from++) {
        const byte = load<u8>(from)
        if (byte === quote || byte === backslash) return -1
        store<u8>(out + <usize>at, byte)
        at++
      }
    }
    setCode(ends, i, at)
  }
  return at
}
