/** Strings without their escapes. */
import { backslash, byteAt, skipPlain } from './json-text'

/** Writes a string without its escapes; returns its length, or -1 when half of a surrogate pair is missing. */
export function withoutEscapes(start: usize, end: usize, target: usize): i32 {
  let at = start
  let to = target
  while (at < end) {
    const plain = min(skipPlain(at), end)
    memory.copy(to, at, plain - at)
    to += plain - at
    at = plain
    if (at === end) break
    const letter = byteAt(at + 1)
    at += 2
    if (letter !== 0x75) {
      store<u8>(to++, escapeOf(letter))
      continue
    }
    let code = hexadecimal(at)
    at += 4
    if (code >= 0xd800 && code < 0xe000) {
      let low: u32 = 0
      if (code < 0xdc00 && byteAt(at) === backslash && byteAt(at + 1) === 0x75) {
        low = hexadecimal(at + 2)
      }
      if (low < 0xdc00 || low >= 0xe000) return -1
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
      at += 6
    }
    to = writeCharacter(to, code)
  }
  return <i32>(to - target)
}

function escapeOf(letter: u32): u32 {
  if (letter === 0x6e) return 10
  if (letter === 0x74) return 9
  if (letter === 0x72) return 13
  if (letter === 0x62) return 8
  return letter === 0x66 ? 12 : letter
}

function hexadecimal(at: usize): u32 {
  let code: u32 = 0
  for (let i: usize = 0; i < 4; i++) {
    const byte = byteAt(at + i)
    code = code * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
  }
  return code
}

function writeCharacter(place: usize, code: u32): usize {
  let to = place
  if (code < 0x80) {
    store<u8>(to++, code)
    return to
  }
  if (code < 0x800) store<u8>(to++, 0xc0 | (code >> 6))
  else {
    if (code < 0x10000) store<u8>(to++, 0xe0 | (code >> 12))
    else {
      store<u8>(to++, 0xf0 | (code >> 18))
      store<u8>(to++, 0x80 | ((code >> 12) & 0x3f))
    }
    store<u8>(to++, 0x80 | ((code >> 6) & 0x3f))
  }
  store<u8>(to++, 0x80 | (code & 0x3f))
  return to
}
