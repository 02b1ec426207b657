/** Writes RowBinary. */

let at: usize = 0

export function outAt(): usize {
  return at
}

export function setOut(to: usize): void {
  at = to
}

export function writeByte(byte: u32): void {
  store<u8>(at++, byte)
}

export function write32(value: u32): void {
  store<u32>(at, value)
  at += 4
}

export function write64(value: u64): void {
  store<u64>(at, value)
  at += 8
}

export function writeDouble(value: f64): void {
  store<f64>(at, value)
  at += 8
}

/** How many bytes or elements follow. */
export function writeCount(count: usize): void {
  let left = <u32>count
  while (left >= 0x80) {
    store<u8>(at++, left | 0x80)
    left >>= 7
  }
  store<u8>(at++, left)
}

/** Copies bytes, and perhaps some of what follows them. */
export function copy(from: usize, length: usize): void {
  if (length > 256) memory.copy(at, from, length)
  else for (let i: usize = 0; i < length; i += 16) v128.store(at + i, v128.load(from + i))
  at += length
}

export function writeText(from: usize, length: usize): void {
  writeCount(length)
  copy(from, length)
}
