/**
 * Rows of a request, from their JSON to the form of `storage/row/row.ts`, as long as there is nothing about them
 * that `storage/prepare/prepare-row.ts` has to look at.
 */
import { isAsChecked } from './checks'
import {
  areEqual,
  byteAt,
  closeBrace,
  colon,
  comma,
  copyBytes,
  copyValue,
  factor,
  namesHash,
  openBrace,
  outAt,
  quote,
  setOut,
  skipPlain,
  skipSpace,
  writeByte,
} from './json-text'
import {
  checkOf,
  entryOf,
  findName,
  guessName,
  isTold,
  lengthOf,
  markIn,
  placeOf,
  rankOf,
  roleOf,
} from './names'
import {
  candidateTable,
  eventTable,
  memberTable,
  mostEvents,
  mostMembers,
  mostNamingBytes,
  mostNamings,
  mostOwnNaming,
  mostSeen,
  namingBytes,
  namingTable,
  nowText,
  outPlace,
  ownNaming,
  rowTable,
  seenSlots,
  seenTable,
} from './places'
import { timeAt } from './times'

/** What a name means; as `row-scan.ts` has it. */
const fieldRole: u32 = 0
const ignoredRole: u32 = 1
const flagRole: u32 = 2
const idRole: u32 = 3
const createdRole: u32 = 4
const namingRole: u32 = 5
const spanRole: u32 = 6
const rootRole: u32 = 7
const parentsRole: u32 = 8
const oddRole: u32 = 9

/** Of members with `flagRole`: whether they may be false, and not only null. */
const mayBeFalse: u32 = 1

/** Names with fixed numbers. */
const idName: i32 = 0
const createdName: i32 = 1
const rootName: i32 = 2
const isRootName: i32 = 3

const headerBytes: usize = 40
const directoryEntryBytes: usize = 12
const createdGenerated: u32 = 2
const rootGenerated: u32 = 8

/** Why it has stopped; as `row-scan.ts` has it. */
const atEnd: i32 = 0
const atOddRow: i32 = 1
const atNewName: i32 = 2
const atNewNaming: i32 = 3
const atFullTable: i32 = 4

/** Where the rows end that were taken. */
export let stoppedAt: usize = 0
export let stopReason: i32 = 0
/** The name that is not known. */
export let newNameStart: usize = 0
export let newNameEnd: usize = 0
export let eventCount: i32 = 0
export let outEnd: usize = 0

let nowMs: f64 = 0
let nowLength: usize = 0
let namings: i32 = 0
let namingsUsed: usize = 0
let lastNaming: i32 = -1
let ownNamingLength: usize = 0
/** Differs between rows. */
let rowNumber: i32 = 0
let members: i32 = 0
let candidates: i32 = 0
let seen: i32 = 0
let idStart: usize = 0
let idEnd: usize = 0
let rowNaming: i32 = 0

/** Sets what rows that do not say when they were made get; its JSON text stands at `nowText`. */
export function setNow(ms: f64, length: i32): void {
  nowMs = ms
  nowLength = <usize>length
}

/** Forgets what rows are known to have. */
export function forgetSeen(): void {
  memory.fill(seenTable, 0, (<usize>seenSlots) << 3)
  seen = 0
}

/** Forgets how rows name their objects. */
export function forgetNamings(): void {
  namings = 0
  namingsUsed = 0
  lastNaming = -1
}

/** Keeps how the row names its object at which it has stopped; returns its number, or -1 without room. */
export function keepNaming(isLeftOut: i32): i32 {
  if (namings === mostNamings || namingsUsed + ownNamingLength > <usize>mostNamingBytes) return -1
  const place = namingBytes + namingsUsed
  memory.copy(place, ownNaming, ownNamingLength)
  namingsUsed += ownNamingLength
  const entry = namingTable + ((<usize>namings) << 4)
  store<u32>(entry, <u32>place)
  store<u32>(entry, <u32>ownNamingLength, 4)
  store<u32>(entry, isLeftOut, 8)
  lastNaming = namings
  return namings++
}

/**
 * Takes rows from `from` on, up to `mostRowCount` of them, which must be room for, and writes them from
 * `outPlace` on. Returns how many.
 */
export function scanRows(from: usize, mostRowCount: i32): i32 {
  let count: i32 = 0
  let at = from
  stoppedAt = from
  stopReason = atEnd
  eventCount = 0
  setOut(outPlace)
  while (count < mostRowCount) {
    const start = outAt()
    const events = eventCount
    const row = skipSpace(at)
    stopReason = atOddRow
    const end = byteAt(row) === openBrace ? scanRow(row, count) : 0
    if (end === 0) {
      setOut(start)
      eventCount = events
      break
    }
    const entry = rowTable + ((<usize>count) << 4)
    store<u32>(entry, <u32>(outAt() - outPlace))
    store<u32>(entry, <u32>(idStart - outPlace), 4)
    store<u32>(entry, <u32>(idEnd - outPlace), 8)
    store<i32>(entry, rowNaming, 12)
    count++
    stoppedAt = end
    stopReason = atEnd
    at = skipSpace(end)
    if (byteAt(at) !== comma) break
    at++
  }
  outEnd = outAt()
  return count
}

