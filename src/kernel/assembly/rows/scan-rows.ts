/**
 * Rows of a request, from their JSON to the form of `storage/row/row.ts`. It stops at what is unusual, or wrong:
 * `storage/prepare/normal-row.ts` writes such a row as a usual one, which is taken by itself.
 */
import { isAsChecked } from './checks'
import {
  backslash,
  byteAt,
  closeBrace,
  colon,
  comma,
  copyBytes,
  copyValue,
  expectAttachments,
  foundAttachment,
  namesHash,
  openBrace,
  outAt,
  quote,
  setMostDepth,
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
import { addToNaming, beginNaming, findNaming, isOfDataset } from './namings'
import { addCandidate, beginCandidates, cutEvents, eventCount, tellCandidates } from './news'
import {
  madeIds,
  memberTable,
  mostMadeIds,
  mostMembers,
  mostNamings,
  nowText,
  outPlace,
  ownInput,
  rowTable,
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
const outputRole: u32 = 9
const oddRole: u32 = 10

/** Of members with `flagRole`: whether they may be false, and not only null, or also say that the row merges. */
const mayBeFalse: u32 = 1
const mayMerge: u32 = 2

/** How deep a value of a row may nest that is in a list in an object, and how deep of any row. */
const mostDepthInBody: i32 = 997
const mostDepthAlone: i32 = 1000

/** Bits of rows; as `row-scan.ts` has them. */
const mergesBit: u32 = 1
const attachmentBit: u32 = 2

/** Names with fixed numbers. */
const idName: i32 = 0
const createdName: i32 = 1
const rootName: i32 = 2
const isRootName: i32 = 3
const spanName: i32 = 4

const headerBytes: usize = 40
const directoryEntryBytes: usize = 12
const createdGenerated: u32 = 2
const spanGenerated: u32 = 4
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
export let outEnd: usize = 0

let nowMs: f64 = 0
let nowLength: usize = 0
/** Differs between rows. */
let rowNumber: i32 = 0
let members: i32 = 0
let idStart: usize = 0
let idEnd: usize = 0
let rowNaming: i32 = 0
let rowBits: u32 = 0
/** Whether members that are null stay, as they do in rows that merge, and whether there were any. */
let keepsNulls: bool = false
let hasNulls: bool = false
/** Whether the row is one that was written anew, and when it was made; NaN if its text says that. */
let isAlone: bool = false
let aloneMs: f64 = 0
let aloneOwner: i32 = 0
/** How many of the made ids are left. */
export let madeIdsLeft: i32 = 0

/** Says that there is room for no more ids: all of them were made. */
export function fillMadeIds(): void {
  madeIdsLeft = mostMadeIds
}

/** Sets what rows that do not say when they were made get; its JSON text stands at `nowText`. */
export function setNow(ms: f64, length: i32): void {
  nowMs = ms
  nowLength = <usize>length
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
  cutEvents(0)
  setOut(outPlace)
  setMostDepth(mostDepthInBody)
  while (count < mostRowCount) {
    const start = outAt()
    const events = eventCount
    const row = skipSpace(at)
    stopReason = atOddRow
    const end = byteAt(row) === openBrace ? scanRow(row, count) : 0
    if (end === 0) {
      setOut(start)
      cutEvents(events)
      break
    }
    addRow(count)
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

/**
 * Takes the row at `ownInput`, which `storage/prepare/normal-row.ts` has written; returns whether it could.
 *
 * @param createdMs when the row was made; NaN if its text says that
 * @param object stands for the row's object
 */
export function scanOwnRow(createdMs: f64, object: i32): bool {
  stopReason = atOddRow
  cutEvents(0)
  setOut(outPlace)
  setMostDepth(mostDepthAlone)
  isAlone = true
  aloneMs = createdMs
  aloneOwner = mostNamings + object
  const end = scanRow(ownInput, 0)
  isAlone = false
  outEnd = outAt()
  if (end !== 0) addRow(0)
  return end !== 0
}

function addRow(row: i32): void {
  const entry = rowTable + ((<usize>row) << 5)
  store<u32>(entry, <u32>(outAt() - outPlace))
  store<u32>(entry, <u32>(idStart - outPlace), 4)
  store<u32>(entry, <u32>(idEnd - outPlace), 8)
  store<i32>(entry, rowNaming, 12)
  store<u32>(entry, rowBits, 16)
}

/** Returns where the row ends, or 0. */
function scanRow(from: usize, row: i32): usize {
  const start = outAt()
  keepsNulls = false
  const end = scanMembers(from, row)
  if (end !== 0 || !keepsNulls) return end
  setOut(start)
  return scanMembers(from, row)
}

/** Returns 0, too, with `keepsNulls` when it turns out that the row is to be taken once more with them. */

function scanMembers(from: usize, row: i32): usize {
  const start = outAt()
  expectAttachments()
  rowBits = 0
  hasNulls = false
  setOut(start + headerBytes)
  rowNumber++
  members = 0
  beginCandidates()
  beginNaming()
  let hasRoot = false
  let hasParents = false
  let hasOutput = false
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
      const end = endOfText(at)
      if (end === 0) return 0
      name = findName(at, end, place)
      if (name < 0) {
        newNameStart = at
        newNameEnd = end
        stopReason = atNewName
        return 0
      }
    }
    const entry = entryOf(name)
    if (markIn(entry, rowNumber)) return 0
    at = skipSpace(at + lengthOf(entry))
    if (byteAt(at) !== colon) return 0
    at = skipSpace(at + 1)
    let role = roleOf(entry)
    if (role === oddRole) {
      if (!isAlone) return 0
      role = fieldRole
    }
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
        hasNulls = true
        // What a row has no span and no root for is made.
        if (!keepsNulls || role === spanRole || role === rootRole) setOut(memberStart)
        else if (!addMember(entry, memberStart, length)) return 0
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
        else if (role === outputRole) hasOutput = true
      }
    } else if (role === ignoredRole) {
      at = copyValue(at)
      if (at === 0) return 0
      setOut(memberStart)
    } else if (role === flagRole) {
      at = copyValue(at)
      if (at === 0) return 0
      const first = byteAt(memberStart)
      const check = checkOf(entry)
      if (first === 0x74 && check === mayMerge) rowBits |= mergesBit
      else if (first !== 0x6e && (first !== 0x66 || check < mayBeFalse)) return 0
      setOut(memberStart)
    } else if (role === namingRole) {
      const value = at
      at = copyValue(at)
      if (at === 0) return 0
      if (byteAt(memberStart) !== 0x6e) {
        const length = outAt() - memberStart
        if (byteAt(value) !== quote) return 0
        if (!addToNaming(name, memberStart, length)) return 0
      }
      setOut(memberStart)
    } else {
      // The id, and when the row was made: strings without escapes.
      if (byteAt(at) === 0x6e) {
        if (load<u32>(at) !== 0x6c6c756e) return 0
        at += 4
      } else {
        if (byteAt(at) !== quote) return 0
        const end = endOfText(at)
        if (end === 0) return 0
        if (role === idRole) {
          id = at
          idLength = end - at
        } else if (role === createdRole) {
          created = at
          createdLength = end - at
        }
        at = end
      }
    }
    at = skipSpace(at)
    const next = byteAt(at)
    at++
    if (next === closeBrace) break
    if (next !== comma) return 0
    at = skipSpace(at)
  }
  if ((rowBits & mergesBit) !== 0 && hasNulls && !keepsNulls) {
    keepsNulls = true
    return 0
  }
  rowNaming = isAlone ? aloneOwner : findNaming()
  if (rowNaming < 0) {
    stopReason = atNewNaming
    return 0
  }
  // There it is another name of `expected`.
  if (hasOutput && !isAlone && isOfDataset(rowNaming)) return 0
  if (madeIdsLeft < 2) {
    stopReason = atFullTable
    return 0
  }
  stopReason = atOddRow

  let flags: u32 = 0
  if (id === 0) addMadeId(idName)
  else addText(idName, id, idLength)
  idEnd = outAt() - 1
  idStart = outAt() - lastValueLength() + 1
  let createdMs = nowMs
  if (created === 0) {
    flags |= createdGenerated
    addText(createdName, nowText, nowLength)
  } else if (isAlone && aloneMs >= -Infinity) {
    createdMs = aloneMs
    addText(createdName, created, createdLength)
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
  if (spanValue === 0) {
    flags |= spanGenerated
    addMadeId(spanName)
    spanLength = lastValueLength()
    spanValue = outAt() - spanLength
  }
  if (!hasRoot) {
    flags |= rootGenerated
    addText(rootName, spanValue, spanLength)
  }
  addIsRoot(!hasParents)
  if (!tellCandidates(row, rowNaming)) {
    stopReason = atFullTable
    return 0
  }
  if (foundAttachment()) rowBits |= attachmentBit
  finishRow(start, flags, createdMs)
  return at
}

/** Where the name or text in quotes at `start` ends, which has escapes only in rows that were written anew; or 0. */
function endOfText(start: usize): usize {
  let at = skipPlain(start + 1)
  while (isAlone && byteAt(at) === backslash) at = skipPlain(at + 2)
  return byteAt(at) === quote ? at + 1 : 0
}

function lastMember(): usize {
  return memberTable + ((<usize>(members - 1)) << 4)
}

function lastValueLength(): usize {
  return <usize>load<u32>(lastMember(), 12)
}

function addMadeId(name: i32): void {
  const entry = entryOf(name)
  const start = outAt()
  copyBytes(placeOf(entry), lengthOf(entry))
  writeByte(colon)
  writeByte(quote)
  madeIdsLeft--
  copyBytes(madeIds + <usize>madeIdsLeft * 36, 36)
  writeByte(quote)
  addMember(entry, start, 38)
}

/** Adds the member that was written from `start` on. */
function addMember(entry: usize, start: usize, valueLength: usize): bool {
  // Five are added to those of the request.
  if (members >= mostMembers - 5) return false
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
