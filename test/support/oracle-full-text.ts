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
  return patternsOf(query).every((pattern) => texts.some((each) => each.search(pattern) >= 0))
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
  const asked = Array.from(text(query).matchAll(/"([^"]*)"|[^"\s]+/g), ([all, quoted]) => {
    return quoted ?? all
  })
  const sources = asked.flatMap((phrase) => {
    const terms = fold(phrase).match(runs) ?? []
    // Of what is not quoted, signs part words; scripts that touch each other do not.
    const isApart =
      terms.length > 1 && fold(phrase) !== terms.join('') && !text(query).includes(`"${phrase}"`)
    return isApart
      ? terms.map(sourceOf)
      : terms.length > 0
        ? [terms.map(sourceOf).join(`${not}*`)]
        : []
  })
  return [...new Set(sources)].map((source) => new RegExp(source, 'gv'))
}

const not = `[^\\p{L}\\p{N}\\p{M}]`

function sourceOf(term: string): string {
  if (new RegExp(gapless, 'v').test(term)) return term
  const word = term.replace('*', '')
  return `(?<!${gapped})${word}${term.endsWith('*') ? `${gapped}*` : `(?!${gapped})`}`
}

function textsOf(value: Plain): string[] {
  if (isList(value)) return value.flatMap(textsOf)
  if (isRecord(value)) return Object.entries(value).flatMap(([name, of]) => [name, ...textsOf(of)])
  return [text(value)]
}

function fold(given: string): string {
  return given
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g, '')
    .replace(/[ßøłæœđ]/g, (each) => plain[each]!)
}

const plain: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe', đ: 'd' }
