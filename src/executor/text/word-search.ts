/**
 * Finds texts that lie end to end and have all phrases that full-text search looks for. Bytes decide as
 * far as they can: where they cannot, a text is decoded and looked at (`type/find-phrase.ts`).
 */
import { isAscii } from 'node:buffer'
import { decodeUtf8 } from '../../json/utf8.ts'
import { ByteSearch, maximumNeedleBytes } from '../../kernel/text.ts'
import { FoldedText } from '../../storage/segment/folded-text.ts'
import { findPhrase } from '../../type/find-phrase.ts'
import { foldAccent, foldedForSearch, isPartwise } from '../../type/fold-accents.ts'
import type { SearchPhrase, SearchTerm } from '../../type/search-query.ts'
import type { Texts } from '../../vector/column.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { mayFoldToAscii } from './folds-to-ascii.ts'
import {
  absent,
  present,
  type Searched,
  searchTexts,
  undecided,
  type Verdict,
} from './text-search.ts'

export class WordSearch {
  readonly #phrases: readonly PhraseSearch[]

  constructor(phrases: readonly SearchPhrase[]) {
    // The longer a word, the fewer texts are left for the others.
    this.#phrases = phrases
      .map((phrase) => new PhraseSearch(phrase))
      .sort((a, b) => b.weight - a.weight)
  }

  /** Writes 1 for each of the texts `from … to` that has all phrases to `out`, else 0. */
  search(texts: Texts, from: number, to: number, out: Uint8Array): void {
    out.fill(1, 0, to - from)
    for (const phrase of this.#phrases) {
      eachRun(out, to - from, (start, end) => {
        phrase.search(texts, from + start, from + end, out.subarray(start, end))
      })
    }
  }
}

/** Calls for each stretch of ones. */
function eachRun(marks: Uint8Array, count: number, take: (from: number, to: number) => void): void {
  for (let from = marks.indexOf(1); from >= 0 && from < count; ) {
    let to = from + 1
    while (to < count && marks[to] === 1) to++
    take(from, to)
    from = marks.indexOf(1, to)
  }
}

class PhraseSearch {
  readonly #phrase: SearchPhrase
  readonly #needle: TermNeedle
  readonly #isLone: boolean

  constructor(phrase: SearchPhrase) {
    this.#phrase = phrase
    this.#isLone = phrase.length === 1
    this.#needle = new TermNeedle(longest(phrase))
  }

