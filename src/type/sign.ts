/**
 * Signs that full-text search looks for (`search-query.ts`): emoji, currency, arrows, operators, and what
 * else is of no word and no punctuation of prose. All texts here are folded (`fold-accents.ts`).
 */
import { isWithin } from './find-part.ts'
import { isOfWord, wordClass } from './word-class.ts'

/** A stretch of a text, in UTF-16 units. */
export interface SignPlace {
  readonly from: number
  readonly to: number
}

/** What stands beside a run of characters that are of no word and no blanks. */
export interface RunSides {
  /** Whether a blank, or the text's begin, stands before it. */
  readonly isFirst: boolean
  readonly followsWord: boolean
  readonly precedesWord: boolean
}

/** What joins emoji into one. */
const joiner = 0x200d
const pictograph = String.raw`(?!\p{L})\p{Extended_Pictographic}\p{Emoji_Modifier}?[\u{e0020}-\u{e007f}]*`
const regional = String.raw`[\u{1f1e6}-\u{1f1ff}]`
/** Emoji as people see them, next to each other. */
const emoji = new RegExp(`((?:${regional}{2}|${pictograph}(?:\\u200d${pictograph})*)+)`, 'u')

/** What parts words, or words from signs, and is seen as nothing. */
const blank = /^(?![\u200d\u{e0020}-\u{e007f}])[\p{Z}\p{Cc}\p{Cf}]$/u
/** Punctuation of prose, and what makes another letter of the one before. */
const prose =
  /^(?![#%&@§¶†‡‰‱※＃％＆＠])[\p{P}`´\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3099\u309a]$/u

/** Punctuation that is no prose by itself: `:)`, `//`, `{}`, `-_-`. */
const figure = /[()[\]{}\\/_]/
/** Faces of punctuation and signs: `=)`, `>:(`. */
const face = /^[<>]?[:;=][-^'~]?[()[\]{}|\\/<>*@]+$/
/** In prose these stand behind words, so before one they are meant: `.NET`, `:D`, `;-P`. */
const opening = /^(?:\.|[:;][-']?)$/

export function isBlank(character: string): boolean {
  return blank.test(character)
}

/** The signs of a run that are looked for; all else of it is punctuation of prose. */
export function signsIn(run: string, sides: RunSides): SignPlace[] {
  const { isFirst, followsWord, precedesWord } = sides
  if (!followsWord && precedesWord && isFirst && opening.test(run)) return [whole(run)]
  if (!followsWord && !precedesWord) {
    const bare = run.slice(0, bareEnd(run))
    const isFigure = bare.length > 1 && figure.test(bare) && !Array.from(bare).some(counts)
    if (isFigure || face.test(run)) return [whole(isFigure ? bare : run)]
  }
  const found: SignPlace[] = []
  let at = 0
  for (const [i, part] of run.split(emoji).entries()) {
    const place = i % 2 === 1 ? whole(part) : signAmong(part)
    if (place) found.push({ from: at + place.from, to: at + place.to })
    at += part.length
  }
  return found
}

function whole({ length }: string): SignPlace {
  return { from: 0, to: length }
}

/** Where a run ends without the points that end a sentence. */
function bareEnd(run: string): number {
  let end = run.length
  while (end > 0 && '.,!?'.includes(run[end - 1]!)) end--
  return end
}

/** Whether the sign is looked for wherever it stands. */
function counts(character: string): boolean {
  return !prose.test(character) && !blank.test(character)
}

/**
 * From the first sign that counts to the last, with the punctuation that makes an operator of it: `!=`,
 * `->`, `</`, `${`.
 */
function signAmong(part: string): SignPlace | undefined {
  let from = -1
  let to = 0
  let at = 0
  for (const character of part) {
    if (counts(character)) {
      if (from < 0) from = at
      to = at + character.length
    }
    at += character.length
  }
  if (from < 0) return undefined
  if ('=<>|~'.includes(part[from]!)) while (from > 0 && '!:?*/.-'.includes(part[from - 1]!)) from--
  const after = { '<': '/!?-', $: '({' }[part[to - 1]!]
  if (after) while (to < part.length && after.includes(part[to]!)) to++
  return { from, to }
}

/** Whether a character stands between words. */
export function isBetweenWords(character: number): boolean {
  return character === joiner || !isOfWord(wordClass(character))
}

/** Indicators of regions beyond these are not counted to tell where a flag begins. */
const mostIndicators = 512

/** Whether a sign that is at a place of a text is no part of another one: of an emoji, or of a flag. */
export function isWholeSign(text: string, from: number, to: number): boolean {
  if (isWithin(text, from) || isWithin(text, to)) return false
  const after = to < text.length ? text.codePointAt(to)! : -1
  if (after === joiner || isModifier(after) || (after >= 0xe0020 && after <= 0xe007f)) return false
  if (from > 0 && text.charCodeAt(from - 1) === joiner) return false
  const first = text.codePointAt(from)!
  if (
    isModifier(first) &&
    /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, from - 2), from))
  )
    return false
  if (isIndicator(first) && indicatorsBefore(text, from) % 2 === 1) return false
  return !isIndicator(after) || indicatorsBefore(text, to) % 2 === 0
}

function isModifier(codePoint: number): boolean {
  return codePoint >= 0x1f3fb && codePoint <= 0x1f3ff
}

function isIndicator(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff
}

function indicatorsBefore(text: string, to: number): number {
  let count = 0
  for (let at = to - 2; at >= 0 && count < mostIndicators; at -= 2) {
    if (!isIndicator(text.codePointAt(at)!)) break
    count++
  }
  return count
}
