/**
 * The language's tokens, line by line, as an editor reads a text: no token but a quoted one goes on
 * over lines, so what has to be known of the lines before is little. Where tokens begin and end is
 * what `parser/lexer.ts` says; a test holds both to the same. What is no token is one of a character.
 */
import {
  asciiClassOf,
  characterClass,
  isUnicodeBlank,
  nameCharacterWidth,
} from '../../parser/character.ts'
import { isClauseName } from '../../parser/clause.ts'
import { keywords } from '../../parser/keyword.ts'
import { sqlFollowingWords, sqlReservedWords } from '../../parser/sql-keyword.ts'

/** As the lexer names them; `blank` is none of its own. */
export type LineTokenKind =
  | 'blank'
  | 'comment'
  | 'word'
  | 'number'
  | 'string'
  | 'quoted'
  | 'name'
  | 'symbol'

/** What a token is shown as. */
export type TokenRole =
  | 'blank'
  | 'comment'
  | 'clause'
  | 'keyword'
  | 'constant'
  | 'function'
  | 'field'
  | 'number'
  | 'string'
  | 'name'
  | 'operator'
  | 'bracket'
  | 'invalid'

export interface LineToken {
  readonly kind: LineTokenKind
  readonly role: TokenRole
  readonly end: number
}

/** What is known at the beginning of a line, and after each token. */
export interface LineState {
  /** The quote that is open, or nothing. */
  quote: string
  /** Whether no clause header but SQL's words begin clauses; known after the first two words. */
  isSql: boolean | undefined
  /** The last token of this line that is no blank, and where it ends. */
  last: { kind: LineTokenKind; text: string; end: number } | undefined
}

export function startState(): LineState {
  return { quote: '', isSql: undefined, last: undefined }
}

const symbols = [
  ...['<!=>', '<=>', '!~*', '->>'],
  ...['<=', '<>', '>=', '=>', '!=', '!~', '~*', '==', '->', '::'],
]
const shortSymbols = '()[]{},.:?|*+-/%<>=~;'
const brackets = '()[]{}'
const quotes: Readonly<Record<string, 'string' | 'quoted' | 'name'>> = {
  "'": 'string',
  '"': 'quoted',
  '`': 'name',
}

/** Reads the token at a place of a line and takes note of it. */
export function readToken(line: string, start: number, state: LineState): LineToken {
  if (start === 0) state.last = undefined
  if (state.quote !== '') return readQuoted(line, start, state, start)
  const code = line.charCodeAt(start)
  if (isBlank(line, start)) {
    let end = start + 1
    while (end < line.length && isBlank(line, end)) end++
    return { kind: 'blank', role: 'blank', end }
  }
  if (line.startsWith('--', start)) return { kind: 'comment', role: 'comment', end: line.length }
  const { last } = state
  const touches = (text: string) => last?.text === text && last.end === start
  const isDigit = asciiClassOf(code) === characterClass.digit
  if (isDigit && !touches('.')) return note(line, start, numberEnd(line, start), 'number', state)
  if (isDigit || nameCharacterWidth(line, start, true) > 0) {
    return note(line, start, nameEnd(line, start), 'word', state)
  }
  const beginsNumber = code === 0x2e && isDigitAt(line, start + 1) && !endsOperand(last, start)
  if (beginsNumber) return note(line, start, numberEnd(line, start), 'number', state)
  const character = line[start]!
  if (quotes[character]) {
    state.quote = character
    return readQuoted(line, start + 1, state, start)
  }
  const symbol = symbols.find((each) => line.startsWith(each, start))
  const end = start + (symbol?.length ?? String.fromCodePoint(line.codePointAt(start)!).length)
  return note(line, start, end, 'symbol', state)
}

function note(
  line: string,
  start: number,
  end: number,
  kind: LineTokenKind,
  state: LineState,
): LineToken {
  const text = line.slice(start, end)
  const role = roleOf(line, { kind, text, start, end }, state)
  state.last = { kind, text, end }
  return { kind, role, end }
}

