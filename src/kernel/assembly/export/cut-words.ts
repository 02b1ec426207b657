/**
 * Cuts JSON into the words of `clickhouse/cut-words.ts`. A page has an integer for each of its characters:
 *
 *     bits 0 … 20   the code point that it folds to, or where its folding is
 *     bits 24, 25   the class of that: 0 of no word, 1 of a word, 2 of one of a script that is searched by any part
 *     bit 30        its folding is not one character: a number of characters and as many such integers
 *     bit 31        it folds by what is beside it, which is not done here
 */
import { areEqual, backslash, byteAt, hashOf } from '../rows/json-text'
import { copy, writeCount } from './out'
import { makePage } from './outside'
import { asciiTable, mostWordsBytes, pageTable, wordSlots, wordsPlace } from './places'

const manyFlag: u32 = 0x40000000
const leftFlag: u32 = 0x80000000
const codePointMask: u32 = 0x1fffff

/** Of UTF-16 units; longer words are not listed. */
const longestWord: i32 = 128
const fewestSlots: usize = 64

/** Where the words end, and the one that is begun. */
let end: usize = 0
let wordAt: usize = 0
let units: i32 = 0
/** The class of its characters; 0 when no word is begun. */
let wordClass: u32 = 0
let count: usize = 0
let slotMask: usize = 0

/** @param bytes of all texts that are cut until `writeWords` */
export function beginWords(bytes: usize): void {
  // A word has two bytes, mostly one of them the sign behind it.
  let slots = fewestSlots
  while (slots < bytes) slots <<= 1
  memory.fill(wordSlots, 0, slots << 3)
  slotMask = slots - 1
  end = wordsPlace
  count = 0
  beginWord()
}

function beginWord(): void {
  // Before it is its length.
  wordAt = end + 1
  units = 0
  wordClass = 0
}

export function writeWords(): void {
  writeCount(count)
  copy(wordsPlace, end - wordsPlace)
}

/** Adds the words of the JSON from `from` to `to`; returns whether it could. */
export function cutWords(from: usize, to: usize): bool {
  let at = from
  while (at < to) {
    let character = byteAt(at)
    if (character < 0x80) {
      if (load<u8>(asciiTable + <usize>character) !== 0) {
        at = cutAscii(at, to)
        if (at === 0) return false
        continue
      }
      at++
      if (character === backslash) {
        if (byteAt(at) !== 0x75) {
          at++
          if (!endWord()) return false
          continue
        }
        character = hexadecimal(at + 1)
        at += 5
        if (character >>> 10 === 0x36 && byteAt(at) === backslash && byteAt(at + 1) === 0x75) {
          const low = hexadecimal(at + 2)
          if (low >>> 10 !== 0x37) return false
          character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00)
          at += 6
        }
      }
    } else if (character < 0xe0) {
      character = ((character & 0x1f) << 6) | continued(at + 1)
      at += 2
    } else if (character < 0xf0) {
      character = ((character & 0x0f) << 12) | (continued(at + 1) << 6) | continued(at + 2)
      at += 3
    } else {
      character = ((character & 7) << 18) | (continued(at + 1) << 12)
      character |= (continued(at + 2) << 6) | continued(at + 3)
      at += 4
    }
    const folded = foldingOf(character)
    if (folded < manyFlag) {
      if (!add(folded)) return false
      continue
    }
    if ((folded & leftFlag) !== 0) return false
    const place = <usize>(folded & codePointMask)
    const letters = load<u32>(place)
    for (let i: u32 = 1; i <= letters; i++) {
      if (!add(load<u32>(place + ((<usize>i) << 2)))) return false
    }
  }
  return endWord()
}

/** Adds the ASCII letters and digits at `from`; returns where they end, or 0 where there is no room. */
function cutAscii(from: usize, to: usize): usize {
  if (wordClass !== 1) {
    if (!endWord()) return 0
    wordClass = 1
  }
  let at = from
  const most = wordAt + <usize>max(longestWord + 1 - units, 0)
  let place = wordAt
  let folded: u32 = load<u8>(asciiTable + <usize>byteAt(at))
  while (folded !== 0) {
    store<u8>(place, folded)
    place += <usize>(place < most)
    if (++at === to) break
    const byte = byteAt(at)
    folded = byte < 0x80 ? <u32>load<u8>(asciiTable + <usize>byte) : 0
  }
  units += <i32>(place - wordAt)
  wordAt = place
  return at
}

function continued(at: usize): u32 {
  return byteAt(at) & 0x3f
}

function foldingOf(character: u32): u32 {
  const entry = pageTable + ((<usize>(character >>> 8)) << 2)
  let page = <usize>load<u32>(entry)
  if (page === 0) {
    if (!makePage(character >>> 8)) return leftFlag
    page = <usize>load<u32>(entry)
  }
  return load<u32>(page + ((<usize>(character & 0xff)) << 2))
}

/** Adds a folded character with its class; returns false where there is no room. */
function add(folded: u32): bool {
  const found = folded >>> 24
  if (found !== wordClass) {
    if (!endWord()) return false
    wordClass = found
  }
  if (found === 0 || units > longestWord) return true
  const character = folded & codePointMask
  if (character < 0x80) {
    store<u8>(wordAt++, character)
    units++
    return true
  }
  if (character < 0x800) store<u8>(wordAt++, 0xc0 | (character >>> 6))
  else {
    if (character < 0x10000) store<u8>(wordAt++, 0xe0 | (character >>> 12))
    else {
      store<u8>(wordAt++, 0xf0 | (character >>> 18))
      store<u8>(wordAt++, 0x80 | ((character >>> 12) & 0x3f))
      units++
    }
    store<u8>(wordAt++, 0x80 | ((character >>> 6) & 0x3f))
  }
  store<u8>(wordAt++, 0x80 | (character & 0x3f))
  units++
  return true
}

/** Keeps the word that is begun if it is another one; returns false where there is no room. */
function endWord(): bool {
  if (units !== 0 && units <= longestWord) {
    const start = end + 1
    const length = wordAt - start
    if (isNew(start, length)) {
      count++
      if (length < 0x80) store<u8>(end, <u32>length)
      else {
        memory.copy(start + 1, start, length)
        store<u8>(end, <u32>length | 0x80)
        store<u8>(start, <u32>length >>> 7)
        wordAt++
      }
      end = wordAt
    }
  }
  beginWord()
  return end < wordsPlace + mostWordsBytes
}

/** Of a word that has its first byte at `start`, behind the byte of its length. */
function isNew(start: usize, length: usize): bool {
  const hash = <u32>(hashOf(start, start + length, 0) >>> 32)
  let slot = <usize>hash & slotMask
  while (true) {
    const entry = wordSlots + (slot << 3)
    const known = <usize>load<u32>(entry)
    if (known === 0) {
      store<u32>(entry, <u32>end)
      store<u32>(entry, hash, 4)
      return true
    }
    if (load<u32>(entry, 4) === hash && isWord(known, start, length)) return false
    slot = (slot + 1) & slotMask
  }
}

function isWord(known: usize, start: usize, length: usize): bool {
  const first = byteAt(known)
  if (first < 0x80) return <usize>first === length && areEqual(known + 1, start, length)
  const stored = <usize>((first & 0x7f) | (byteAt(known + 1) << 7))
  return stored === length && areEqual(known + 2, start, length)
}

function hexadecimal(at: usize): u32 {
  let code: u32 = 0
  for (let i: usize = 0; i < 4; i++) {
    const byte = byteAt(at + i)
    code = code * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
  }
  return code
}
