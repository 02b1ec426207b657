/** Finds texts that lie end to end in which a needle occurs, without decoding them where possible. */
import { ByteSearch, maximumNeedleBytes } from '../../kernel/text.ts'
import { foldText } from '../../type/fold-text.ts'
import type { Texts } from '../../vector/column.ts'
import { checkCancelled } from '../thread/cancelled.ts'

/** What a hit says of its text. */
export type Verdict = typeof absent | typeof present | typeof undecided
export const absent = 0
export const present = 1
/** Only the decoded text can tell. */
export const undecided = 2

/** Bytes that are searched at once, unless one text is longer: a part of the second-level cache. */
const chunkBytes = 2 ** 18

/** What can be searched for among bytes. */
export interface Searched {
  readonly byteLength: number
  /**
   * Gives the next place from a place on, or -1. Undefined when nothing can be searched for, so that
   * all texts have to be decoded.
   */
  in(region: Buffer): ((from: number) => number) | undefined
}

/**
 * A text to find. Of one that has letters beyond ASCII whose case counts for nothing, only a part is
 * searched, as of a very long one, and then a hit decides nothing.
 */
export class Needle implements Searched {
  readonly byteLength: number
  /** Whether a hit is an occurrence of the needle itself. */
  readonly isWhole: boolean
  readonly #search: ByteSearch | undefined
  /** What is searched for, where letters beyond ASCII may be some of its own in another case. */
  readonly #folded: readonly string[]

  /** @param text in lower case when case does not count */
  constructor(text: string, caseInsensitive: boolean) {
    const anchor = anchorOf(text, caseInsensitive)
    const bytes = Buffer.from(anchor).subarray(0, maximumNeedleBytes)
    this.byteLength = bytes.length
    this.isWhole = anchor === text && bytes.length === Buffer.byteLength(anchor)
    this.#search = bytes.length > 0 ? new ByteSearch(bytes, caseInsensitive) : undefined
    this.#folded = caseInsensitive ? [anchor] : []
  }

  in(region: Buffer): ((from: number) => number) | undefined {
    if (hasOtherLetters(region, this.#folded)) return undefined
    return this.#search?.in(region)
  }
}

/** The two characters beyond ASCII whose lower case holds an ASCII letter: K (Kelvin) and İ. */
const kelvinSign = Buffer.from('\u212a')
const dottedI = Buffer.from('\u0130')

/** Whether a region has letters beyond ASCII whose lower case holds an ASCII letter of one of the texts. */
export function hasOtherLetters(region: Buffer, texts: readonly string[]): boolean {
  const has = (letter: string) => texts.some((text) => text.includes(letter))
  return (has('k') && region.includes(kelvinSign)) || (has('i') && region.includes(dottedI))
}

/** The longest part of a needle that can be searched among bytes. */
function anchorOf(text: string, caseInsensitive: boolean): string {
  if (!caseInsensitive) return /\p{Surrogate}/u.test(text) ? '' : text
  const parts = [
    longestRun(text, hasNoCase),
    longestRun(text, (character) => character < '\u0080'),
  ] as const
  return Buffer.byteLength(parts[0]) < parts[1].length ? parts[1] : parts[0]
}

function longestRun(text: string, belongs: (character: string) => boolean): string {
  let longest = ''
  let run = ''
  for (const character of text) {
    run = belongs(character) ? run + character : ''
    if (run.length > longest.length) longest = run
  }
  return longest
}

/** Whether lower case leaves the character as it is, and makes it of no other. */
export function hasNoCase(character: string): boolean {
  const codePoint = character.codePointAt(0)!
  if (codePoint >= 0xd800 && codePoint < 0xe000) return false
  // What the lower case of İ ends with.
  if (codePoint === 0x307) return false
  return foldText(character) === character && character.toUpperCase() === character
}

/**
 * Writes a verdict for each of the texts `from … to` to `out`, which begins at `from`.
 *
 * @param judge says what a hit at byte `at` means for the text `start … end`; `absent`: go on
 */
export function searchTexts(
  { bytes, offsets }: Texts,
  from: number,
  to: number,
  needle: Searched,
  judge: (bytes: Buffer, at: number, start: number, end: number) => Verdict,
  out: Uint8Array,
): void {
  for (let first = from; first < to; ) {
    const start = offsets[first]!
    let last = first + 1
    checkCancelled()
    while (last < to && offsets[last + 1]! - start <= chunkBytes) last++
    const find = needle.in(bytes.subarray(start, offsets[last]!))
    if (!find) {
      out.fill(undecided, first - from, last - from)
      first = last
      continue
    }
    out.fill(absent, first - from, last - from)
    let text = first
    for (let hit = find(0); hit >= 0 && text < last; ) {
      const at = start + hit
      while (offsets[text + 1]! <= at) text++
      const end = offsets[text + 1]!
      // A hit may run over the text's end: it is none, and another may begin within it.
      const verdict = at + needle.byteLength <= end ? judge(bytes, at, offsets[text]!, end) : absent
      if (verdict === absent) {
        hit = find(hit + 1)
        continue
      }
      out[text - from] = verdict
      text++
      hit = text < last ? find(end - start) : -1
    }
    first = last
  }
}
