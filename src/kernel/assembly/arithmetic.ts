/** Arithmetic of doubles, two rows at once: arrays have room for an even number of rows. */

/** An infinity minus itself is NaN, which is null; a finite number minus itself is 0. */
function storeFinite(out: usize, result: v128): void {
  v128.store(out, f64x2.add(result, f64x2.sub(result, result)))
}

export function addNumbers(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    storeFinite(out, f64x2.add(v128.load(left), v128.load(right)))
    left += 16
    right += 16
    out += 16
  }
}

export function subtractNumbers(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    storeFinite(out, f64x2.sub(v128.load(left), v128.load(right)))
    left += 16
    right += 16
    out += 16
  }
}

export function multiplyNumbers(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    storeFinite(out, f64x2.mul(v128.load(left), v128.load(right)))
    left += 16
    right += 16
    out += 16
  }
}

export function divideNumbers(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    storeFinite(out, f64x2.div(v128.load(left), v128.load(right)))
    left += 16
    right += 16
    out += 16
  }
}

/** `0 - value`: the negative of 0 is 0. */
export function negateNumbers(values: usize, count: i32, out: usize): void {
  const zero = f64x2.splat(0)
  for (let row = 0; row < count; row += 2) {
    v128.store(out, f64x2.sub(zero, v128.load(values)))
    values += 16
    out += 16
  }
}

export function floorNumbers(values: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    v128.store(out, f64x2.floor(v128.load(values)))
    values += 16
    out += 16
  }
}

export function ceilNumbers(values: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 2) {
    v128.store(out, f64x2.ceil(v128.load(values)))
    values += 16
    out += 16
  }
}

export function truncateTimes(times: usize, size: f64, origin: f64, count: i32, out: usize): void {
  const s = f64x2.splat(size)
  const o = f64x2.splat(origin)
  for (let row = 0; row < count; row += 2) {
    const place = f64x2.floor(f64x2.div(f64x2.sub(v128.load(times), o), s))
    v128.store(out, f64x2.add(f64x2.mul(place, s), o))
    times += 16
    out += 16
  }
}

/**
 * Writes the least and the greatest number to `out`; returns 0 when one of them is null. The count of
 * rows is even.
 */
export function spanOf(values: usize, count: i32, out: usize): i32 {
  let low = f64x2.splat(Infinity)
  let high = f64x2.splat(-Infinity)
  let present = i64x2.splat(-1)
  for (let row = 0; row < count; row += 2) {
    const x = v128.load(values)
    low = f64x2.pmin(low, x)
    high = f64x2.pmax(high, x)
    present = v128.and(present, f64x2.eq(x, x))
    values += 16
  }
  store<f64>(out, min(f64x2.extract_lane(low, 0), f64x2.extract_lane(low, 1)))
  store<f64>(out, max(f64x2.extract_lane(high, 0), f64x2.extract_lane(high, 1)), 8)
  return <i32>i64x2.all_true(present)
}

/** `out[i] = left[i]` where the condition is true (1), else `right[i]`. */
export function chooseNumbers(
  conditions: usize,
  left: usize,
  right: usize,
  count: i32,
  out: usize,
): void {
  for (let row = 0; row < count; row++) {
    const source = load<u8>(conditions) & 1 ? left : right
    store<f64>(out, load<f64>(source))
    conditions++
    left += 8
    right += 8
    out += 8
  }
}

/** Truth values as 0, 1 and NaN. */
export function numbersOfTruths(values: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row++) {
    const value = load<u8>(values)
    // 0 / 0 where unknown.
    store<f64>(out, <f64>(value & 1) / <f64>(value < 2))
    values++
    out += 8
  }
}
