import { AssayError, type Span } from '../error.ts'
import type { Query, SubquerySource } from './ast.ts'
import { comparisonOperators, predicateNames } from './keyword.ts'
import { sqlClauseWords } from './sql-keyword.ts'
import { suggest } from './suggest.ts'
import type { Token } from './token.ts'
import { maximumNesting, type TokenStream } from './token-stream.ts'

const expectedWords = [
  ...sqlClauseWords,
  'and',
  'or',
  'as',
  ...predicateNames,
  ...[...comparisonOperators.keys()].filter((word) => /^[a-z]/.test(word)),
]

export type NamedQueries = ReadonlyMap<string, SubquerySource>

/** Reads a query up to the end of the text, or up to the `)` that is not its own. */
export type ReadStatement = (reader: SqlReader) => Query

/** The tokens of one query of SQL, and where that query stands in its text. */
export class SqlReader {
  readonly tokens: TokenStream
  /** The queries that `with` has named, by name in lower case; undefined after a fault among them. */
  readonly named: NamedQueries | undefined
  /** How many queries are open around this one. */
  readonly depth: number
  /** How many brackets are open around this one. */
  readonly brackets: number
  /** What the source is called: its fields are named without it. */
  sourceName: string | undefined
  /** The last word that was taken for an alias without `as`: perhaps a mistyped keyword. */
  #bareAlias: Token | undefined
  readonly #readStatement: ReadStatement

  constructor(
    tokens: TokenStream,
    readStatement: ReadStatement,
    named: NamedQueries | undefined = new Map(),
    depth = 0,
  ) {
    this.tokens = tokens
    this.#readStatement = readStatement
    this.named = named
    this.depth = depth
    this.brackets = tokens.openBrackets
  }

  /** The reader of this same query once `with` has named queries. */
  knowing(named: NamedQueries | undefined): SqlReader {
    return new SqlReader(this.tokens, this.#readStatement, named, this.depth)
  }

  /** The reader of a query inside this one that begins at the current token. */
  inner(named = this.named): SqlReader {
    const { start, end } = this.tokens.current
    this.checkDepth(1, { start, end })
    return new SqlReader(this.tokens, this.#readStatement, named, this.depth + 1)
  }

  /** Reads a query inside this one that begins at the current token. */
  readInner(): Query {
    return this.#readStatement(this.inner())
  }

  /** Refuses a source that has `height` queries inside each other. */
  checkDepth(height: number, span: Span): void {
    if (this.depth + height < maximumNesting) return
    throw new AssayError(
      'PARSE_TOO_DEEP',
      `the query is nested too deeply: at most ${maximumNesting} queries may stand in each other`,
      { span },
    )
  }

  /** Whether the query can have no further clause here. */
  get isAtEnd(): boolean {
    const { tokens, brackets } = this
    if (tokens.current.kind === 'end' || tokens.is(';')) return true
    return brackets > 0 && tokens.is(')') && tokens.openBrackets === brackets
  }

  /** Passes over a word that is an alias without `as`, if one is here. */
  acceptBareAlias(): string | undefined {
    const { tokens } = this
    const { kind, keyword } = tokens.current
    const isWord = kind === 'word' && !tokens.following.has(keyword)
    if (!isWord && kind !== 'quoted' && kind !== 'name') return undefined
    this.#bareAlias = tokens.advance()
    return this.#bareAlias.text
  }

  /** The error for a token that cannot go on what was read; `expected` is what could. */
  unfinished(expected: string): AssayError {
    return this.tokens.unexpected(expected, this.#hint())
  }

  #hint(): string | undefined {
    const { keyword, kind } = this.tokens.current
    const alias = this.#bareAlias
    if (alias !== undefined && alias.end === this.tokens.previousEnd) {
      const meant = suggest(alias.keyword, sqlClauseWords)
      if (meant !== undefined) {
        return `did you mean ${meant.toUpperCase()} in place of "${alias.text}"?`
      }
    }
    if (keyword === '|') return 'write concat(a, b), or OR'
    if (keyword === ':') return 'a clause of SQL has no colon after its name'
    const word = kind === 'word' ? suggest(keyword, expectedWords) : undefined
    return word === undefined ? undefined : `did you mean ${word.toUpperCase()}?`
  }
}
