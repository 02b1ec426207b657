/** Finds what is being written at a place in a text that is not finished and may have faults. */
import { AssayError } from '../error.ts'
import type { TableSource } from './ast.ts'
import { clauseNames, isClauseName } from './clause.ts'
import { Lexer } from './lexer.ts'
import { readTable } from './parse-source.ts'
import { readQuoted } from './read-quoted.ts'
import { sqlClauseWords } from './sql-keyword.ts'
import type { Token } from './token.ts'
import { TokenStream } from './token-stream.ts'

export type CursorPlace = Readonly<{
  /** Where what is being written begins; it ends at the cursor. */
  start: number
  /** What has been written of it; of a quoted one without the opening quote. */
  prefix: string
}> &
  (
    | { readonly kind: 'expression'; readonly path: readonly string[] }
    /** Also where a clause may begin. */
    | { readonly kind: 'clause' }
    /** The name of a source after `from`. */
    | { readonly kind: 'source' }
    /** An id or a name among the arguments of a source. */
    | { readonly kind: 'object'; readonly table: string }
    /** A string, a number or a comment: nothing that could be known. */
    | { readonly kind: 'value' }
  )

export function cursorPlace(text: string, position: number): CursorPlace {
  const before = text.slice(0, position)
  const { tokens, openQuote } = tokensOf(before)
  if (openQuote !== undefined) return placeInQuote(before, tokens, openQuote)
  const last = tokens.at(-1)
  const isOpen = last !== undefined && last.end === position
  if (isOpen && last.kind === 'number')
    return { kind: 'value', start: last.start, prefix: last.text }
  if (/--[^\n]*$/.test(before.slice(last?.end ?? 0))) {
    return { kind: 'value', start: position, prefix: '' }
  }
  const word = isOpen && last.kind === 'word' ? last : undefined
  const rest = word ? tokens.slice(0, -1) : tokens
  const start = word?.start ?? position
  const prefix = word?.text ?? ''
  const { path, pathStart } = pathBefore(rest)
  if (path.length > 0) return { kind: 'expression', start: pathStart, prefix, path }
  if (isSourceNext(rest)) return { kind: 'source', start, prefix }
  return isClauseNext(rest, before.slice(rest.at(-1)?.end ?? 0, start))
    ? { kind: 'clause', start, prefix }
    : { kind: 'expression', start, prefix, path: [] }
}

const comparing: ReadonlySet<string> = new Set(
  '= == != <> like ilike includes contains match'.split(' '),
)

/** The field that a value at the end of the text is compared with, as in `model = `; undefined if there is none. */
export function comparedField(before: string): readonly string[] | undefined {
  const { tokens } = tokensOf(before)
  let at = tokens.length - 1
  // Within a list, behind other values.
  if (tokens[at]?.keyword === ',' || '[('.includes(tokens[at]?.keyword || ' ')) {
    while (at >= 0 && !'[('.includes(tokens[at]!.keyword || ' ')) {
      if (tokens[at]!.keyword === ',' || isQuoted(tokens[at]!) || tokens[at]!.kind === 'number')
        at--
      else return undefined
    }
    if (tokens[at - 1]?.keyword !== 'in') return undefined
    at -= 2
  } else if (comparing.has(tokens[at]?.keyword ?? '')) at--
  else return undefined
  if (tokens[at]?.keyword === 'not') at--
  const name = tokens[at]
  if (!name || !['word', 'quoted', 'name'].includes(name.kind)) return undefined
  const { path } = pathBefore(tokens.slice(0, at))
  return [...path, name.text]
}

/** The innermost source that a text names; undefined while there is none that can be read. */
export function sourceIn(text: string): TableSource | undefined {
  const { tokens } = tokensOf(text)
  for (let at = tokens.length - 1; at >= 0; at--) {
    if (tokens[at]!.keyword !== 'from' || isPart(tokens, at)) continue
    const table = tokens[at + 1]?.keyword === ':' ? tokens[at + 2] : tokens[at + 1]
    const source = table && tableAt(text.slice(table.start))
    if (source) return source
  }
  return undefined
}

function tableAt(text: string): TableSource | undefined {
  try {
    return readTable(new TokenStream(text), false)
  } catch (thrown) {
    if (thrown instanceof AssayError && thrown.family === 'user') return undefined
    throw thrown
  }
}

