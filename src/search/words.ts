/** What a person typed, as words: the unit that phrases are recognized in. */
import { readSearchQuery } from '../type/search-query.ts'

export interface Word {
  /** `text`: a word, number or sign. `phrase`: what was quoted. `tag`: `+name` or `-name`. */
  readonly kind: 'text' | 'phrase' | 'tag' | 'symbol'
  /** As typed, without quotes, sign or punctuation around it. */
  readonly text: string
  /** Lower case, without accents: what phrases are compared by. */
  readonly plain: string
  /** Of a tag: whether rows must have it. */
  readonly isWanted?: boolean
  /** Place in the text, in UTF-16 units. */
  readonly from: number
  readonly to: number
}

/**
 * In turn: a tag; signs by themselves, which may be a comparison; what is quoted; a comparison; a colon or
 * comma between words; anything up to a space, a quote, a comma or a comparison.
 */
const pattern =
  /([+-])(?:"([^"]+)"|'([^']+)'|((?:[\p{L}\p{N}_#@\p{So}]|\p{Extended_Pictographic})[^\s,;"]*))|(?<=^|\s)([^\p{L}\p{N}\s"“”]{2,}|[:;][-']?\p{L})(?=$|\s)|"([^"]*)"|“([^”]*)”|(?<=^|[\s(=:])'([^']*)'(?=$|[\s),.;:!?])|(<=|>=|!=|==|<>|[<>=≤≥≠])|([,;:()–—])|([^\s"“,;()–—<>=≤≥≠]+)/gu

/** Punctuation that begins or ends a word but is not part of it; a point before or within one is. */
const around =
  /^(?:(?![@#%&/_-])[\p{P}\p{M}\p{Cf}`´](?<!\.(?=[\p{L}\p{N}])))+|(?:['’]s)?[.!?:…'’`)]*$/gu

const comparison = /^(?:<=|>=|!=|==|<>|[<>=])$/

const symbolsAlike: Readonly<Record<string, string>> = {
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  '<>': '!=',
  '==': '=',
}

/** A `-` or `+` makes a tag only at the start of a word that begins with a letter. */
export function readWords(text: string): Word[] {
  const words: Word[] = []
  for (const found of text.matchAll(pattern)) {
    const from = found.index
    const to = from + found[0].length
    const [, sign, quotedTag, quotedTagToo, tag, signs, ...others] = found
    const [quoted, curled, single, symbol, mark, other] = others
    const startsWord = from === 0 || /[\s,;(]/.test(text[from - 1]!)
    const tagText = quotedTag ?? quotedTagToo ?? tag
    if (tagText !== undefined && startsWord && !isNumber(tagText)) {
      const name = tagText.replace(around, '')
      words.push({ kind: 'tag', text: name, plain: plain(name), isWanted: sign === '+', from, to })
      continue
    }
    const phrase = quoted ?? curled ?? single
    if (signs !== undefined) {
      addSigns(words, signs, from)
    } else if (phrase !== undefined) {
      if (phrase.trim() !== '') {
        words.push({ kind: 'phrase', text: phrase.trim(), plain: plain(phrase.trim()), from, to })
      }
    } else if (symbol !== undefined) {
      words.push({ kind: 'symbol', text: symbol, plain: symbolsAlike[symbol] ?? symbol, from, to })
    } else if (mark !== undefined) {
      words.push({ kind: 'symbol', text: mark, plain: mark, from, to })
    } else {
      addText(words, other ?? found[0], from)
    }
  }
  return words
}

/** `:)` and `->` are looked for; a comparison may be one of what is beside it. */
function addSigns(words: Word[], signs: string, from: number): void {
  const to = from + signs.length
  if (comparison.test(signs)) {
    words.push({ kind: 'symbol', text: signs, plain: symbolsAlike[signs] ?? signs, from, to })
  } else if (!namesNothing(signs)) {
    const bare = signs.replace(around, '')
    const text = sameSearch(bare, signs) ? bare : signs
    words.push({ kind: 'text', text, plain: plain(text), from, to })
  }
}

/** Whether full-text search would have nothing to look for. */
export function namesNothing(text: string): boolean {
  return readSearchQuery(text).length === 0
}

function sameSearch(one: string, other: string): boolean {
  return JSON.stringify(readSearchQuery(one)) === JSON.stringify(readSearchQuery(other))
}

export function isComparison({ kind, plain: name }: Word): boolean {
  return kind === 'symbol' && comparison.test(name)
}

/** How many words from a place on were written without a gap around a comparison: `a=b`, `<3`. */
export function attachedWords(words: readonly Word[], at: number): number {
  const isPart = (word: Word) => word.kind === 'text' || isComparison(word)
  if (!isPart(words[at]!)) return 1
  let count = 1
  for (; at + count < words.length; count++) {
    const next = words[at + count]!
    if (!isPart(next) || words[at + count - 1]!.to !== next.from) break
  }
  return words.slice(at, at + count).some(isComparison) ? count : 1
}

/** `model:gpt-4o` is a name, a colon and a value; a time of day or an address is one word. */
function addText(words: Word[], raw: string, from: number): void {
  const parts = /^([\p{L}_][\p{L}\p{N}_.]*):(?!\/\/)(.+)$/u.exec(raw)
  if (parts) {
    addText(words, parts[1]!, from)
    const colon = from + parts[1]!.length
    words.push({ kind: 'symbol', text: ':', plain: ':', from: colon, to: colon + 1 })
    addText(words, parts[2]!, colon + 1)
    return
  }
  const text = raw.replace(around, '')
  if (text === '') return
  const start = from + raw.indexOf(text)
  words.push({ kind: 'text', text, plain: plain(text), from: start, to: start + text.length })
}

/** Lower case, accents off, so that `Élodie` is found as `elodie`. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[’`]/g, "'")
}

function isNumber(text: string): boolean {
  return /^[$€£]?\d/.test(text)
}