  get weight(): number {
    return longest(this.#phrase).text.length
  }

  search(texts: Texts, from: number, to: number, out: Uint8Array): void {
    this.#needle.search(texts, from, to, out)
    const { bytes, offsets } = texts
    for (let i = 0; i < to - from; i++) {
      if (out[i] === absent || (out[i] === present && this.#isLone)) continue
      checkCancelled()
      const text = decodeUtf8(bytes, offsets[from + i]!, offsets[from + i + 1]!)
      out[i] = findPhrase(foldedForSearch(text), this.#phrase, 0) ? present : absent
    }
  }
}

/** Words are found as they are, and signs by one of them. */
function longest(phrase: SearchPhrase): SearchTerm {
  const words = phrase.filter(({ fits }) => fits !== 'sign')
  return (words.length > 0 ? words : phrase).reduce((a, b) =>
    b.text.length > a.text.length ? b : a,
  )
}

/**
 * The sign that is searched among bytes for some that follow each other, since marks that are left out may
 * be between them; empty if each of them may be written in another way, or with an escape in JSON.
 */
export function searchedSign(text: string): string {
  const found = Array.from(text).filter((sign) => !isWrittenOtherwise(sign))
  return found.sort().at(-1) ?? ''
}

function isWrittenOtherwise(sign: string): boolean {
  return (
    /["\\/;`´·〈〉\u2adc\u2add\p{Cf}\p{Cs}\u{1d100}-\u{1d1ff}]/u.test(sign) ||
    sign.toUpperCase() !== sign
  )
}

/**
 * One term among the bytes of texts. Letters of ASCII are found as they are; letters with accents may
 * stand for them, so where there are others than ASCII, nothing is absent for certain. Of scripts without
 * gaps hardly a character is folded, and those of a term that none is folded to are searched as they are.
 * Of signs one is searched, and texts that have it are looked at.
 */
export class TermNeedle implements Searched {
  readonly byteLength: number
  readonly #search: ByteSearch | undefined
  readonly #folded: Buffer
  readonly #isAscii: boolean
  readonly #isSign: boolean
  readonly #fits: SearchTerm['fits']
  /** Whether bytes that are found are the term. */
  readonly #isWhole: boolean
  /** Bytes of characters that make others of those that are searched. */
  readonly #composing: readonly Buffer[]

  constructor({ text, fits }: Pick<SearchTerm, 'text' | 'fits'>) {
    this.#fits = fits
    this.#folded = Buffer.from(text)
    this.#isSign = fits === 'sign'
    this.#isAscii = !this.#isSign && isAscii(this.#folded)
    const needle = this.#isSign ? searchedSign(text) : this.#isAscii ? text : longestStable(text)
    const bytes = Buffer.from(needle).subarray(0, maximumNeedleBytes)
    this.byteLength = bytes.length
    this.#isWhole = !this.#isSign && needle === text && bytes.length === Buffer.byteLength(needle)
    this.#search = bytes.length > 0 ? new ByteSearch(bytes, this.#isAscii) : undefined
    this.#composing = this.#isSign ? [stroke] : this.#isAscii ? [] : composingBytes(text)
  }

  /** Writes for each of the texts `from … to` whether it has the term, as far as bytes tell. */
  search(texts: Texts, from: number, to: number, out: Uint8Array): void {
    const judge = (bytes: Buffer, at: number, start: number, end: number) =>
      this.#judge(bytes, at, start, end)
    searchTexts(texts, from, to, this, judge, out)
    if (this.#isSign) return
    const doubted = this.#isAscii ? absent : this.#search ? undefined : undecided
    if (doubted !== undefined) this.#searchFolded(texts, from, to, doubted, out)
  }

  /** Looks for what folding makes of texts that bytes have told nothing of. */
  #searchFolded(
    { bytes, offsets }: Texts,
    from: number,
    to: number,
    doubted: Verdict,
    out: Uint8Array,
  ): void {
    if (isAscii(bytes.subarray(offsets[from]!, offsets[to]!))) return
    for (let i = 0; i < to - from; i++) {
      if (out[i] !== doubted) continue
      checkCancelled()
      const [start, end] = [offsets[from + i]!, offsets[from + i + 1]!]
      if (!(this.#isAscii ? mayFoldToAscii : hasOthers)(bytes, start, end)) continue
      folded.setText(bytes, start, end)
      const text = Buffer.from(folded.bytes.buffer, 0, folded.length)
      out[i] = text.includes(this.#folded) ? undecided : absent
    }
  }

  in(region: Buffer): ((from: number) => number) | undefined {
    if (!this.#isAscii && !this.#isSign && isAscii(region)) return () => -1
    if (this.#composing.some((bytes) => region.includes(bytes))) return undefined
    return this.#search?.in(region)
  }

  #judge(bytes: Buffer, at: number, start: number, end: number): Verdict {
    if (!this.#isWhole) return undecided
    if (this.#fits === 'part') return present
    const before = at === start ? space : bytes[at - 1]!
    if (isLetterOrDigit[before] === 1) return absent
    if (before >= 0x80) return undecided
    if (this.#fits === 'start') return present
    const after = at + this.byteLength === end ? space : bytes[at + this.byteLength]!
    if (isLetterOrDigit[after] === 1) return absent
    return after >= 0x80 ? undecided : present
  }
}

const folded = new FoldedText('accents')

/** Whether bytes are of more than ASCII. */
function hasOthers(bytes: Buffer, start: number, end: number): boolean {
  return !isAscii(bytes.subarray(start, end))
}

const space = 0x20

const isLetterOrDigit = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[a-z0-9]/i.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** The longest run of characters that no others are folded to. */
function longestStable(text: string): string {
  let found = ''
  let run = ''
  for (const character of text) {
    run = isStable(character) ? run + character : ''
    if (run.length > found.length) found = run
  }
  return found
}

/** Where characters are that fold to another one of a script without gaps. */
const foldedRanges = [
  ...[
    [0x3000, 0x33ff],
    [0xf900, 0xfaff],
    [0xff00, 0xffef],
    [0x2f800, 0x2fa1f],
  ],
] as const

let foldedTo: ReadonlySet<string> | undefined

/** Whether a character folds to itself, and no other one to it. */
export function isStable(character: string): boolean {
  if (!isPartwise(character)) return false
  foldedTo ??= new Set(
    foldedRanges.flatMap(([first, last]) =>
      Array.from({ length: last! - first! + 1 }, (_, i) => first! + i).flatMap((codePoint) => {
        const folded = foldAccent(codePoint)
        return folded === String.fromCodePoint(codePoint) ? [] : [...folded]
      }),
    ),
  )
  return !foldedTo.has(character)
}

/** What makes `≠` of `=`. */
const stroke = Buffer.from('\u0338')
const kanaMarks = ['\u3099', '\u309a'].map((mark) => Buffer.from(mark))
/** How halves of syllables begin in UTF-8. */
const jamo = ['e184', 'e185', 'e186', 'e187', 'eaa5', 'ed9e', 'ed9f'].map((hex) =>
  Buffer.from(hex, 'hex'),
)

function composingBytes(text: string): readonly Buffer[] {
  return [
    ...(/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? kanaMarks : []),
    ...(/\p{Script=Hangul}/u.test(text) ? jamo : []),
  ]
}
