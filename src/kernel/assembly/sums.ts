/**
 * Exact sums of doubles. A number is cut into a whole number of units, which are added as integers of 64 bits, and a rest, a
 * whole number of finer units, which are added as doubles. Units are powers of two that are chosen so that neither sum
 * loses a bit (`../group-sums.ts`). `high` is 1.5 × 2^52 units: added to a number, it leaves whole units, as the bits by
 * which the sum is more than `high`. `low` is the same of finer units. Numbers that are as far from 0 as `bound` are not
 * added, nor what is left of others after both parts. If there are such, the result is 1: `restsOf` writes what is to be added
 * apart.
 *
 * The sum of a group has 32 bytes, which lie in one line of the cache: the sum of rests, that of whole units, how many numbers
 * were added, and 8 bytes that mean nothing.
 */
import { codeAt, isPresent, numberAt, setNumber } from './memory'

const sumShift: usize = 5
const laneCount = 4

/** The greatest distance of a number from 0; NaN is none. */
export function greatestOf(values: usize, count: i32): f64 {
  let a = f64x2.splat(0)
  let b = a
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    a = f64x2.pmax(a, f64x2.abs(v128.load(values)))
    b = f64x2.pmax(b, f64x2.abs(v128.load(values, 16)))
    values += 32
  }
  a = f64x2.pmax(a, b)
  let greatest = max(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1))
  for (let row = whole; row < count; row++) {
    const distance = abs(load<f64>(values))
    if (distance > greatest) greatest = distance
    values += 8
  }
  return greatest
}

/** Adds a sum to another of the same units. */
export function addSum(sum: usize, rest: f64, whole: i64, added: f64): void {
  store<f64>(sum, load<f64>(sum) + rest)
  store<i64>(sum, load<i64>(sum, 8) + whole, 8)
  store<f64>(sum, load<f64>(sum, 16) + added, 16)
}

/** Returns what is left of the number. */
function addRow(value: f64, bound: f64, high: f64, low: f64, sum: usize): f64 {
  if (!isPresent(value)) return 0
  if (abs(value) >= bound) return value
  const raised = value + high
  const part = value - (raised - high)
  const rest = part + low - low
  addSum(sum, rest, reinterpret<i64>(raised) - reinterpret<i64>(high), 1)
  return part - rest
}

/** Adds all rows to one sum. */
export function sumAll(
  values: usize,
  count: i32,
  bound: f64,
  high: f64,
  low: f64,
  sum: usize,
): i32 {
  const bounds = f64x2.splat(bound)
  const highs = f64x2.splat(high)
  const lows = f64x2.splat(low)
  let wholeA = i64x2.splat(0)
  let wholeB = wholeA
  let present = wholeA
  let left = wholeA
  let restA = f64x2.splat(0)
  let restB = restA
  const even = count & ~3
  for (let row = 0; row < even; row += 4) {
    let x = v128.load(values)
    let y = v128.load(values, 16)
    const distanceX = f64x2.abs(x)
    const distanceY = f64x2.abs(y)
    const isX = f64x2.lt(distanceX, bounds)
    const isY = f64x2.lt(distanceY, bounds)
    const isFar = v128.or(f64x2.ge(distanceX, bounds), f64x2.ge(distanceY, bounds))
    x = v128.and(x, isX)
    y = v128.and(y, isY)
    present = i64x2.sub(present, i64x2.add(isX, isY))
    const raisedX = f64x2.add(x, highs)
    const raisedY = f64x2.add(y, highs)
    wholeA = i64x2.add(wholeA, i64x2.sub(raisedX, highs))
    wholeB = i64x2.add(wholeB, i64x2.sub(raisedY, highs))
    const partX = f64x2.sub(x, f64x2.sub(raisedX, highs))
    const partY = f64x2.sub(y, f64x2.sub(raisedY, highs))
    const ofX = f64x2.sub(f64x2.add(partX, lows), lows)
    const ofY = f64x2.sub(f64x2.add(partY, lows), lows)
    restA = f64x2.add(restA, ofX)
    restB = f64x2.add(restB, ofY)
    // Turned round, as -0 less 0 would have a bit that is set.
    const below = v128.or(f64x2.sub(ofX, partX), f64x2.sub(ofY, partY))
    left = v128.or(left, v128.or(below, isFar))
    values += 32
  }
  const whole = i64x2.add(wholeA, wholeB)
  const rest = f64x2.add(restA, restB)
  const added = i64x2.extract_lane(present, 0) + i64x2.extract_lane(present, 1)
  addSum(
    sum,
    f64x2.extract_lane(rest, 0) + f64x2.extract_lane(rest, 1),
    i64x2.extract_lane(whole, 0) + i64x2.extract_lane(whole, 1),
    <f64>added,
  )
  let isLeft = <i32>v128.any_true(left)
  for (let row = even; row < count; row++) {
    isLeft |= <i32>(addRow(load<f64>(values), bound, high, low, sum) !== 0)
    values += 8
  }
  return isLeft
}

