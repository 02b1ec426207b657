/** Whether values suit their fields. They have no white space, as they were copied. */
import {
  byteAt,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  skipPlain,
} from './json-text'

/** What the value of a field must be; the last are scores. */
const stringCheck: u32 = 1
const stringsCheck: u32 = 2
const objectCheck: u32 = 3

/** @param first the first byte of the value */
export function isAsChecked(check: u32, value: usize, first: u32): bool {
  if (check === 0) return true
  if (check === stringCheck) return first === quote
  if (check === objectCheck) return first === openBrace
  if (check === stringsCheck) return first === openBracket && areStrings(value)
  return first === openBrace && areScores(value)
}

/** Of an array without white space. */
function areStrings(array: usize): bool {
  let at = array + 1
  if (byteAt(at) === closeBracket) return true
  while (true) {
    if (byteAt(at) !== quote) return false
    at = skipString(at)
    if (byteAt(at) === closeBracket) return true
    at++
  }
}

/** Of an object without white space: none of its values is a text, a list or an object. */
function areScores(object: usize): bool {
  let at = object + 1
  if (byteAt(at) === closeBrace) return true
  while (true) {
    at = skipString(at) + 1
    let byte = byteAt(at)
    if (byte === quote || byte === openBrace || byte === openBracket) return false
    while (byte !== comma && byte !== closeBrace) byte = byteAt(++at)
    if (byte === closeBrace) return true
    at++
  }
}

/** Where the valid string ends. */
function skipString(from: usize): usize {
  let at = from + 1
  while (true) {
    at = skipPlain(at)
    if (byteAt(at) === quote) return at + 1
    at += 2
  }
}
