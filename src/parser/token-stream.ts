import { AssayError, type Span } from '../error.ts'
import { isClauseName } from './clause.ts'
import { followingWords, reservedWords } from './keyword.ts'
import { Lexer } from './lexer.ts'
import { atSqlClause, sqlFollowingWords, sqlReservedWords } from './sql-keyword.ts'
import { describeToken, type Token } from './token.ts'

export const maximumTextBytes = 1024 * 1024
export const maximumNesting = 200

/** What a parser asks for in other ways than by a word. */
export type ExpectedKind = 'operand' | 'clause' | 'shape'

/** What a parser has asked for at the end of its text. */
export interface Expected {
  readonly kinds: Set<ExpectedKind>
  readonly words: Set<string>
}

/** The tokens of one text as a parser walks them, with the nesting that it has reached. */
export class TokenStream {
  readonly #lexer: Lexer
  /** Tokens that were read ahead; the first is the current one. */
  readonly #ahead: Token[] = []
  #previousEnd = 0
  #nesting = 0
  /** The brackets that are open before the current token, outermost first. */
  readonly #brackets: string[] = []
  #isSql = false
  /** At which nesting the clauses of the query stand that is being read. */
  clauseNesting = 0
  /** How many operators have deepened the tree without nesting; the expression parser counts. */
  chainedCount = 0
  /** How many nodes stand in the tree again because the text means its part more than once. */
  repeatedCount = 0

  readonly #expected: Expected | undefined

  /** @param expected is told what could go on where the text ends */
  constructor(text: string, expected?: Expected) {
    this.#expected = expected
    if (text.length > maximumTextBytes || Buffer.byteLength(text) > maximumTextBytes) {
      throw new AssayError(
        'PARSE_TOO_LONG',
        `the query is too long: at most ${maximumTextBytes} bytes of text are taken`,
      )
    }
    this.#lexer = new Lexer(text)
  }

  get current(): Token {
    return this.peek(0)
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
    return this.#brackets.length
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
    const token = this.current
    this.#ahead.shift()
    this.#previousEnd = token.end
    if (token.kind === 'symbol') {
      if (isOpening(token.keyword)) this.#brackets.push(token.keyword)
      else if (isClosing(token.keyword)) this.#brackets.pop()
    }
    return token
  }

  /** Whether the current token is this symbol, or this word in any case. */
  is(keyword: string): boolean {
    const { current } = this
    if (this.#expected && current.kind === 'end') this.#expected.words.add(keyword)
    return current.keyword === keyword
  }

  /** Says that something of this kind may stand here. */
  mayTake(kind: ExpectedKind): void {
    if (this.#expected && this.current.kind === 'end') this.#expected.kinds.add(kind)
  }

  /** Says that one of these words may stand here. */
  mayTakeWord(words: () => Iterable<string>): void {
    if (!this.#expected || this.current.kind !== 'end') return
    for (const word of words()) this.#expected.words.add(word)
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
    if (this.current.kind === 'end' || this.is('|') || this.is(')')) return true
    if (!this.#isSql) return this.atClauseHeader()
    // `not` and its like are reserved as well, and begin a value.
    const { keyword } = this.current
    return sqlReservedWords.has(keyword) && !reservedWords.has(keyword)
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

  /** Enters a query in parentheses; gives what `leaveQuery` takes. */
  enterQuery(): number {
    this.enter()
    const outer = this.clauseNesting
    this.clauseNesting = this.#nesting
    return outer
  }

  leaveQuery(outer: number): void {
    this.clauseNesting = outer
    this.leave()
  }

  /** Goes back to the level of an earlier place, from which an error has led away. */
  restoreNesting(level: number): void {
    this.#nesting = level
  }

  /**
   * Passes over what is left of a clause with a fault: up to the next clause, to the end, or to the
   * bracket that closes the query that the clause is in. A clause begins on a line of its own or after
   * a `|`; where a bracket was left open, one is told by its name. `brackets` and `nesting` are
   * those from before the clause.
   */
  skipToClause(brackets: number, nesting: number): void {
    let previous = ''
    for (;;) {
      const token = this.#skim(0)
      if (token.kind === 'end') break
      if (this.#brackets.length === brackets && brackets > 0 && isClosing(token.keyword)) break
      const begins = token.startsLine ? previous !== '?' : previous === '|'
      if (begins && token.kind === 'word' && this.#skim(1).keyword === ':') {
        if (this.#brackets.length <= brackets) break
        if (this.#brackets.at(-1) !== '{' && isClauseName(token.keyword)) break
      }
      previous = token.keyword
      this.advance()
    }
    this.#brackets.length = Math.min(this.#brackets.length, brackets)
    this.#nesting = nesting
  }

  /**
   * `skipToClause` for SQL, whose clauses begin with a word; `brackets` are open around the query, and
   * `wanted`, if given, is the only clause to stop at. Passes over one token at least if nothing was
   * read since `from`.
   */
  skipToSqlClause(brackets: number, nesting: number, from: number, wanted?: string): void {
    if (this.#previousEnd === from) this.#skimOver()
    let afterDot = false
    while (!this.#atSqlEnd(brackets)) {
      const { keyword } = this.#skim(0)
      const stops = wanted === undefined || keyword === wanted
      if (stops && !afterDot && this.#brackets.length <= brackets) {
        if (atSqlClause((distance) => this.#skim(distance))) break
      }
      afterDot = keyword === '.'
      this.#skimOver()
    }
    this.#nesting = nesting
  }

  /** Passes over what is left of a query of SQL, whatever it is. */
  skipToSqlEnd(brackets: number): void {
    while (!this.#atSqlEnd(brackets)) this.#skimOver()
  }

  #atSqlEnd(brackets: number): boolean {
    const { kind, keyword } = this.#skim(0)
    if (kind === 'end' || keyword === ';') return true
    return brackets > 0 && this.#brackets.length === brackets && isClosing(keyword)
  }

  #skimOver(): void {
    this.#skim(0)
    this.advance()
  }

  #skim(distance: number): Token {
    while (this.#ahead.length <= distance) this.#ahead.push(this.#lexer.skim())
    return this.#ahead[distance]!
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

function isOpening(symbol: string): boolean {
  return symbol === '(' || symbol === '[' || symbol === '{'
}

function isClosing(symbol: string): boolean {
  return symbol === ')' || symbol === ']' || symbol === '}'
}
