import { AssayError, unreachable } from '../error.ts'
import type { Query, Source } from './ast.ts'
import { checkClauses, conflictsIn } from './check-clauses.ts'
import {
  type ClauseName,
  clauseNames,
  clauseProperties,
  clauseSynonyms,
  isClauseName,
} from './clause.ts'
import { FaultList } from './fault-list.ts'
import {
  readCount,
  readCursor,
  readInferred,
  readPivot,
  readPreviewLength,
  readSample,
  readUnpivot,
} from './parse-clause.ts'
import { doublePipeHint, readExpression, unfinished } from './parse-expression.ts'
import {
  acceptDistinct,
  readList,
  readNamed,
  readProjection,
  readSelected,
  readSortKey,
} from './parse-projection.ts'
import { readTable } from './parse-source.ts'
import { suggest } from './suggest.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/** The clauses read so far; one that is not there is undefined. */
type Clauses = { -readonly [Name in keyof Query]?: Query[Name] }

/**
 * Reads a whole text of clauses, each on a line of its own or after a `|`, in any order. Only the
 * source may be missing. Faults of several clauses are thrown together.
 */
export function readQuery(tokens: TokenStream): Query {
  const query = readClauses(tokens)
  checkClauses(query)
  return query
}

/** Reads what follows `from:`: a table with ids and a shape, or a query in parentheses. */
export function readSource(tokens: TokenStream): Source {
  const { start } = tokens.current
  if (!tokens.is('(')) return readTable(tokens, true)
  tokens.advance()
  if (tokens.is(')')) throw tokens.unexpected('a clause such as "select:"')
  const outer = tokens.enterQuery()
  const query = readClauses(tokens)
  tokens.expect(')', 'to close the query in parentheses')
  tokens.leaveQuery(outer)
  return { kind: 'subquery', query, span: tokens.spanFrom(start) }
}

/** Reads clauses up to the end of the text or the `)` of a nested query, and leaves them unchecked. */
function readClauses(tokens: TokenStream): Query {
  const { start } = tokens.current
  const { openBrackets, nesting, clauseNesting } = tokens
  const faults = new FaultList()
  const clauses: Clauses = {}
  const given = new Set<ClauseName>()
  let expected: string | undefined
  while (!faults.isFull) {
    try {
      if (!readSeparator(tokens, expected, faults)) break
      expected = readClause(tokens, clauses, given)
    } catch (thrown) {
      faults.add(thrown)
      tokens.skipToClause(openBrackets, nesting)
      tokens.clauseNesting = clauseNesting
      expected = undefined
    }
  }
  const query: Query = { kind: 'query', ...clauses, span: tokens.spanFrom(start) }
  // What is missing may be what was not understood; what is there and must not be is a fault anyway.
  if (!faults.isEmpty) for (const conflict of conflictsIn(query)) faults.add(conflict)
  faults.throwAny()
  return query
}

/**
 * Comes to the next clause, which must be where a clause may begin, and says whether there is one.
 * `expected` is what could stand here instead, or undefined if that is known to be a clause.
 */
function readSeparator(
  tokens: TokenStream,
  expected: string | undefined,
  faults: FaultList,
): boolean {
  const piped = tokens.accept('|')
  // After a fault nobody knows whether the clause had ended.
  if (expected !== undefined || piped) tokens.mayTake('clause')
  if (tokens.current.kind === 'end') return false
  if (tokens.is(')') && tokens.clauseNesting > 0) return false
  if (!tokens.atClauseHeader()) {
    if (expected !== undefined && !piped) throw unfinished(tokens, expected)
    throw tokens.unexpected('a clause such as "select:"', clauseHint(tokens))
  }
  if (piped || expected === undefined || tokens.current.startsLine) return true
  const fault = tokens.unexpected('a line break or "|" before the next clause')
  if (!isClauseName(tokens.current.keyword)) throw fault
  faults.add(fault)
  return true
}

function clauseHint(tokens: TokenStream): string | undefined {
  if (tokens.is('|') && tokens.previousEnd === tokens.current.start) return doublePipeHint
  if (tokens.clauseNesting === 0) return undefined
  return 'in parentheses is a whole query, (select: * | from: …); a source alone has none'
}