/** Returns where the row ends, or 0. */
function scanRow(from: usize, row: i32): usize {
  const start = outAt()
  setOut(start + headerBytes)
  rowNumber++
  members = 0
  candidates = 0
  ownNamingLength = 0
  let hasRoot = false
  let hasParents = false
  let id: usize = 0
  let idLength: usize = 0
  let created: usize = 0
  let createdLength: usize = 0
  let spanValue: usize = 0
  let spanLength: usize = 0
  let at = skipSpace(from + 1)
  for (let place = 0; ; place++) {
    if (byteAt(at) !== quote) return 0
    let name = guessName(at, place)
    if (name < 0) {
      const end = skipPlain(at + 1)
      if (byteAt(end) !== quote) return 0
      name = findName(at, end + 1, place)
      if (name < 0) {
        newNameStart = at
        newNameEnd = end + 1
        stopReason = atNewName
        return 0
      }
    }
    const entry = entryOf(name)
    if (markIn(entry, rowNumber)) return 0
    at = skipSpace(at + lengthOf(entry))
    if (byteAt(at) !== colon) return 0
    at = skipSpace(at + 1)
    const role = roleOf(entry)
    if (role === oddRole) return 0
    const memberStart = outAt()
    if (role === fieldRole || role >= spanRole) {
      copyBytes(placeOf(entry), lengthOf(entry))
      writeByte(colon)
      const value = outAt()
      at = copyValue(at)
      if (at === 0) return 0
      const length = outAt() - value
      const first = byteAt(value)
      if (first === 0x6e) {
        setOut(memberStart)
      } else {
        const hash = namesHash()
        if (!isAsChecked(checkOf(entry), value, first)) return 0
        if (!addMember(entry, memberStart, length)) return 0
        if (hash !== 0 || isTold(entry)) addCandidate(name, value, outAt(), hash)
        if (role === spanRole) {
          spanValue = value
          spanLength = length
        } else if (role === rootRole) hasRoot = true
        else if (role === parentsRole) hasParents = length > 2
      }
    } else if (role === ignoredRole) {
      at = copyValue(at)
      if (at === 0) return 0
      setOut(memberStart)
    } else if (role === flagRole) {
      at = copyValue(at)
      if (at === 0) return 0
      const first = byteAt(memberStart)
      if (first !== 0x6e && (first !== 0x66 || checkOf(entry) !== mayBeFalse)) return 0
      setOut(memberStart)
    } else if (role === namingRole) {
      const value = at
      at = copyValue(at)
      if (at === 0) return 0
      if (byteAt(memberStart) !== 0x6e) {
        const length = outAt() - memberStart
        if (byteAt(value) !== quote) return 0
        if (ownNamingLength + length + 4 > <usize>mostOwnNaming) return 0
        store<i32>(ownNaming + ownNamingLength, name)
        memory.copy(ownNaming + ownNamingLength + 4, memberStart, length)
        ownNamingLength += length + 4
      }
      setOut(memberStart)
    } else {
      // The id, and when the row was made: strings without escapes.
      if (byteAt(at) === 0x6e) {
        if (load<u32>(at) !== 0x6c6c756e || role === idRole) return 0
        at += 4
      } else {
        if (byteAt(at) !== quote) return 0
        const end = skipPlain(at + 1)
        if (byteAt(end) !== quote) return 0
        if (role === idRole) {
          id = at
          idLength = end + 1 - at
        } else if (role === createdRole) {
          created = at
          createdLength = end + 1 - at
        } else return 0
        at = end + 1
      }
    }
    at = skipSpace(at)
    const next = byteAt(at)
    at++
    if (next === closeBrace) break
    if (next !== comma) return 0
    at = skipSpace(at)
  }
  if (id === 0 || spanValue === 0) return 0
  if (!findNaming()) return 0
  stopReason = atOddRow

  let flags: u32 = 0
  addText(idName, id, idLength)
  idEnd = outAt() - 1
  idStart = outAt() + 1 - idLength
  let createdMs = nowMs
  if (created === 0) {
    flags |= createdGenerated
    addText(createdName, nowText, nowLength)
  } else {
    createdMs = timeAt(created + 1, createdLength - 2)
    if (!(createdMs >= -Infinity)) return 0
    addText(createdName, created, createdLength)
    if (createdLength === 26 && load<u32>(created + 20) === 0x3030302e) {
      // Without the fraction, if it is none.
      setOut(outAt() - 6)
      writeByte(0x5a)
      writeByte(quote)
      store<u32>(lastMember(), load<u32>(lastMember(), 12) - 4, 12)
    }
  }
  if (!hasRoot) {
    flags |= rootGenerated
    addText(rootName, spanValue, spanLength)
  }
  addIsRoot(!hasParents)
  if (!tellCandidates(row)) return 0
  finishRow(start, flags, createdMs)
  return at
}

function lastMember(): usize {
  return memberTable + ((<usize>(members - 1)) << 4)
}

