/** What a person typed, as words: the unit that phrases are recognized in. */

export interface Word {
  /** `text`: a word or number. `phrase`: what was quoted. `tag`: `+name` or `-name`. */
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
 * In turn: a tag; what is quoted; a comparison; a colon or comma between words; anything up to a
 * space, a quote, a comma or a comparison.
 */
const pattern =
  /([+-])(?:"([^"]+)"|'([^']+)'|([\p{L}\p{N}_][^\s,;"]*))|"([^"]*)"|“([^”]*)”|(?<=^|[\s(=:])'([^']*)'(?=$|[\s),.;:!?])|(<=|>=|!=|==|<>|[<>=≤≥≠])|([,;:()–—])|([^\s"“,;()–—<>=≤≥≠]+)/gu

/** Punctuation that ends a word but is not part of it; a point or percent sign within one is. */
const around = /^(?:(?![$€£<>=+@#/_-])[^\p{L}\p{N}.]|\.(?!\d))+|(?:['’]s)?[.!?:…'’`)]*$/gu

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
    const [, sign, quotedTag, quotedTagToo, tag, quoted, curled, single, symbol, mark, other] =
      found
    const startsWord = from === 0 || /[\s,;(]/.test(text[from - 1]!)
    const tagText = quotedTag ?? quotedTagToo ?? tag
    if (tagText !== undefined && startsWord && !isNumber(tagText)) {
      const name = tagText.replace(around, '')
      words.push({ kind: 'tag', text: name, plain: plain(name), isWanted: sign === '+', from, to })
      continue
    }
    const phrase = quoted ?? curled ?? single
    if (phrase !== undefined) {
      if (phrase.trim() !== '') {
        words.push({ kind: 'phrase', text: phrase.trim(), plain: plain(phrase.trim()), from, to })
      }
    } else if (symbol !== undefined) {
      const written = symbolsAlike[symbol] ?? symbol
      words.push({ kind: 'symbol', text: written, plain: written, from, to })
    } else if (mark !== undefined) {
      words.push({ kind: 'symbol', text: mark, plain: mark, from, to })
    } else {
      addText(words, other ?? found[0], from)
    }
  }
  return words
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
