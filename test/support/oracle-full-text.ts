/** The oracle's full-text search: one regular expression per phrase, over texts that are folded whole. */
import { isList, isRecord, type Plain, text } from './oracle-value.ts'

/** Scripts that are written without gaps, and Korean, of which any part of a word is found. */
const gapless =
  '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]'
const letter = '[\\p{L}\\p{N}\\p{M}]'
const gapped = `[${letter}--${gapless}]`
const runs = new RegExp(`${gapped}+\\*?|[${letter}&&${gapless}]+`, 'gv')

const fields = ['input', 'output', 'expected', 'error', 'metadata', 'span_attributes', 'tags']

type Read = (path: readonly string[]) => Plain | undefined

export function matches(value: Plain, query: Plain): boolean | null {
  if (value === null || query === null) return null
  const texts = textsOf(value).map(fold)
  const patterns = patternsOf(query)
  if (patterns.length === 0) return false
  return patterns.every((pattern) => texts.some((each) => each.search(pattern) >= 0))
}

export function search(read: Read, query: Plain): boolean | null {
  if (query === null) return null
  return fields.some((field) => matches(read([field]) ?? null, query) === true)
}

export function matchScore(value: Plain, query: Plain): number | null {
  if (value === null || query === null) return null
  const texts = textsOf(value)
  const length = texts.join('').length
  return patternsOf(query)
    .map((pattern) => texts.flatMap((each) => fold(each).match(pattern) ?? []).length)
    .reduce(
      (sum, count) => sum + (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / 1000)),
      0,
    )
}

export function searchScore(read: Read, query: Plain): number | null {
  if (query === null) return null
  return fields.reduce((sum, field) => sum + (matchScore(read([field]) ?? null, query) ?? 0), 0)
}

function patternsOf(query: Plain): RegExp[] {
  const asked = Array.from(text(query).matchAll(/"([^"]*)"|([^"\s]+)/g), (found) => {
    const [, quoted, plain] = found
    const before = found.index === 0 ? ' ' : text(query)[found.index - 1]!
    return { isQuoted: quoted !== undefined, words: quoted ?? plain!, isFirst: before !== '"' }
  })
  const sources = asked.flatMap(({ isQuoted, words, isFirst }) => {
    const terms = termsOf(fold(words), isQuoted || isFirst)
    // Of what is not quoted, punctuation and blanks part terms; scripts and signs that touch do not.
    const groups = isQuoted ? [terms] : parted(terms)
    return groups.flatMap((group) => (group.length > 0 ? [sourceOfPhrase(group)] : []))
  })
  return [...new Set(sources)].map((source) => new RegExp(source, 'gv'))
}

interface Term {
  readonly text: string
  readonly at: number
  readonly isSign: boolean
}

const blanks = '[\\p{Z}\\p{Cc}]'
const prose = '[[\\p{P}`´]--[#%&@§¶†‡‰‱※]]'
const region = '[\\u{1f1e6}-\\u{1f1ff}]'
const person =
  '[\\p{Extended_Pictographic}--\\p{L}][\\u{1f3fb}-\\u{1f3ff}]?[\\u{e0020}-\\u{e007f}]*'
const emoji = `(?:${region}{2}|${person}(?:\\u200d${person})*)+`
const counted = `[^\\p{L}\\p{N}\\p{M}\\p{Z}\\p{Cc}\\p{Cf}\\p{Extended_Pictographic}${prose}${region}]`
const operator = `(?:[!:?*\\/.\\-]*(?=[=<>\\|~]))?${counted}(?:[${prose}${counted}]*${counted})?(?:(?<=<)[\\/!?\\-]+|(?<=\\$)[\\(\\{]+)?`
const figures = `(?=\\S*[\\(\\)\\[\\]\\{\\}\\\\\\/_])${prose}+[${prose}--[.,!?]]`
const faces = "[<>]?[:;=][\\-^'~]?[\\(\\)\\[\\]\\{\\}\\|\\\\\\/<>*@]+"
const aloneSign = new RegExp(`^(?:(${figures})[.,!?]*|(${faces}))$`, 'v')
const leading = new RegExp(`^(?:\\.|[:;][\\-']?)(?=${letter})`, 'v')
const token = new RegExp(`(?<sign>${emoji}|${operator})|${runs.source}`, 'gv')