/** Up to the closing quote, or to the end of the line, from where it goes on in the next. */
function readQuoted(line: string, from: number, state: LineState, start: number): LineToken {
  const { quote } = state
  const kind = quotes[quote]!
  const role = kind === 'name' || isPathPart(state, start) ? 'name' : 'string'
  let position = from
  while (position < line.length) {
    if (line[position] === '\\') position += 2
    else if (line[position] !== quote) position++
    else if (line[position + 1] === quote) position += 2
    else {
      state.quote = ''
      state.last = { kind, text: '', end: position + 1 }
      return { kind, role, end: position + 1 }
    }
  }
  return { kind, role, end: line.length }
}

/** Whether a token here goes on a path that ends in a dot. */
function isPathPart({ last }: LineState, start: number): boolean {
  return last?.text === '.' && last.end === start
}

interface Read {
  readonly kind: LineTokenKind
  readonly text: string
  readonly start: number
  readonly end: number
}

function roleOf(line: string, { kind, text, start, end }: Read, state: LineState): TokenRole {
  if (kind === 'number') return isNumber(text) ? 'number' : 'invalid'
  if (kind === 'symbol') {
    if (brackets.includes(text)) return 'bracket'
    return text.length > 1 || shortSymbols.includes(text) ? 'operator' : 'invalid'
  }
  const word = text.toLowerCase()
  const isFirst = state.last === undefined || state.last.text === '|'
  const rest = line.slice(end).trimStart()
  const isHeader = isFirst && isClauseName(word) && rest.startsWith(':') && !rest.startsWith('::')
  state.isSql ??= !isHeader && (word === 'select' || word === 'with')
  if (isHeader) return 'clause'
  if (isPathPart(state, start)) return 'field'
  if (word === 'true' || word === 'false' || word === 'null') return 'constant'
  if (state.isSql && sqlClauses.has(word)) return 'clause'
  if (rest.startsWith('(') && !operatorWords.has(word)) return 'function'
  const isKeyword = state.isSql ? sqlReservedWords.has(word) || sqlFollowingWords.has(word) : false
  return isKeyword || shownKeywords.has(word) ? 'keyword' : 'field'
}

/** Words that are shown as keywords wherever they stand alone; names of clauses only head clauses. */
const shownKeywords: ReadonlySet<string> = new Set(
  [...keywords, 'asc', 'desc', 'then', 'end', 'by', 'seed'].filter((word) => !isClauseName(word)),
)

/** Those that a bracket may follow without making them functions. */
const operatorWords: ReadonlySet<string> = new Set(
  'and or not in like ilike includes contains match between is as when then else by'.split(' '),
)

const sqlClauses: ReadonlySet<string> = new Set(
  (
    'select from where group having order limit offset union intersect except with by ' +
    'unpivot pivot tablesample settings'
  ).split(' '),
)

function isNumber(text: string): boolean {
  return /^(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)
}

function isBlank(line: string, position: number): boolean {
  const found = asciiClassOf(line.charCodeAt(position))
  if (found === characterClass.blank || found === characterClass.lineBreak) return true
  return line.charCodeAt(position) >= 128 && isUnicodeBlank(line, position)
}

function nameEnd(line: string, start: number): number {
  let end = start
  for (;;) {
    const width = nameCharacterWidth(line, end, false)
    if (width === 0) return end
    end += width
  }
}

/** A name that follows at once belongs to it, and makes it invalid. */
function numberEnd(line: string, start: number): number {
  let end = digitsEnd(line, start)
  if (line[end] === '.' && isDigitAt(line, end + 1)) end = digitsEnd(line, end + 1)
  const exponent = /^e[+-]?\d+/i.exec(line.slice(end, end + 400))
  if (exponent) end = digitsEnd(line, end + exponent[0].length)
  return nameCharacterWidth(line, end, true) > 0 ? nameEnd(line, end) : end
}

function digitsEnd(line: string, start: number): number {
  let end = start
  while (isDigitAt(line, end)) end++
  return end
}

function isDigitAt(line: string, position: number): boolean {
  return asciiClassOf(line.charCodeAt(position)) === characterClass.digit
}

/** Whether a path may go on right here, so that a dot is one of the path and not of a number. */
function endsOperand(last: LineState['last'], start: number): boolean {
  if (!last || last.end !== start) return false
  return last.kind === 'symbol' ? ')]}'.includes(last.text) : last.kind !== 'number'
}