/** Adds the rest and the whole units of a row. */
function addParts(sum: usize, parts: v128): void {
  const before = v128.load(sum)
  v128.store(sum, i64x2.shuffle(f64x2.add(before, parts), i64x2.add(before, parts), 0, 3))
}

/** Adds two rows; a null adds nothing. Returns bits that are not all 0 where something is left. */
function addPair(
  values: usize,
  groups: usize,
  row: i32,
  bounds: v128,
  highs: v128,
  lows: v128,
  first: usize,
  second: usize,
): v128 {
  const given = v128.load(values + ((<usize>row) << 3))
  const distance = f64x2.abs(given)
  const isThere = f64x2.lt(distance, bounds)
  const isFar = f64x2.ge(distance, bounds)
  const value = v128.and(given, isThere)
  const one = v128.and(f64x2.splat(1), isThere)
  const raised = f64x2.add(value, highs)
  const part = f64x2.sub(value, f64x2.sub(raised, highs))
  const rest = f64x2.sub(f64x2.add(part, lows), lows)
  const whole = i64x2.sub(raised, highs)
  const a = first + ((<usize>codeAt(groups, row)) << sumShift)
  const b = second + ((<usize>codeAt(groups, row + 1)) << sumShift)
  // One after the other, as both may be of the same group.
  addParts(a, i64x2.shuffle(rest, whole, 0, 2))
  v128.store64_lane(a, f64x2.add(v128.load64_zero(a, 16), one), 0, 16)
  addParts(b, i64x2.shuffle(rest, whole, 1, 3))
  v128.store64_lane(b, f64x2.add(v128.load64_splat(b, 16), one), 1, 16)
  // Turned round, as -0 less 0 would have a bit that is set.
  return v128.or(f64x2.sub(rest, part), isFar)
}

/**
 * Adds each row to the sum of its group. To add a number to a group has to wait until the one before it is added: few
 * groups have four places each, in lanes that rows take turns in, and which are put together at the end.
 *
 * @param lanes has room for 128 bytes per group; 0: rows are added to the sums one after the other
 */
export function sumByGroup(
  values: usize,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  bound: f64,
  high: f64,
  low: f64,
  sums: usize,
): i32 {
  const bounds = f64x2.splat(bound)
  const highs = f64x2.splat(high)
  const lows = f64x2.splat(low)
  const zero = i64x2.splat(0)
  const laneBytes: usize = lanes === 0 ? 0 : (<usize>groupCount) << sumShift
  for (let at: usize = 0; at < laneBytes * laneCount; at += 16) v128.store(lanes + at, zero)
  let a = lanes === 0 ? sums : lanes
  let c = a + 2 * laneBytes
  let left = zero
  const even = count & ~1
  // One loop for both, so that the call, which is then the only one, is inlined.
  for (let row = 0; row < even; row += 2) {
    left = v128.or(left, addPair(values, groups, row, bounds, highs, lows, a, a + laneBytes))
    const taken = a
    a = c
    c = taken
  }
  let isLeft = <i32>v128.any_true(left)
  if (even < count) {
    const sum = sums + ((<usize>codeAt(groups, even)) << sumShift)
    isLeft |= <i32>(addRow(numberAt(values, even), bound, high, low, sum) !== 0)
  }
  if (laneBytes === 0) return isLeft
  for (let lane = 0; lane < laneCount; lane++) {
    for (let group = 0; group < groupCount; group++) {
      const sum = sums + ((<usize>group) << sumShift)
      addSum(sum, load<f64>(lanes), load<i64>(lanes, 8), load<f64>(lanes, 16))
      lanes += 1 << sumShift
    }
  }
  return isLeft
}

