import { AssayError, type Span } from '../error.ts'
import type { Pivot, Query, Sample, Source, SubquerySource, Unpivot } from './ast.ts'
import { readSampleSize, readSeed, readUnpivotName } from './parse-clause.ts'
import { readExpression, readTerm } from './parse-expression.ts'
import { readList, readName } from './parse-projection.ts'
import { readTable } from './parse-source.ts'
import { readSqlSelected } from './parse-sql-selected.ts'
import { percentageOf } from './read-number.ts'
import type { SqlReader } from './sql-reader.ts'
import { refuseJoin, unsupported } from './sql-refusal.ts'
import { suggest } from './suggest.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

const shapes: ReadonlySet<string> = new Set(['spans', 'traces', 'summary', 'history'])

/** Reads what follows FROM: a table, a query in parentheses or the name of one, and an alias. */
export function readFrom(scope: SqlReader): Source {
  const { tokens } = scope
  const source = readSqlSource(scope)
  refuseJoin(tokens)
  const alias = tokens.accept('as') ? readName(tokens, 'a name after AS') : scope.acceptBareAlias()
  if (alias !== undefined) scope.sourceName = alias
  refuseJoin(tokens)
  return source
}

function readSqlSource(scope: SqlReader): Source {
  const { tokens } = scope
  if (tokens.is('(')) return readSubquery(scope)
  const token = tokens.current
  const isName = token.kind === 'word' || token.kind === 'name' || token.kind === 'quoted'
  if (!isName || tokens.reserved.has(token.keyword)) {
    throw tokens.unexpected("a source such as experiment('id')")
  }
  if (tokens.peek(1).keyword !== '(') return readNamedSource(scope)
  const table = readTable(tokens, false)
  // The shape may stand where the clauses of BTQL have it; it is nobody's alias.
  const word = tokens.current
  if (table.shape !== undefined || !shapes.has(word.keyword)) return table
  tokens.advance()
  const shapeSpan = tokens.spanFrom(word.start)
  return { ...table, shape: word.keyword, shapeSpan, span: tokens.spanFrom(token.start) }
}

function readSubquery(scope: SqlReader): Source {
  const { tokens } = scope
  const { start } = tokens.advance()
  if (!tokens.is('select') && !tokens.is('with')) {
    throw tokens.unexpected(
      'SELECT and a query in the parentheses',
      "a table stands without them: FROM experiment('id')",
    )
  }
  const query = scope.readInner()
  tokens.expect(')', 'to close the query in FROM')
  return { kind: 'subquery', query, span: tokens.spanFrom(start) }
}

/** The query that `with` has given the name, with the name's place. */
function readNamedSource(scope: SqlReader): Source {
  const { tokens } = scope
  const { text, start, end } = tokens.advance()
  if (scope.named === undefined) return unknownSource({ start, end })
  const source = scope.named.get(text.toLowerCase())
  if (source === undefined) {
    const meant = suggest(text, scope.named.keys())
    throw new AssayError('BIND_UNKNOWN_SOURCE', `WITH names no query "${shorten(text)}"`, {
      span: { start, end },
      hint:
        meant === undefined
          ? "a source is a table with ids in quotes: experiment('id')"
          : `did you mean "${meant}"?`,
    })
  }
  scope.checkDepth(heightOf(source.query), { start, end })
  scope.sourceName = text
  return source
}

/** Stands for a source whose own faults are reported. */
export function unknownSource(span: Span): SubquerySource {
  return { kind: 'subquery', query: { kind: 'query', span }, span }
}

function heightOf(query: Query): number {
  let height = 1
  for (let from = query.from; from?.kind === 'subquery'; from = from.query.from) height++
  return height
}

