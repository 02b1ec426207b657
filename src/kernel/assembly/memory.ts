/** Elements of arrays by their place in memory. Rows are counted from 0; nothing is checked. */

/** Where `arena.ts` has put, for each byte, the places of its bits that are set, in eight bytes. */
export const placesOfBits: usize = 1024

/** The same, of numbers of two bytes: the places of the bytes of those whose bits are set, in sixteen bytes. */
export const lanesOfBits: usize = 4096

/** From here on memory is free for sets of rows, and for batches. */
export const tablesEnd: usize = 8192

export function numberAt(values: usize, row: i32): f64 {
  return load<f64>(values + ((<usize>row) << 3))
}

export function setNumber(values: usize, row: i32, value: f64): void {
  store<f64>(values + ((<usize>row) << 3), value)
}

export function codeAt(codes: usize, row: i32): i32 {
  return load<i32>(codes + ((<usize>row) << 2))
}

export function setCode(codes: usize, row: i32, code: i32): void {
  store<i32>(codes + ((<usize>row) << 2), code)
}

export function byteAt(bytes: usize, row: i32): i32 {
  return load<u8>(bytes + <usize>row)
}

/** 1 unless the number is NaN. `x == x` is a branch in machine code, and slow when nulls are many. */
export function isPresent(value: f64): i32 {
  return <i32>(value >= -Infinity)
}

/** What stands for null among whole numbers as columns store them: the least of their width. */
export function noNumber<T>(): i32 {
  return -1 << (((<i32>sizeof<T>()) << 3) - 1)
}
