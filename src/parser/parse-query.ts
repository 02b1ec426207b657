import { AssayError, unreachable } from '../error.ts'
import type {
  CountClause,
  Projection,
  Query,
  SortKey,
  Source,
  TableSource,
  TextClause,
} from './ast.ts'
import {
  type ClauseName,
  clauseNames,
  clauseSynonyms,
  reservedWords,
  unsupportedClauseNames,
} from './keyword.ts'
import { doublePipeHint, readExpression, unfinished } from './parse-expression.ts'
import { numberOf } from './read-number.ts'
import { suggest } from './suggest.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/** The clauses read so far; one that is not there is undefined. */
interface Clauses {
  select?: readonly Projection[]
  dimensions?: readonly Projection[]
  measures?: readonly Projection[]
  from?: Source
  filter?: Query['filter']
  sort?: readonly SortKey[]
  limit?: CountClause
  offset?: CountClause
  cursor?: TextClause
}

/** Reads a whole text of clauses, each on a line of its own or after a `|`, in any order. */
export function readQuery(tokens: TokenStream): Query {
  const { start } = tokens.current
  const clauses: Clauses = {}
  let expected: string | undefined
  for (;;) {
    const piped = tokens.accept('|')
    if (tokens.current.kind === 'end') break
    if (!tokens.atClauseHeader()) {
      if (expected !== undefined && !piped) throw unfinished(tokens, expected)
      const doubled = tokens.is('|') && tokens.previousEnd === tokens.current.start
      throw tokens.unexpected('a clause such as "select:"', doubled ? doublePipeHint : undefined)
    }
    if (!piped && expected !== undefined && !tokens.current.startsLine) {
      throw tokens.unexpected('a line break or "|" before the next clause')
    }
    expected = readClause(tokens, clauses)
  }
  return assemble(tokens, clauses, start)
}

/** Reads one clause and says what could stand after its value. */
function readClause(tokens: TokenStream, clauses: Clauses): string {
  const header = tokens.current
  const name = clauseNameOf(header)
  if (clauses[name] !== undefined) {
    throw clauseError('PARSE_DUPLICATE_CLAUSE', `the clause "${name}" is given twice`, header)
  }
  tokens.advance()
  tokens.advance()
  if (tokens.atClauseEnd()) throw tokens.unexpected(`a value for the clause "${name}"`)
  switch (name) {
    case 'select':
    case 'dimensions':
    case 'measures':
      clauses[name] = readList(tokens, () => readProjection(tokens, name === 'select'))
      return 'an operator, "as", "," or the next clause'
    case 'from':
      clauses.from = readSource(tokens)
      return 'a shape or the next clause'
    case 'filter':
      clauses.filter = readExpression(tokens)
      return 'an operator or the next clause'
    case 'sort':
      clauses.sort = readList(tokens, () => readSortKey(tokens))
      return 'an operator, "asc", "desc", "," or the next clause'
    case 'limit':
    case 'offset':
      clauses[name] = readCount(tokens, name)
      return 'the next clause'
    case 'cursor':
      clauses.cursor = readCursor(tokens)
      return 'the next clause'
    default:
      return unreachable(name)
  }
}

function clauseNameOf(header: Token): ClauseName {
  const name = clauseNames.find((known) => known === header.keyword)
  if (name !== undefined) return name
  if (unsupportedClauseNames.has(header.keyword)) {
    const message = `the clause "${header.keyword}" is not supported yet`
    throw clauseError('BIND_UNSUPPORTED', message, header)
  }
  const meant =
    clauseSynonyms.get(header.keyword) ??
    suggest(header.keyword, [...clauseNames, ...unsupportedClauseNames])
  const hint =
    meant === undefined ? `the clauses are ${clauseNames.join(', ')}` : `did you mean "${meant}"?`
  const message = `unknown clause "${shorten(header.text)}"`
  throw clauseError('PARSE_UNKNOWN_CLAUSE', message, header, hint)
}

function clauseError(
  code: ConstructorParameters<typeof AssayError>[0],
  message: string,
  header: Token,
  hint?: string,
): AssayError {
  return new AssayError(code, message, {
    span: { start: header.start, end: header.end },
    ...(hint !== undefined && { hint }),
  })
}

function readList<Item>(tokens: TokenStream, readItem: () => Item): Item[] {
  const items: Item[] = []
  do items.push(readItem())
  while (tokens.accept(',') && !tokens.atClauseEnd())
  return items
}

function readProjection(tokens: TokenStream, starAllowed: boolean): Projection {
  const { start } = tokens.current
  if (tokens.is('*')) {
    if (!starAllowed) throw tokens.unexpected('a value', 'only "select" takes "*"')
    tokens.advance()
    if (tokens.is('as')) {
      throw tokens.unexpected('"," or the next clause', '"*" is all fields and has no alias')
    }
    const span = tokens.spanFrom(start)
    return { expression: { kind: 'star', replace: [], span }, alias: undefined, span }
  }
  const expression = readExpression(tokens)
  const alias = tokens.accept('as') ? readAlias(tokens) : undefined
  return { expression, alias, span: tokens.spanFrom(start) }
}