/** Adds the member that was written from `start` on. */
function addMember(entry: usize, start: usize, valueLength: usize): bool {
  // Four are added to those of the request.
  if (members >= mostMembers - 4) return false
  const place = memberTable + ((<usize>members) << 4)
  store<i32>(place, rankOf(entry))
  store<u32>(place, <u32>start, 4)
  store<u32>(place, <u32>lengthOf(entry), 8)
  store<u32>(place, <u32>valueLength, 12)
  members++
  return true
}

function addText(name: i32, value: usize, length: usize): void {
  const entry = entryOf(name)
  const start = outAt()
  copyBytes(placeOf(entry), lengthOf(entry))
  writeByte(colon)
  copyBytes(value, length)
  addMember(entry, start, length)
}

function addIsRoot(isRoot: bool): void {
  const entry = entryOf(isRootName)
  const start = outAt()
  copyBytes(placeOf(entry), lengthOf(entry))
  writeByte(colon)
  const at = outAt()
  if (isRoot) {
    store<u32>(at, 0x65757274)
    setOut(at + 4)
  } else {
    store<u8>(at, 0x66)
    store<u32>(at + 1, 0x65736c61)
    setOut(at + 5)
  }
  addMember(entry, start, isRoot ? 4 : 5)
}

/** Writes the directory and the header. */
function finishRow(start: usize, flags: u32, createdMs: f64): void {
  const count = members
  for (let i = 1; i < count; i++) {
    const moved = v128.load(memberTable + ((<usize>i) << 4))
    const rank = i32x4.extract_lane(moved, 0)
    let to = memberTable + ((<usize>i) << 4)
    while (to > memberTable && load<i32>(to - 16) > rank) {
      v128.store(to, v128.load(to - 16))
      to -= 16
    }
    v128.store(to, moved)
  }
  let at = outAt()
  for (let i = 0; i < count; i++) {
    const member = memberTable + ((<usize>i) << 4)
    store<u32>(at, bswap<u32>(load<u32>(member, 4) - <u32>start))
    store<u32>(at, bswap<u32>(load<u32>(member, 8)), 4)
    store<u32>(at, bswap<u32>(load<u32>(member, 12)), 8)
    at += directoryEntryBytes
  }
  setOut(at)
  store<u32>(start, 1 | (flags << 8))
  store<u32>(start, bswap<u32>(<u32>count), 4)
  store<u64>(start, bswap<u64>(reinterpret<u64>(createdMs)), 8)
  store<u64>(start, 0, 16)
  store<u64>(start, 0, 24)
  store<u64>(start, 0, 32)
}

/** Which of the known ways to name an object is that of the row. */
function findNaming(): bool {
  if (lastNaming < 0 || !isNaming(lastNaming)) {
    let found = -1
    for (let naming = 0; naming < namings; naming++) {
      if (!isNaming(naming)) continue
      found = naming
      break
    }
    if (found < 0) {
      stopReason = atNewNaming
      return false
    }
    lastNaming = found
  }
  rowNaming = lastNaming
  return load<u32>(namingTable + ((<usize>lastNaming) << 4), 8) === 0
}

function isNaming(naming: i32): bool {
  const entry = namingTable + ((<usize>naming) << 4)
  if (<usize>load<u32>(entry, 4) !== ownNamingLength) return false
  return areEqual(ownNaming, load<u32>(entry), ownNamingLength)
}

/** A value that rows of the object may not have had before. */
function addCandidate(name: i32, start: usize, end: usize, hash: u64): void {
  const entry = candidateTable + <usize>candidates * 24
  store<i32>(entry, name)
  store<u32>(entry, <u32>(start - outPlace), 4)
  store<u32>(entry, <u32>(end - outPlace), 8)
  store<u64>(entry, hash, 16)
  candidates++
}

/** Tells of those that no row of the same object had; without room the row is left for later. */
function tellCandidates(row: i32): bool {
  if (eventCount + candidates > mostEvents) {
    stopReason = atFullTable
    return false
  }
  for (let i = 0; i < candidates; i++) {
    const entry = candidateTable + <usize>i * 24
    const name = load<i32>(entry)
    if (!isNew(load<u64>(entry, 16), name)) continue
    const event = eventTable + ((<usize>eventCount) << 4)
    eventCount++
    store<i32>(event, row)
    store<i32>(event, name, 4)
    store<u32>(event, load<u32>(entry, 4), 8)
    store<u32>(event, load<u32>(entry, 8), 12)
  }
  return true
}

function isNew(hash: u64, name: i32): bool {
  const owner = ((<u64>(name + 1)) << 8) | <u64>(rowNaming + 1)
  const mixed = (hash ^ (owner * factor)) * factor
  const key = mixed | 1
  let slot = <i32>(mixed >> 40) & (seenSlots - 1)
  while (true) {
    const place = seenTable + ((<usize>slot) << 3)
    const known = load<u64>(place)
    if (known === key) return false
    if (known === 0) {
      if (seen < mostSeen) {
        store<u64>(place, key)
        seen++
      }
      return true
    }
    slot = (slot + 1) & (seenSlots - 1)
  }
}
