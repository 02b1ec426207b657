/** How rows name their objects. */
import { areEqual } from './json-text'
import {
  mostNamingBytes,
  mostNamings,
  mostOwnNaming,
  namingBytes,
  namingTable,
  ownNaming,
} from './places'

let namings: i32 = 0
let namingsUsed: usize = 0
let lastNaming: i32 = -1
/** Of the row at hand. */
let ownNamingLength: usize = 0

/** Forgets how rows name their objects. */
export function forgetNamings(): void {
  namings = 0
  namingsUsed = 0
  lastNaming = -1
}

/** Keeps how the row names its object at which it has stopped; returns its number, or -1 without room. */
export function keepNaming(ofDataset: i32): i32 {
  if (namings === mostNamings || namingsUsed + ownNamingLength > <usize>mostNamingBytes) return -1
  const place = namingBytes + namingsUsed
  memory.copy(place, ownNaming, ownNamingLength)
  namingsUsed += ownNamingLength
  const entry = namingTable + ((<usize>namings) << 4)
  store<u32>(entry, <u32>place)
  store<u32>(entry, <u32>ownNamingLength, 4)
  store<u32>(entry, ofDataset, 8)
  lastNaming = namings
  return namings++
}

/** Begins with another row. */
export function beginNaming(): void {
  ownNamingLength = 0
}

/** Adds a member by which the row names its object; returns whether there is room. */
export function addToNaming(name: i32, value: usize, length: usize): bool {
  if (ownNamingLength + length + 4 > <usize>mostOwnNaming) return false
  store<i32>(ownNaming + ownNamingLength, name)
  memory.copy(ownNaming + ownNamingLength + 4, value, length)
  ownNamingLength += length + 4
  return true
}

/** Which of the known ways to name an object is that of the row; -1 if it is none. */
export function findNaming(): i32 {
  if (lastNaming < 0 || !isNaming(lastNaming)) {
    let found = -1
    for (let naming = 0; naming < namings; naming++) {
      if (!isNaming(naming)) continue
      found = naming
      break
    }
    if (found < 0) return -1
    lastNaming = found
  }
  return lastNaming
}

/** Whether it names a dataset. */
export function isOfDataset(naming: i32): bool {
  return load<u32>(namingTable + ((<usize>naming) << 4), 8) !== 0
}

function isNaming(naming: i32): bool {
  const entry = namingTable + ((<usize>naming) << 4)
  if (<usize>load<u32>(entry, 4) !== ownNamingLength) return false
  return areEqual(ownNaming, load<u32>(entry), ownNamingLength)
}