function termsOf(folded: string, isFirst: boolean): Term[] {
  const pieces = folded.matchAll(new RegExp(`${blanks}*((?:(?!${blanks}).)+)`, 'gsv'))
  return Array.from(pieces).flatMap(({ 0: all, 1: found, index }) => {
    const piece = found!
    const from = index + all.length - piece.length
    const alone = aloneSign.exec(piece)
    if (alone) {
      const sign = alone[1] ?? alone[2]!
      return sign.length > 1 ? [{ text: sign, at: from, isSign: true }] : []
    }
    const start = (from > 0 || isFirst) && leading.exec(piece)
    const terms: Term[] = start ? [{ text: start[0], at: from, isSign: true }] : []
    for (const each of piece.matchAll(token)) {
      const isSign = each.groups?.sign !== undefined
      terms.push({ text: each[0], at: from + each.index, isSign })
    }
    return terms
  })
}

function ends({ text: of, at }: Term): number {
  return at + (of.length > 1 && /[\p{L}\p{N}\p{M}]\*$/u.test(of) ? of.length - 1 : of.length)
}

function parted(terms: readonly Term[]): Term[][] {
  return terms.reduce<Term[][]>((groups, term) => {
    const last = groups.at(-1)
    if (last && ends(last.at(-1)!) === term.at) last.push(term)
    else groups.push([term])
    return groups
  }, [])
}

const not = `[[^\\p{L}\\p{N}\\p{M}]\\u200d]`

function sourceOfPhrase(terms: readonly Term[]): string {
  return terms
    .map((term, i) => {
      const before = terms[i - 1]
      const touches = before && (term.isSign || before.isSign) && ends(before) === term.at
      return `${before && !touches ? `${not}*?` : ''}${sourceOf(term)}`
    })
    .join('')
}

function sourceOf({ text: term, isSign }: Term): string {
  if (isSign) return sourceOfSign(term)
  if (new RegExp(gapless, 'v').test(term)) return term
  const word = term.replace('*', '')
  return `(?<!${gapped})${word}${term.endsWith('*') ? `${gapped}*` : `(?!${gapped})`}`
}

/** Not where it is a part of an emoji or of a flag. */
function sourceOfSign(sign: string): string {
  const literal = sign.replace(
    /[^\p{L}\p{N}]/gu,
    (each) => `\\u{${each.codePointAt(0)!.toString(16)}}`,
  )
  const even = `(?<=(?<!${region})(?:${region}{2})*)`
  const begins = new RegExp(`^${region}`, 'v').test(sign) ? even : ''
  return `(?<!\\u200d)${begins}${literal}(?![\\u200d\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}])(?:(?!${region})|${even})`
}

function textsOf(value: Plain): string[] {
  if (isList(value)) return value.flatMap(textsOf)
  if (isRecord(value)) return Object.entries(value).flatMap(([name, of]) => [name, ...textsOf(of)])
  return [text(value)]
}

function fold(given: string): string {
  return given
    .toLowerCase()
    .normalize('NFC')
    .replace(/\P{S}+/gu, (letters) =>
      letters
        .normalize('NFD')
        .replace(/[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g, (wide) => {
          return String.fromCharCode(wide.charCodeAt(0) - 0xfee0)
        })
        .replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u00ad\u200c]|\ufe0f/g, '')
        .replace(/[ßøłæœđ]/g, (each) => plain[each]!),
    )
    .replace(
      /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier})\u200d|\u200d(?!\p{Extended_Pictographic})/gu,
      '',
    )
}

const plain: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe', đ: 'd' }
