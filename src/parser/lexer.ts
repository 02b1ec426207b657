import { AssayError } from '../error.ts'
import { asciiClassOf, characterClass, isUnicodeBlank, nameCharacterWidth } from './character.ts'
import { readQuoted } from './read-quoted.ts'
import { shorten, type Token, type TokenKind } from './token.ts'

/** Longest first, so that the first that fits is the right one. */
const longSymbols = [
  ...['<!=>', '<=>', '!~*', '->>'],
  ...['<=', '<>', '>=', '=>', '!=', '!~', '~*', '==', '->', '::'],
]
const longSymbolStarts = '<>=!~-:'
const shortSymbols = '()[]{},.:?|*+-/%<>=~'

/** What to write in place of a character that the language does not have. */
const replacements: ReadonlyMap<string, string> = new Map([
  ['&', 'write "and" to join conditions'],
  ['!', 'write "not" to negate a condition'],
  ['“', 'use straight quotes: " or \''],
  ['”', 'use straight quotes: " or \''],
  ['‘', 'use straight quotes: " or \''],
  ['’', 'use straight quotes: " or \''],
  [';', 'a text holds one query and needs no ";"'],
  ['#', 'a comment starts with "--"'],
])

const quoteKinds: ReadonlyMap<string, TokenKind> = new Map([
  ["'", 'string'],
  ['"', 'quoted'],
  ['`', 'name'],
])

/** Cuts a query text into tokens, one per call of `next`, so that nobody pays for an unread rest. */
export class Lexer {
  readonly #text: string
  #position = 0
  #startsLine = true
  #previous: Token | undefined
  #isSkimming = false
  /** Whether a quote was seen that nothing closes, after which no quote is trusted past its line. */
  #hasLooseQuote = false
  /** Whether ";" is a symbol, as it is in SQL. */
  takesSemicolons = false

  constructor(text: string) {
    this.#text = text
  }

  /** Gives the next token; past the last one, always an `end` token. */
  next(): Token {
    this.#skipBlanks()
    const token = this.#read()
    this.#previous = token
    this.#startsLine = false
    return token
  }

  /** `next` for a text that is passed over: what is no token counts as a symbol without meaning. */
  skim(): Token {
    this.#isSkimming = true
    const token = this.next()
    this.#isSkimming = false
    return token
  }

