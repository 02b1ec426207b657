import { AssayError, type Span } from '../error.ts'
import { followingWords, reservedWords } from './keyword.ts'
import { Lexer } from './lexer.ts'
import { sqlFollowingWords, sqlReservedWords } from './sql-keyword.ts'
import { describeToken, type Token } from './token.ts'

export const maximumTextBytes = 1024 * 1024
export const maximumNesting = 200

/** The tokens of one text as a parser walks them, with the nesting that it has reached. */
export class TokenStream {
  readonly #lexer: Lexer
  /** Tokens that were read ahead; the first is the current one. */
  #ahead: Token[]
  #previousEnd = 0
  #nesting = 0
  #openBrackets = 0
  #isSql = false
  /** How many operators have deepened the tree without nesting; the expression parser counts. */
  arithmeticCount = 0

  constructor(text: string) {
    if (text.length > maximumTextBytes || Buffer.byteLength(text) > maximumTextBytes) {
      throw new AssayError(
        'PARSE_TOO_LONG',
        `the query is too long: at most ${maximumTextBytes} bytes of text are taken`,
      )
    }
    this.#lexer = new Lexer(text)
    this.#ahead = [this.#lexer.next()]
  }

  get current(): Token {
    return this.#ahead[0]!
  }

  /** Where the token before the current one ends. */
  get previousEnd(): number {
    return this.#previousEnd
  }

  get nesting(): number {
    return this.#nesting
  }

  /** How many brackets of any kind are open before the current token. */
  get openBrackets(): number {
    return this.#openBrackets
  }

  /** Whether the text is SQL: no clause begins with a name and a colon, and more words are reserved. */
  get isSql(): boolean {
    return this.#isSql
  }

  /** Takes what follows as SQL; called before anything else is read. */
  startSql(): void {
    this.#isSql = true
    this.#lexer.takesSemicolons = true
  }

  /** Words that are a field's name only in backticks or after a dot. */
  get reserved(): ReadonlySet<string> {
    return this.#isSql ? sqlReservedWords : reservedWords
  }

  /** Words that may follow a finished operand, so that none of them begins another. */
  get following(): ReadonlySet<string> {
    return this.#isSql ? sqlFollowingWords : followingWords
  }

  /** Looks at the token `distance` places after the current one. */
  peek(distance: number): Token {
    while (this.#ahead.length <= distance) this.#ahead.push(this.#lexer.next())
    return this.#ahead[distance]!
  }

  advance(): Token {
    const token = this.#ahead[0]!
    this.#previousEnd = token.end
    if (token.kind === 'symbol') this.#countBracket(token.keyword)
    if (this.#ahead.length === 1) this.#ahead[0] = this.#lexer.next()
    else this.#ahead.shift()
    return token
  }

  #countBracket(symbol: string): void {
    if ('([{'.includes(symbol)) this.#openBrackets++
    else if (')]}'.includes(symbol)) this.#openBrackets--
  }

  /** Whether the current token is this symbol, or this word in any case. */
  is(keyword: string): boolean {
    return this.#ahead[0]!.keyword === keyword
  }

  /** Passes over this symbol or word if it is the current token. */
  accept(keyword: string): boolean {
    if (!this.is(keyword)) return false
    this.advance()
    return true
  }

  /** Passes over this symbol or word, which must be here; `purpose` says what for. */
  expect(keyword: string, purpose: string): Token {
    if (this.is(keyword)) return this.advance()
    throw this.unexpected(`"${keyword}" ${purpose}`)
  }

  /** Whether a clause begins here: a name and a colon. Inside an expression a colon may be a ternary's. */
  atClauseHeader(distance = 0): boolean {
    if (this.#isSql) return false
    return this.peek(distance).kind === 'word' && this.peek(distance + 1).keyword === ':'
  }

  /** Whether a clause's value cannot go on here. */
  atClauseEnd(): boolean {
    if (this.current.kind === 'end' || this.is('|')) return true
    return this.#isSql ? sqlReservedWords.has(this.current.keyword) : this.atClauseHeader()
  }

  /** Goes one level deeper; every `enter` has its `leave`, unless an error ends the parse. */
  enter(): void {
    if (++this.#nesting <= maximumNesting) return
    const { start, end } = this.current
    throw new AssayError(
      'PARSE_TOO_DEEP',
      `the query is nested too deeply: at most ${maximumNesting} levels are taken`,
      { span: { start, end } },
    )
  }

  leave(): void {
    this.#nesting--
  }

  /** Goes back to the level of an earlier place, from which an error has led away. */
  restoreNesting(level: number): void {
    this.#nesting = level
  }

  /** The span from `start` to the end of what was read. */
  spanFrom(start: number): Span {
    return { start, end: this.#previousEnd }
  }

  /** The error for a current token that is not what the grammar wants. */
  unexpected(expected: string, hint?: string): AssayError {
    const { start, end } = this.current
    return new AssayError(
      'PARSE_UNEXPECTED_TOKEN',
      `expected ${expected}, found ${describeToken(this.current)}`,
      { span: { start, end }, ...(hint !== undefined && { hint }) },
    )
  }
}