/** The tokens of a text; where a quote is open at its end, those before it. */
function tokensOf(text: string): { tokens: Token[]; openQuote?: number } {
  const lexer = new Lexer(text)
  const tokens: Token[] = []
  for (let token = lexer.skim(); token.kind !== 'end'; token = lexer.skim()) {
    const decoded = isQuoted(token) ? decode(text, token) : token
    if (!decoded) return { tokens, openQuote: token.start }
    tokens.push(decoded)
  }
  return { tokens }
}

function isQuoted({ kind }: Token): boolean {
  return kind === 'string' || kind === 'quoted' || kind === 'name'
}

/** Undefined when the quote is not closed. */
function decode(text: string, token: Token): Token | undefined {
  try {
    const { value, end } = readQuoted(text, token.start)
    return { ...token, text: value, end }
  } catch (thrown) {
    if (!(thrown instanceof AssayError)) throw thrown
    return thrown.code === 'PARSE_UNTERMINATED_STRING' ? undefined : token
  }
}

function placeInQuote(before: string, tokens: readonly Token[], quote: number): CursorPlace {
  const prefix = before.slice(quote + 1)
  const { path, pathStart } = pathBefore(tokens)
  if (path.length > 0) return { kind: 'expression', start: pathStart, prefix, path }
  let at = tokens.length - 1
  while (at >= 0 && (isQuoted(tokens[at]!) || tokens[at]!.keyword === ',')) at--
  const table = tokens[at - 1]
  const isArgument = tokens[at]?.keyword === '(' && table?.kind === 'word'
  if (isArgument && isSourceNext(tokens.slice(0, at - 1))) {
    return { kind: 'object', start: quote, prefix, table: table.keyword }
  }
  return { kind: 'value', start: quote, prefix }
}

/** The names that end in a dot before the cursor, and where the first of them begins. */
function pathBefore(tokens: readonly Token[]): { path: string[]; pathStart: number } {
  const path: string[] = []
  let pathStart = 0
  for (let at = tokens.length - 1; tokens[at]?.keyword === '.'; at -= 2) {
    const name = tokens[at - 1]
    if (!name || !['word', 'quoted', 'name'].includes(name.kind)) break
    path.unshift(name.text)
    pathStart = name.start
  }
  return { path, pathStart }
}

/** After `from:`, or after the `FROM` of SQL. */
function isSourceNext(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)
  if (last?.keyword === 'from') return !isPart(tokens, tokens.length - 1)
  return last?.keyword === ':' && tokens.at(-2)?.keyword === 'from'
}

/** A clause begins the text, or follows a bar, or begins a line after a clause that may be finished. */
function isClauseNext(tokens: readonly Token[], gap: string): boolean {
  const last = tokens.at(-1)
  if (!last || last.keyword === '|') return true
  const isUnfinished = last.kind === 'symbol' && ![')', ']', '}', '*'].includes(last.keyword)
  return gap.includes('\n') && !isUnfinished && openBrackets(tokens) === 0
}

function openBrackets(tokens: readonly Token[]): number {
  let open = 0
  for (const { keyword } of tokens) {
    if ('([{'.includes(keyword) && keyword !== '') open++
    else if (')]}'.includes(keyword) && keyword !== '') open--
  }
  return open
}

/** Whether the word is part of a path and no keyword. */
function isPart(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.keyword === '.' || tokens[at + 1]?.keyword === '.'
}

/** Words that may begin a clause, in the language that the text is in. */
export function clauseWords(text: string): readonly string[] {
  const [first, second] = tokensOf(text).tokens
  const isSql = first?.keyword === 'select' || first?.keyword === 'with'
  if (isSql && second?.keyword !== ':') return [...sqlClauseWords].map((word) => word.toUpperCase())
  const given = new Set(Array.from(clausesIn(text), ({ keyword }) => keyword))
  return clauseNames.filter((name) => !given.has(name))
}

/** The headers of clauses that a text has. */
function clausesIn(text: string): Token[] {
  const { tokens } = tokensOf(text)
  return tokens.filter(({ keyword }, i) => isClauseName(keyword) && tokens[i + 1]?.keyword === ':')
}