  #skipBlanks(): void {
    const text = this.#text
    for (;;) {
      const code = text.charCodeAt(this.#position)
      const found = asciiClassOf(code)
      if (found === characterClass.blank) {
        this.#position++
      } else if (found === characterClass.lineBreak) {
        this.#position++
        this.#startsLine = true
      } else if (code === 0x2d && text.charCodeAt(this.#position + 1) === 0x2d) {
        this.#skipComment()
      } else if (code >= 128 && isUnicodeBlank(text, this.#position)) {
        this.#position++
      } else {
        return
      }
    }
  }

  #skipComment(): void {
    const { length } = this.#text
    while (
      this.#position < length &&
      asciiClassOf(this.#text.charCodeAt(this.#position)) !== characterClass.lineBreak
    ) {
      this.#position++
    }
  }

  #read(): Token {
    const text = this.#text
    const start = this.#position
    if (start >= text.length) return this.#token('end', '', '', start, start)
    const code = text.charCodeAt(start)
    const found = asciiClassOf(code)
    if (found === characterClass.digit) {
      // A key that begins with a digit: metadata.2024
      return this.#touches('.') ? this.#readWord(start) : this.#readNumber(start)
    }
    if (found === characterClass.nameStart) return this.#readWord(start)
    if (code === 0x2e && this.#isDigit(start + 1) && !this.#endsOperand(start)) {
      return this.#readNumber(start)
    }
    const character = text[start]!
    const quoteKind = quoteKinds.get(character)
    if (quoteKind !== undefined) {
      if (this.#isSkimming) return this.#skimQuoted(quoteKind, start)
      const { value, end } = readQuoted(text, start)
      return this.#token(quoteKind, value, '', start, end)
    }
    if (nameCharacterWidth(text, start, true) > 0) return this.#readWord(start)
    if (longSymbolStarts.includes(character)) {
      for (const symbol of longSymbols) {
        if (text.startsWith(symbol, start)) return this.#symbol(symbol, start)
      }
    }
    if (character === ';' && this.takesSemicolons) return this.#symbol(character, start)
    if (shortSymbols.includes(character)) return this.#symbol(character, start)
    if (!this.#isSkimming) throw this.#unexpectedCharacter(start)
    const end = start + String.fromCodePoint(text.codePointAt(start)!).length
    return this.#token('symbol', text.slice(start, end), '', start, end)
  }

  /** Passes over a quoted text up to its closing quote, or to the end of the line if it has none. */
  #skimQuoted(kind: TokenKind, start: number): Token {
    const text = this.#text
    const quote = text.charCodeAt(start)
    let lineEnd = -1
    for (let position = start + 1; position < text.length; position++) {
      const code = text.charCodeAt(position)
      if (code === quote) {
        if (text.charCodeAt(position + 1) !== quote) {
          return this.#token(kind, '', '', start, position + 1)
        }
        position++
      } else if (code === 0x5c) {
        position++
      } else if (lineEnd < 0 && asciiClassOf(code) === characterClass.lineBreak) {
        lineEnd = position
        if (this.#hasLooseQuote) break
      }
    }
    this.#hasLooseQuote = true
    return this.#token(kind, '', '', start, lineEnd < 0 ? text.length : lineEnd)
  }

  #readWord(start: number): Token {
    let end = start
    for (;;) {
      const width = nameCharacterWidth(this.#text, end, false)
      if (width === 0) break
      end += width
    }
    const word = this.#text.slice(start, end)
    return this.#token('word', word, word.toLowerCase(), start, end)
  }

  #readNumber(start: number): Token {
    const text = this.#text
    let end = this.#skipDigits(start)
    if (text[end] === '.' && this.#isDigit(end + 1)) end = this.#skipDigits(end + 1)
    if (text[end] === 'e' || text[end] === 'E') {
      const sign = text[end + 1] === '+' || text[end + 1] === '-' ? 1 : 0
      if (this.#isDigit(end + 1 + sign)) end = this.#skipDigits(end + 1 + sign)
    }
    if (nameCharacterWidth(text, end, true) > 0) {
      while (nameCharacterWidth(text, end, false) > 0) end += nameCharacterWidth(text, end, false)
      if (this.#isSkimming) return this.#token('number', text.slice(start, end), '', start, end)
      const written = shorten(text.slice(start, end))
      throw new AssayError('PARSE_INVALID_LITERAL', `"${written}" is not a number`, {
        span: { start, end },
        hint: 'put quotes around a string, and around a name that begins with a digit',
      })
    }
    return this.#token('number', text.slice(start, end), '', start, end)
  }

  #skipDigits(position: number): number {
    let end = position
    while (this.#isDigit(end)) end++
    return end
  }

  #isDigit(position: number): boolean {
    return asciiClassOf(this.#text.charCodeAt(position)) === characterClass.digit
  }

  /** Whether the previous token is this symbol and ends right here. */
  #touches(symbol: string): boolean {
    return this.#previous?.keyword === symbol && this.#previous.end === this.#position
  }

  /** Whether a path may go on right here, so that a dot is one of the path and not of a number. */
  #endsOperand(position: number): boolean {
    const previous = this.#previous
    if (previous === undefined || previous.end !== position) return false
    return previous.kind === 'symbol' ? ')]}'.includes(previous.text) : previous.kind !== 'number'
  }

  #symbol(symbol: string, start: number): Token {
    return this.#token('symbol', symbol, symbol, start, start + symbol.length)
  }

  #token(kind: TokenKind, text: string, keyword: string, start: number, end: number): Token {
    this.#position = end
    return { kind, text, keyword, start, end, startsLine: this.#startsLine }
  }

  #unexpectedCharacter(start: number): AssayError {
    const codePoint = this.#text.codePointAt(start)!
    const character = String.fromCodePoint(codePoint)
    const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)
    const shown = printable
      ? `"${character}"`
      : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
    const hint = replacements.get(character)
    return new AssayError('PARSE_UNEXPECTED_CHARACTER', `unexpected character ${shown}`, {
      span: { start, end: start + character.length },
      ...(hint !== undefined && { hint }),
    })
  }
}
