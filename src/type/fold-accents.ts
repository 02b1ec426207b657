/**
 * The folding of full-text search: what people take for the same letter. `é`, `E` and `ｅ` are `e`, `ß` is
 * `ss`, and points of Hebrew and Arabic are nothing. It goes character by character, and a text and its
 * lower case fold alike, so that an index of folded texts serves searches of any case, too.
 *
 * The index, scans, single values and the page all fold by this module.
 */
import { foldText } from './fold-text.ts'

/** Marks that are left out, and those of kana, which are letters of their script. */
const mark = /^\p{Mn}$/u
const ofLetters = /^[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]$/u
const voicing = /^[\u3099\u309a]$/
/** Signs within words that nobody sees, and the stroke that makes an Arabic word longer. */
const unseen = /^[\u0640\u00ad\u200c\u200d]$/

function isAccent(character: string): boolean {
  if (unseen.test(character)) return true
  return mark.test(character) && ofLetters.test(character) && !voicing.test(character)
}

const wordCharacter = /^[\p{L}\p{N}\p{M}]$/u
const wordCharacters = /^[\p{L}\p{N}\p{M}]+$/u

/**
 * Scripts that are searched by any part, since they are written without gaps, or, as Korean is, with
 * endings and particles that belong to no dictionary.
 */
const partwise =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Yi}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}ー]$/u

/** Characters that Unicode takes apart, and people do not. */
const whole =
  /^[\p{Script=Hiragana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}\u30a0-\u30ff\uff9e\uff9f]$/u

/** Letters with strokes and joined letters, which Unicode does not take apart. */
const strokes: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
}

/** By code point, in pages of 256: what a character folds to; null: each of the page to itself. */
const pages: (readonly string[] | null | undefined)[] = new Array(0x1100)

/** The folding of one character: a text of letters and digits, or of nothing. */
export function foldAccent(codePoint: number): string {
  const number = codePoint >> 8
  let page = pages[number]
  if (page === undefined) {
    page = makePage(number)
    pages[number] = page
  }
  return page === null ? String.fromCodePoint(codePoint) : page[codePoint & 0xff]!
}

/** Whether `foldAccent` gives the character itself. */
export function isFolded(codePoint: number): boolean {
  const page = pages[codePoint >> 8]
  if (page === null) return true
  return foldAccent(codePoint) === String.fromCodePoint(codePoint)
}

export function foldAccents(text: string): string {
  const lower = text.toLowerCase()
  let folded = ''
  let taken = 0
  for (let at = 0; at < lower.length; at++) {
    const unit = lower.charCodeAt(at)
    if (unit < 0x80) continue
    // Most letters are folded already, so the text is copied by long stretches.
    const codePoint = unit >> 10 === 0x36 ? lower.codePointAt(at)! : unit
    const page = pages[codePoint >> 8]
    const length = codePoint > 0xffff ? 2 : 1
    if (page !== null) {
      const letters = foldAccent(codePoint)
      if (letters.length !== length || !lower.startsWith(letters, at)) {
        folded += lower.slice(taken, at) + letters
        taken = at + length
      }
    }
    at += length - 1
  }
  return taken === 0 ? lower : folded + lower.slice(taken)
}

/** A text as full-text search looks for words and signs in it. */
export function foldedForSearch(text: string): string {
  const whole = composed(text)
  // What joins emoji into one is left out of words only.
  return whole.includes('\u200d')
    ? whole.split(emojiJoiner).map(foldAccents).join('\u200d')
    : foldAccents(whole)
}

const emojiJoiner =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=(?!\p{L})\p{Extended_Pictographic})/u

/** With syllables of Korean, kana and struck signs in one character each, which may be written in several. */
function composed(text: string): string {
  const whole = text.includes('\u0338')
    ? text.replace(/\p{S}\u0338/gu, (sign) => sign.normalize('NFC'))
    : text
  return /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3099\u309a]/u.test(whole)
    ? whole.normalize('NFC')
    : whole
}

/** Whether a character, folded or not, is of a script that is searched by any part. */
export function isPartwise(character: string): boolean {
  return partwise.test(character)
}

function makePage(number: number): readonly string[] | null {
  const page = Array.from({ length: 256 }, (_, i) => fold(String.fromCodePoint((number << 8) | i)))
  const folds = page.some((folded, i) => folded !== String.fromCodePoint((number << 8) | i))
  return folds ? page : null
}

function fold(character: string): string {
  if (isAccent(character)) return ''
  const lower = foldText(character)
  if (!wordCharacter.test(character) || whole.test(character)) return lower
  const folded = Array.from(character.normalize('NFKD'), (letter) => {
    if (isAccent(letter)) return ''
    // By way of upper case, which ß and ſ have in common with other letters.
    return foldText(letter.toLowerCase().toUpperCase())
  })
    .join('')
    .normalize('NFKD')
    .replace(/./gsu, (letter) => (isAccent(letter) ? '' : (strokes[letter] ?? letter)))
  // What would be cut into several words stays as it is.
  const isOfOneKind = new Set(Array.from(folded, isPartwise)).size === 1
  return wordCharacters.test(folded) && isOfOneKind ? folded : lower
}