const clausesWithoutExpressions: ReadonlySet<ClauseName> = new Set([
  'from',
  'sample',
  'limit',
  'offset',
  'cursor',
  'preview_length',
  'inference_budget',
])

/** Reads one clause and says what could stand after its value. */
function readClause(tokens: TokenStream, clauses: Clauses, given: Set<ClauseName>): string {
  const header = tokens.advance()
  tokens.advance()
  const name = clauseNameOf(header)
  if (given.has(name)) throw givenTwice(name, header)
  given.add(name)
  if (!clausesWithoutExpressions.has(name)) tokens.mayTake('operand')
  if (tokens.atClauseEnd()) throw tokens.unexpected(`a value for the clause "${name}"`)
  switch (name) {
    case 'select':
      if (acceptDistinct(tokens)) clauses.distinct = true
      clauses.select = readList(tokens, () => readSelected(tokens))
      return 'an operator, "as", "," or the next clause'
    case 'dimensions':
    case 'measures':
    case 'final_dimensions':
    case 'final_measures':
      clauses[clauseProperties[name]] = readList(tokens, () => readProjection(tokens))
      return 'an operator, "as", "," or the next clause'
    case 'weighted_scores':
    case 'custom_columns':
      clauses[clauseProperties[name]] = readList(tokens, () => readNamed(tokens))
      return '"," or the next clause'
    case 'pivot':
      clauses.pivot = readPivot(tokens)
      return 'an operator, "as", ",", "for" or the next clause'
    case 'unpivot':
      clauses.unpivot = readList(tokens, () => readUnpivot(tokens))
      return '"," or the next clause'
    case 'infer':
      clauses.infer = readInferred(tokens)
      return '"," or the next clause'
    case 'from':
      clauses.from = readSource(tokens)
      return clauses.from.kind === 'table' ? 'a shape or the next clause' : 'the next clause'
    case 'filter':
    case 'span_filter':
    case 'trace_filter':
    case 'final_filter':
    case 'comparison_key':
      clauses[clauseProperties[name]] = readExpression(tokens)
      return 'an operator or the next clause'
    case 'sort':
      clauses.sort = readList(tokens, () => readSortKey(tokens))
      return 'an operator, "asc", "desc", "," or the next clause'
    case 'limit':
    case 'inference_budget':
      clauses[clauseProperties[name]] = readCount(tokens, name)
      return 'the next clause'
    case 'offset': {
      const { kind } = tokens.current
      if (kind !== 'string' && kind !== 'quoted') clauses.offset = readCount(tokens, name)
      else readOffsetCursor(tokens, clauses, given)
      return 'the next clause'
    }
    case 'cursor':
      clauses.cursor = readCursor(tokens)
      return 'the next clause'
    case 'preview_length':
      clauses.previewLength = readPreviewLength(tokens)
      return 'the next clause'
    case 'sample':
      clauses.sample = readSample(tokens)
      return '"seed" or the next clause'
    default:
      return unreachable(name)
  }
}

/** In SQL the text of a page stands after `offset`, and so it may here. */
function readOffsetCursor(tokens: TokenStream, clauses: Clauses, given: Set<ClauseName>): void {
  if (given.has('cursor')) throw givenTwice('cursor', tokens.current)
  given.add('cursor')
  clauses.cursor = readCursor(tokens)
}

function clauseNameOf(header: Token): ClauseName {
  if (isClauseName(header.keyword)) return header.keyword
  const meant = clauseSynonyms.get(header.keyword) ?? suggest(header.keyword, clauseNames)
  const hint =
    meant === undefined ? `the clauses are ${clauseNames.join(', ')}` : `did you mean "${meant}"?`
  throw new AssayError('PARSE_UNKNOWN_CLAUSE', `unknown clause "${shorten(header.text)}"`, {
    span: { start: header.start, end: header.end },
    hint,
  })
}

function givenTwice(name: ClauseName, { start, end }: Token): AssayError {
  return new AssayError('PARSE_DUPLICATE_CLAUSE', `the clause "${name}" is given twice`, {
    span: { start, end },
  })
}
