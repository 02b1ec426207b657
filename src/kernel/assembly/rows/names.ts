/**
 * Names that members of rows have, with what they mean. An entry has:
 *
 *     place u32, length u32, chain i32, role u8, check u8, is told u8, 0, hash u64, row i32, rank i32
 */
import { areEqual, hashOf } from './json-text'
import {
  guessedPlaces,
  guesses,
  mostNameBytes,
  mostNames,
  nameBytes,
  nameHeadCount,
  nameHeads,
  nameTable,
} from './places'

let count: i32 = 0
let used: i32 = 0

export function entryOf(name: i32): usize {
  return nameTable + ((<usize>name) << 5)
}

export function placeOf(entry: usize): usize {
  return load<u32>(entry)
}

export function lengthOf(entry: usize): usize {
  return load<u32>(entry, 4)
}

export function roleOf(entry: usize): u32 {
  return load<u8>(entry, 12)
}

export function checkOf(entry: usize): u32 {
  return load<u8>(entry, 13)
}

export function isTold(entry: usize): bool {
  return load<u8>(entry, 14) !== 0
}

export function rankOf(entry: usize): i32 {
  return load<i32>(entry, 28)
}

/** Says that row number `row` has the name; returns whether it had it already. */
export function markIn(entry: usize, row: i32): bool {
  const had = load<i32>(entry, 24) === row
  store<i32>(entry, row, 24)
  return had
}

/** The name that stands in quotes at `start`, if it is the one that stood at the same place before; or -1. */
export function guessName(at: usize, place: i32): i32 {
  if (place >= guessedPlaces) return -1
  const name = load<i32>(guesses + ((<usize>place) << 2)) - 1
  if (name < 0) return -1
  const entry = entryOf(name)
  return areEqual(at, placeOf(entry), lengthOf(entry)) ? name : -1
}

/** The name that stands in quotes from `start` to `end`; -1 if it is not known. */
export function findName(start: usize, end: usize, place: i32): i32 {
  const hash = hashOf(start, end, 0)
  let name = load<i32>(headOf(hash)) - 1
  while (name >= 0) {
    const entry = entryOf(name)
    const isSame = load<u64>(entry, 16) === hash && lengthOf(entry) === end - start
    if (isSame && areEqual(start, placeOf(entry), end - start)) {
      if (place < guessedPlaces) store<i32>(guesses + ((<usize>place) << 2), name + 1)
      return name
    }
    name = load<i32>(entry, 8)
  }
  return -1
}

function headOf(hash: u64): usize {
  return nameHeads + ((<usize>hash & <usize>(nameHeadCount - 1)) << 2)
}

/**
 * Adds the name that stands in quotes from `start` to `end`, which is not known yet. Returns its number, or
 * -1 when there is no room.
 */
export function addName(start: usize, end: usize, role: i32, check: i32, told: i32): i32 {
  const length = <i32>(end - start)
  if (count === mostNames || used + length + 16 > mostNameBytes) return -1
  const place = nameBytes + <usize>used
  memory.copy(place, start, <usize>length)
  used += length
  let rank: i32 = 0
  for (let name = 0; name < count; name++) {
    const other = entryOf(name)
    if (isBefore(placeOf(other), lengthOf(other), place, <usize>length)) rank++
    else store<i32>(other, rankOf(other) + 1, 28)
  }
  const entry = entryOf(count)
  const hash = hashOf(place, place + <usize>length, 0)
  const head = headOf(hash)
  store<u32>(entry, <u32>place)
  store<u32>(entry, length, 4)
  store<i32>(entry, load<i32>(head) - 1, 8)
  store<u8>(entry, role, 12)
  store<u8>(entry, check, 13)
  store<u8>(entry, told, 14)
  store<u64>(entry, hash, 16)
  store<i32>(entry, 0, 24)
  store<i32>(entry, rank, 28)
  store<i32>(head, count + 1)
  return count++
}

/** Forgets all names. */
export function forgetNames(): void {
  count = 0
  used = 0
  memory.fill(nameHeads, 0, (<usize>nameHeadCount) << 2)
  memory.fill(guesses, 0, (<usize>guessedPlaces) << 2)
}

function isBefore(a: usize, aLength: usize, b: usize, bLength: usize): bool {
  const order = memory.compare(a, b, min(aLength, bLength))
  return order === 0 ? aLength < bLength : order < 0
}
