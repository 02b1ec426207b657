/**
 * Patterns that find the phrases of full-text search in texts as they are. What stands between signs and blanks of ASCII is
 * folded by itself: whatever a pattern finds there is found, and what a text of ASCII alone does not have is not.
 */
import type { SearchPhrase, SearchTerm } from '../../type/search-query.ts'
import { conjunction, disjunction, isTrue, negation } from './bounds.ts'
import { textLiteral } from './sql-text.ts'

export interface PhraseText {
  /** Where it is found; undefined: no pattern finds it. */
  readonly isFound: string | undefined
  /** Where it may be found, besides. */
  readonly isOpen: string
}

/** Characters of no word in what has no upper case; those within a string of JSON. */
const anySeparator = String.raw`[\x00-/:-\x60{-\x7f]`
const innerSeparator = String.raw`[\x00-!#-/:-\x60{-\x7f]`
const anyAscii = String.raw`[\x00-\x7f]`

/** In a text, which may be null. */
export function textPhrase(phrase: SearchPhrase, text: string): PhraseText {
  const pattern = patternOf(phrase, anySeparator)
  return found(phrase, pattern, { text, searched: `lower(${text})`, isOther: '0' })
}

/**
 * In one of the texts of JSON, which are those between quotes, and numbers.
 *
 * @param json never null; empty: there is none
 */
export function jsonPhrase(phrase: SearchPhrase, json: string): PhraseText {
  const hasSigns = phrase.some(({ fits }) => fits === 'sign')
  const escapes = hasSigns ? '[nrtbf]' : '[^u]'
  // Of signs, all that is escaped counts.
  const searched = `replaceRegexpAll(lower(${json}), '\\\\\\\\${escapes}', ' ')`
  const isEscaped = `(position(${searched}, '\\\\') > 0)`
  const isPrinted = isOfNumber(phrase) ? `match(${json}, ${printedElsewise})` : '0'
  const pattern = isWithinText(phrase) ? patternOf(phrase, innerSeparator) : undefined
  const isOther = disjunction([isEscaped, isPrinted])
  return found(phrase, pattern, { text: json, searched, isOther })
}

interface SearchedText {
  readonly text: string
  /** The same as a pattern takes it. */
  readonly searched: string
  /** Where the pattern does not tell. */
  readonly isOther: string
}

function found(
  phrase: SearchPhrase,
  pattern: string | undefined,
  { text, searched, isOther }: SearchedText,
): PhraseText {
  const literal = pattern === undefined ? undefined : textLiteral(pattern)
  const isBeyond = conjunction([negation(isTrue(`isASCII(${text})`)), ...signsOf(phrase, text)])
  if (literal === undefined) {
    // No text of ASCII alone has what is not of it.
    const isOfAscii = phrase.every(({ text: of }) => /^\p{ASCII}*$/u.test(of))
    return { isFound: undefined, isOpen: isOfAscii ? '1' : disjunction([isBeyond, isOther]) }
  }
  const matches = isTrue(`match(${searched}, ${literal})`)
  return {
    isFound: conjunction([matches, negation(isOther)]),
    isOpen: disjunction([isOther, isBeyond]),
  }
}

/** Numbers that are printed in another way than they may be written. */
export const printedElsewise = String.raw`'[0-9]\\.[0-9]*0([^0-9]|$)|[0-9][eE]|[0-9.]{16}|\\.0{6}|-0'`

/** Undefined of phrases that have other letters, or more than a sign can be without its neighbours. */
function patternOf(phrase: SearchPhrase, gap: string): string | undefined {
  if (!phrase.every(isPlain)) return undefined
  return phrase
    .map((term, i) => {
      const before = phrase[i - 1]
      const isLast = i === phrase.length - 1
      const follows = before ? between(before, term, gap) : beginOf(term)
      const further = term.fits !== 'start' || isLast ? '' : '[a-z0-9]*'
      return `${follows}${escaped(term.text)}${further}${isLast ? endOf(term) : ''}`
    })
    .join('')
}

function isPlain({ text, fits }: SearchTerm): boolean {
  if (fits !== 'sign') return /^[a-z0-9]+$/.test(text) && fits !== 'part'
  return /^[!-~]+$/.test(text) || isSingleSign(text)
}

/** Signs of one character that no other one changes, but for those that stand beside it. */
function isSingleSign(text: string): boolean {
  const isOne = Array.from(text).length === 1 && !/\p{Emoji_Modifier}|\p{RI}|\p{C}/u.test(text)
  return isOne && text.toLowerCase() === text && text.toUpperCase() === text
}

function between(before: SearchTerm, term: SearchTerm, gap: string): string {
  if (term.isAttached) return ''
  return before.fits === 'sign' || term.fits === 'sign' ? `${gap}*` : `${gap}+`
}

function beginOf({ fits }: SearchTerm): string {
  return `(?:^|${fits === 'sign' ? anyAscii : anySeparator})`
}

function endOf({ fits }: SearchTerm): string {
  return `(?:$|${fits === 'word' ? anySeparator : anyAscii})`
}

function escaped(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&')
}

/**
 * What texts must have besides letters of ASCII to have signs: their characters, or what makes another sign of one before it.
 * Of these no text has others in their place, but for two that are written in two ways.
 */
function signsOf(phrase: SearchPhrase, text: string): string[] {
  const signs = phrase.filter(({ fits, text: of }) => fits === 'sign' && !/[;`]/.test(of))
  const known = signs.filter((term) => isPlain(term)).flatMap(({ text: of }) => Array.from(of))
  return [...new Set(known)].map((sign) => {
    const has = (of: string) => isTrue(`position(${text}, ${textLiteral(of)}) > 0`)
    return /\p{ASCII}/u.test(sign) ? has(sign) : disjunction([has(sign), has('\u0338')])
  })
}

/** Whether all that a pattern finds of the phrase is in one text of JSON: or in a number, if that is all it is of. */
function isWithinText(phrase: SearchPhrase): boolean {
  if (phrase.some(({ text, fits }) => fits === 'sign' && /["\\]/.test(text))) return false
  return phrase.some(isOfText) || (phrase.length === 1 && phrase[0]!.fits !== 'sign')
}

/** Whether it stands between quotes wherever JSON has it. */
function isOfText({ text, fits }: SearchTerm): boolean {
  if (fits === 'sign') return /[^{}[\]:,+.-]/.test(text)
  const isName = ['true', 'false', 'null'].some((name) => {
    return fits === 'start' ? name.startsWith(text) : name === text
  })
  return !isName && !/^\d/.test(text)
}

function isOfNumber(phrase: SearchPhrase): boolean {
  return !phrase.some(isOfText)
}

/** Whether numbers may have a word of the phrase: these are searched as they are printed. */
export function isNumeric(phrase: SearchPhrase): boolean {
  return phrase.some(({ text }) => /^(?:[\de]+|null)$/.test(text))
}