/** What rounding takes from the sum of two numbers. */
function lostOf(one: f64, other: f64, sum: f64): f64 {
  const added = sum - one
  return one - (sum - added) + (other - added)
}

/** Whole units that a double has exactly. */
const mostWhole: i64 = 1 << 53

/**
 * Adds sums to pairs of doubles, the second of which is what rounding has taken from the first, and makes them 0; how many
 * numbers were added stays. Those that a pair cannot hold stay as they are, and the result is 1.
 */
export function settleSums(sums: usize, groupCount: i32, unit: f64, pairs: usize): i32 {
  let isLeft = 0
  for (let group = 0; group < groupCount; group++) {
    const rest = load<f64>(sums)
    const whole = load<i64>(sums, 8)
    if ((whole | reinterpret<i64>(rest)) !== 0) {
      const ofWhole = <f64>whole * unit
      const before = load<f64>(pairs)
      const restBefore = load<f64>(pairs, 8)
      const half = before + ofWhole
      const lostOfHalf = lostOf(before, ofWhole, half)
      const restOfHalf = restBefore + lostOfHalf
      const sum = half + rest
      const lost = lostOf(half, rest, sum)
      const restOfSum = restOfHalf + lost
      const isExact =
        <i32>(whole < mostWhole) &
        <i32>(whole > -mostWhole) &
        <i32>(lostOf(restBefore, lostOfHalf, restOfHalf) === 0) &
        <i32>(lostOf(restOfHalf, lost, restOfSum) === 0)
      if (isExact) {
        store<f64>(pairs, sum)
        store<f64>(pairs, restOfSum, 8)
        v128.store(sums, i64x2.splat(0))
      } else isLeft = 1
    }
    sums += 1 << sumShift
    pairs += 16
  }
  return isLeft
}

/** Writes what is left of numbers after both of their parts; NaN of those that were not added. */
export function restsOf(
  values: usize,
  count: i32,
  bound: f64,
  high: f64,
  low: f64,
  out: usize,
): void {
  for (let row = 0; row < count; row++) {
    const given = numberAt(values, row)
    const value = abs(given) < bound ? given : <f64>NaN
    const part = value - (value + high - high)
    setNumber(out, row, part - (part + low - low))
  }
}

/**
 * Writes squares as two doubles, of which the second is what rounding takes from the first: the product is made of halves
 * of 26 bits, whose products are exact (Dekker). Numbers further from 0 than `most`, or nearer than `least`, for which doubles
 * do not reach, get NaN, and the result is 1.
 */
export function squareNumbers(
  values: usize,
  count: i32,
  least: f64,
  most: f64,
  outSquares: usize,
  outRests: usize,
): i32 {
  let isFar = 0
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    const distance = abs(value)
    const isOut = <i32>(distance > most) | (<i32>(distance < least) & <i32>(distance > 0))
    const taken = isOut ? <f64>NaN : value
    isFar |= isOut
    const scaled = taken * 134217729
    const high = scaled - (scaled - taken)
    const low = taken - high
    const square = taken * taken
    setNumber(outSquares, row, square)
    setNumber(outRests, row, low * low - (square - high * high - 2 * high * low))
  }
  return isFar
}