function readAlias(tokens: TokenStream): string {
  const { kind, text } = tokens.current
  if (kind === 'number' || kind === 'symbol' || kind === 'end' || tokens.atClauseHeader()) {
    throw tokens.unexpected('a name after "as"')
  }
  tokens.advance()
  return text
}

function readSortKey(tokens: TokenStream): SortKey {
  const { start } = tokens.current
  const expression = readExpression(tokens)
  const direction = tokens.accept('desc') ? 'desc' : 'asc'
  if (direction === 'asc') tokens.accept('asc')
  return { expression, direction, span: tokens.spanFrom(start) }
}

function readSource(tokens: TokenStream): TableSource {
  const table = tokens.current
  if (table.kind !== 'word') {
    throw tokens.unexpected("a source such as experiment('id')")
  }
  tokens.advance()
  const tableSpan = tokens.spanFrom(table.start)
  tokens.expect('(', `and ids in quotes after "${shorten(table.text)}"`)
  const ids: TextClause[] = []
  do {
    if (ids.length > 0 && tokens.is(')')) break
    ids.push(readId(tokens))
  } while (tokens.accept(','))
  tokens.expect(')', 'to close the list of ids')
  let shape: string | undefined
  let shapeSpan: TableSource['shapeSpan']
  const { kind, keyword } = tokens.current
  if (kind === 'word' && !reservedWords.has(keyword) && !tokens.atClauseHeader()) {
    const word = tokens.advance()
    shape = word.keyword
    shapeSpan = tokens.spanFrom(word.start)
  }
  const span = tokens.spanFrom(table.start)
  return { kind: 'table', table: table.keyword, tableSpan, ids, shape, shapeSpan, span }
}

function readId(tokens: TokenStream): { value: string; span: Source['span'] } {
  const { kind, text, start } = tokens.current
  if (kind !== 'string' && kind !== 'quoted') {
    const hint =
      tokens.peek(1).keyword === '=' && tokens.peek(2).keyword === '>'
        ? "write the shape after the parenthesis: experiment('id') spans"
        : undefined
    throw tokens.unexpected('an id in quotes', hint)
  }
  tokens.advance()
  return { value: text, span: tokens.spanFrom(start) }
}

function readCount(tokens: TokenStream, name: 'limit' | 'offset'): CountClause {
  const token = tokens.current
  const value = token.kind === 'number' ? numberOf(token) : undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    const paged = name === 'offset' && (token.kind === 'string' || token.kind === 'quoted')
    throw tokens.unexpected(
      `a whole number for the clause "${name}"`,
      paged ? 'the text of a page goes into the clause "cursor"' : undefined,
    )
  }
  tokens.advance()
  return { value, span: tokens.spanFrom(token.start) }
}

function readCursor(tokens: TokenStream): TextClause {
  const { kind, text, start } = tokens.current
  if (kind !== 'string' && kind !== 'quoted') {
    throw tokens.unexpected('a string for the clause "cursor"')
  }
  tokens.advance()
  return { value: text, span: tokens.spanFrom(start) }
}

/** Checks which clauses stand together and makes the query of them. */
function assemble(tokens: TokenStream, clauses: Clauses, start: number): Query {
  const span = tokens.spanFrom(start)
  const { select, dimensions, measures, from } = clauses
  const grouped = dimensions === undefined ? measures : dimensions
  if (select !== undefined && grouped !== undefined) {
    const name = dimensions === undefined ? 'measures' : 'dimensions'
    throw new AssayError(
      'PARSE_CONFLICTING_CLAUSES',
      `the clauses "select" and "${name}" cannot stand together`,
      {
        span: { start: grouped[0]!.span.start, end: grouped.at(-1)!.span.end },
        hint: 'group with "dimensions" and "measures", or list rows with "select"',
      },
    )
  }
  const end = { start: span.end, end: span.end }
  if (select === undefined && grouped === undefined) {
    throw new AssayError(
      'PARSE_MISSING_CLAUSE',
      'the query has none of the clauses "select", "dimensions" and "measures"',
      { span: end, hint: 'add "select: *" to get whole records' },
    )
  }
  if (from === undefined) {
    throw new AssayError('PARSE_MISSING_CLAUSE', 'the query has no clause "from"', {
      span: end,
      hint: 'add "from: experiment(\'id\')", or another source',
    })
  }
  return {
    kind: 'query',
    select,
    dimensions,
    measures,
    from,
    filter: clauses.filter,
    sort: clauses.sort,
    limit: clauses.limit,
    offset: clauses.offset,
    cursor: clauses.cursor,
    span,
  }
}
