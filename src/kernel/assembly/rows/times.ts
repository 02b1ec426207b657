/** Times in text. */
import { byteAt } from './json-text'

function digitAt(at: usize): i32 {
  return <i32>byteAt(at) - 0x30
}

/** The number of two digits, or a great one. */
function twoDigits(at: usize): i32 {
  const high = digitAt(at)
  const low = digitAt(at + 1)
  return <u32>high < 10 && <u32>low < 10 ? high * 10 + low : 1000
}

/**
 * Milliseconds since 1970 of a time whose text is what `formatTimestamp` gives, but for a fraction of zeros; NaN
 * for all others.
 */
export function timeAt(at: usize, length: usize): f64 {
  if (length !== 20 && length !== 24 && length !== 27) return NaN
  if (byteAt(at + length - 1) !== 0x5a || byteAt(at + 10) !== 0x54) return NaN
  if (byteAt(at + 4) !== 0x2d || byteAt(at + 7) !== 0x2d) return NaN
  if (byteAt(at + 13) !== 0x3a || byteAt(at + 16) !== 0x3a) return NaN
  const century = twoDigits(at)
  const ofCentury = twoDigits(at + 2)
  const month = twoDigits(at + 5)
  const day = twoDigits(at + 8)
  const hour = twoDigits(at + 11)
  const minute = twoDigits(at + 14)
  const second = twoDigits(at + 17)
  if (century > 99 || ofCentury > 99 || <u32>(month - 1) > 11) return NaN
  if (hour > 23 || minute > 59 || second > 59) return NaN
  const year = century * 100 + ofCentury
  if (<u32>(day - 1) >= <u32>daysOf(year, month)) return NaN
  const seconds =
    daysSince1970(year, month, day) * 86400 + <i64>(hour * 3600 + minute * 60 + second)
  const ms = <f64>(seconds * 1000)
  if (length === 20) return ms
  if (byteAt(at + 19) !== 0x2e) return NaN
  const tenth = digitAt(at + 20)
  const milliseconds = twoDigits(at + 21)
  if (<u32>tenth > 9 || milliseconds > 99) return NaN
  const thousandths = tenth * 100 + milliseconds
  if (length === 24) return ms + <f64>thousandths
  const high = twoDigits(at + 23)
  const low = digitAt(at + 25)
  if (high > 99 || <u32>low > 9 || (high === 0 && low === 0)) return NaN
  // Of years far away a double does not hold microseconds.
  if (year < 1970 || year > 2099) return NaN
  return ms + <f64>(thousandths * 1000 + high * 10 + low) / 1000
}

function daysOf(year: i32, month: i32): i32 {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}

/** In the Gregorian calendar; years begin in March, so that leap days come last. */
function daysSince1970(year: i32, month: i32, day: i32): i64 {
  const shifted = month <= 2 ? year - 1 : year
  const era = (shifted >= 0 ? shifted : shifted - 399) / 400
  const ofEra = shifted - era * 400
  const monthOfYear = (month + 9) % 12
  const ofYear = (153 * monthOfYear + 2) / 5 + day - 1
  const dayOfEra = ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear
  return <i64>(era * 146097 + dayOfEra - 719468)
}
