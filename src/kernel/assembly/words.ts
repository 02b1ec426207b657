/** Cuts texts into words. */

/** Flags of a text: 1, it has a character that JSON escapes with letters; one is in doubt; or not cut here. */
const doubt: i32 = 2
const elsewhere: i32 = 4

/** Classes of characters (`type/word-class.ts`). */
const gaplessCharacter: i32 = 2
const doubtful: i32 = 4
const syllable: i32 = 5
const droppedMark: i32 = 6
const dottedCapitalI: i32 = 0x130

/**
 * Writes the folded words of texts end to end to `folded`, and four integers for each to `words`: its
 * begin and end there, its hash, and a bit for each class of its characters.
 *
 * @param ends of each text, its end among the texts
 * @param folds, classes of the characters below 2^16: what they fold to (u16), and their classes (u8)
 * @param states of each text: how many words there are up to its end, times 8, and its flags
 */
export function scanWords(
  source: usize,
  ends: usize,
  rowCount: i32,
  folds: usize,
  classes: usize,
  folded: usize,
  words: usize,
  states: usize,
): void {
  let at: i32 = 0
  let out: i32 = 0
  let count: i32 = 0
  for (let row = 0; row < rowCount; row++) {
    const end = load<i32>(ends + ((<usize>row) << 2))
    const firstOut = out
    const firstCount = count
    let flags: i32 = 0
    let start = out
    let hash: i32 = 0
    let seen: i32 = 0
    // Words of scripts that are searched by parts, and others, end where the others begin.
    let isPart: i32 = 0
    while (at < end) {
      const first: i32 = load<u8>(source + <usize>at)
      let found: i32 = 0
      if (first < 0x80) {
        const byte = first | ((<i32>(<u32>(first - 0x41) < 26)) << 5)
        flags |= <i32>(first < 0x20)
        found = load<u8>(classes + <usize>byte)
        at++
        if (found !== 0) {
          if (isPart !== 0) {
            setWord(words, count++, start, out, hash, seen)
            start = out
            hash = 0
            seen = 0
            isPart = 0
          }
          store<u8>(folded + <usize>out, byte)
          hash = (hash ^ byte) * <i32>0x9e3779b1
          out++
        }
      } else if (first < 0xf0) {
        let character: i32 = load<u8>(source + <usize>at + 1) & 0x3f
        if (first < 0xe0) {
          character |= (first & 0x1f) << 6
          at += 2
        } else {
          character = (character << 6) | (load<u8>(source + <usize>at + 2) & 0x3f)
          character |= (first & 0x0f) << 12
          at += 3
        }
        if (character === dottedCapitalI) {
          flags |= elsewhere
          break
        }
        character = load<u16>(folds + ((<usize>character) << 1))
        found = load<u8>(classes + <usize>character)
        if (found === doubtful) {
          flags |= doubt
          found = 0
        }
        if (found !== 0) {
          const isOfPart = <i32>(found === gaplessCharacter) | <i32>(found === syllable)
          if (isOfPart !== isPart) {
            if (seen !== 0) {
              // A mark that folding leaves out does not end a word.
              if (found === droppedMark) flags |= doubt
              setWord(words, count++, start, out, hash, seen)
              start = out
              hash = 0
              seen = 0
            }
            isPart = isOfPart
          }
          const length = encode(folded + <usize>out, character)
          for (let i = 0; i < length; i++) {
            hash = (hash ^ <i32>load<u8>(folded + <usize>out)) * <i32>0x9e3779b1
            out++
          }
        }
      } else {
        flags |= elsewhere
        break
      }
      if (found !== 0) {
        seen |= 1 << found
      } else if (seen !== 0) {
        setWord(words, count++, start, out, hash, seen)
        start = out
        hash = 0
        seen = 0
        isPart = 0
      }
    }
    if (flags & elsewhere) {
      at = end
      out = firstOut
      count = firstCount
    } else if (seen !== 0) {
      setWord(words, count++, start, out, hash, seen)
    }
    store<i32>(states + ((<usize>row) << 2), (count << 3) | flags)
  }
}

function setWord(words: usize, index: i32, start: i32, end: i32, hash: i32, seen: i32): void {
  const place = words + ((<usize>index) << 4)
  store<i32>(place, start)
  store<i32>(place + 4, end)
  store<i32>(place + 8, hash ^ <i32>(<u32>hash >>> 15))
  store<i32>(place + 12, seen)
}

/** Writes a character below 2^16 as UTF-8, and returns how many bytes it takes. */
function encode(place: usize, character: i32): i32 {
  if (character < 0x80) {
    store<u8>(place, character)
    return 1
  }
  if (character < 0x800) {
    store<u8>(place, 0xc0 | (character >> 6))
    store<u8>(place + 1, 0x80 | (character & 0x3f))
    return 2
  }
  store<u8>(place, 0xe0 | (character >> 12))
  store<u8>(place + 1, 0x80 | ((character >> 6) & 0x3f))
  store<u8>(place + 2, 0x80 | (character & 0x3f))
  return 3
}