/** Reads `(value FOR name IN (object or array))`. */
export function readSqlUnpivot(tokens: TokenStream, header: Token): Unpivot {
  tokens.expect('(', 'and "value FOR name IN (scores)" after UNPIVOT')
  const value = readName(tokens, 'a name for the value')
  tokens.expect('for', 'and a name for the key or index')
  const name = readUnpivotName(tokens)
  tokens.expect('in', 'and the object or array in parentheses')
  tokens.expect('(', 'and the object or array after IN')
  tokens.enter()
  const expression = readExpression(tokens)
  if (tokens.is(',')) {
    throw unsupported(
      tokens,
      'UNPIVOT takes one object or array',
      'make an object of the fields: IN ({a: metrics.a, b: metrics.b})',
    )
  }
  tokens.expect(')', 'after the object or array')
  tokens.leave()
  tokens.expect(')', 'to close UNPIVOT')
  return { expression, name, value, span: tokens.spanFrom(header.start) }
}

/** Reads `(measures FOR key IN (ANY))`; without `FOR` the last group key is the key. */
export function readSqlPivot(scope: SqlReader, header: Token): Pivot {
  const { tokens } = scope
  tokens.expect('(', 'and "avg(x) FOR key IN (ANY)" after PIVOT')
  tokens.enter()
  const measures = readList(tokens, () => readSqlSelected(scope))
  const key = tokens.accept('for') ? readPivotKey(tokens) : undefined
  tokens.expect(')', 'to close PIVOT')
  tokens.leave()
  return { measures, key, span: tokens.spanFrom(header.start) }
}

function readPivotKey(tokens: TokenStream): Pivot['key'] {
  const key = readTerm(tokens)
  tokens.expect('in', 'and (ANY) after the key')
  tokens.expect('(', 'and ANY after IN')
  if (!tokens.accept('any')) {
    throw unsupported(
      tokens,
      'PIVOT makes a column of every value of its key',
      'write IN (ANY), and choose among the values with WHERE',
    )
  }
  if (!tokens.is(')')) {
    throw unsupported(
      tokens,
      'nothing may stand after ANY',
      'columns come in the order of the values',
    )
  }
  tokens.advance()
  return key
}

/** Reads `25%`, `(25 PERCENT)`, `(100 ROWS)` or `BERNOULLI (25)`, and perhaps `REPEATABLE (7)`. */
export function readTableSample(tokens: TokenStream, header: Token): Sample {
  const method = readSampleMethod(tokens)
  let seed: number | undefined
  if (tokens.accept('repeatable')) {
    tokens.expect('(', 'and a seed after REPEATABLE')
    seed = readSeed(tokens)
    tokens.expect(')', 'after the seed')
  }
  return { method, seed, span: tokens.spanFrom(header.start) }
}

function readSampleMethod(tokens: TokenStream): Sample['method'] {
  const named = tokens.is('bernoulli') || tokens.is('system')
  if (named || tokens.is('reservoir')) {
    tokens.advance()
    if (!tokens.is('(')) throw tokens.unexpected('"(" and how much to take')
  }
  if (!tokens.accept('(')) return readSampleSizeWithUnit(tokens)
  const number = tokens.current
  const isBare = number.kind === 'number' && tokens.peek(1).keyword === ')'
  let method: Sample['method']
  if (named && isBare) {
    // Standard SQL: the argument of these two methods is a percentage.
    const value = percentageOf(number)
    if (value > 1) throw tokens.unexpected('a percentage up to 100')
    tokens.advance()
    method = { type: 'rate', value }
  } else {
    method = readSampleSizeWithUnit(tokens)
  }
  tokens.expect(')', 'after how much to take')
  return method
}

function readSampleSizeWithUnit(tokens: TokenStream): Sample['method'] {
  const unit = tokens.peek(1).keyword
  if (tokens.current.kind === 'number' && !sampleUnits.has(unit)) {
    tokens.advance()
    throw tokens.unexpected('PERCENT or ROWS', 'for example: TABLESAMPLE (25 PERCENT)')
  }
  return readSampleSize(tokens)
}

const sampleUnits: ReadonlySet<string> = new Set(['%', 'percent', 'row', 'rows'])
