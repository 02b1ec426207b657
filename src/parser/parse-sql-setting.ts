import { AssayError } from '../error.ts'
import type { Projection } from './ast.ts'
import type { ClauseName } from './clause.ts'
import { readCount, readInferred, readPreviewLength } from './parse-clause.ts'
import { readExpression } from './parse-expression.ts'
import { readList, readNamed, readProjection } from './parse-projection.ts'
import { markGiven, type SqlProgress } from './sql-progress.ts'
import type { SqlReader } from './sql-reader.ts'
import { suggest } from './suggest.ts'
import { shorten } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/** Clauses that have no words of their own in SQL. */
export const settingNames = [
  'preview_length',
  'inference_budget',
  'comparison_key',
  'weighted_scores',
  'custom_columns',
  'span_filter',
  'trace_filter',
  'final_dimensions',
  'final_measures',
  'infer',
] as const satisfies readonly ClauseName[]

export type SettingName = (typeof settingNames)[number]

/** What a request has beside the query. */
const requestFields: ReadonlySet<string> = new Set([
  'api_version',
  'audit_log',
  'brainstore_realtime',
  'disable_limit',
  'fmt',
  'query_timeout_seconds',
  'tz_offset',
  'use_brainstore',
  'use_columnstore',
  'version',
])

/** Clauses of the query that SQL has words for. */
const wordsOfClauses: ReadonlyMap<string, string> = new Map([
  ['cursor', "OFFSET '…'"],
  ['filter', 'WHERE'],
  ['final_filter', 'HAVING'],
  ['limit', 'LIMIT'],
  ['offset', 'OFFSET'],
  ['sample', 'TABLESAMPLE'],
  ['sort', 'ORDER BY'],
  ['shape', "FROM experiment('id', shape => 'traces')"],
])

/** Reads `name = value`. */
export function readSetting(scope: SqlReader, progress: SqlProgress): void {
  const { tokens } = scope
  const { clauses } = progress
  const header = tokens.current
  const name = settingNames.find((known) => known === header.keyword)
  if (name === undefined) throw unknownSetting(tokens)
  markGiven(progress, name, header)
  tokens.advance()
  tokens.expect('=', `and a value after "${name}"`)
  switch (name) {
    case 'preview_length':
      clauses.previewLength = readPreviewLength(tokens)
      return
    case 'inference_budget':
      clauses.inferenceBudget = readCount(tokens, name)
      return
    case 'comparison_key':
      clauses.comparisonKey = readExpression(tokens)
      return
    case 'span_filter':
      clauses.spanFilter = readExpression(tokens)
      return
    case 'trace_filter':
      clauses.traceFilter = readExpression(tokens)
      return
    case 'weighted_scores':
      clauses.weightedScores = inParentheses(tokens, () =>
        readList(tokens, () => readNamed(tokens)),
      )
      return
    case 'custom_columns':
      clauses.customColumns = inParentheses(tokens, () => readList(tokens, () => readNamed(tokens)))
      return
    case 'final_dimensions':
      clauses.finalDimensions = readProjections(tokens)
      return
    case 'final_measures':
      clauses.finalMeasures = readProjections(tokens)
      return
    case 'infer':
      clauses.infer = inParentheses(tokens, () => readInferred(tokens))
  }
}

function readProjections(tokens: TokenStream): Projection[] {
  return inParentheses(tokens, () => readList(tokens, () => readProjection(tokens)))
}

function inParentheses<Value>(tokens: TokenStream, read: () => Value): Value {
  tokens.expect('(', 'and a list in parentheses')
  tokens.enter()
  const value = read()
  tokens.expect(')', 'to close the list')
  tokens.leave()
  return value
}

function unknownSetting(tokens: TokenStream): AssayError {
  const { keyword, text, kind, start, end } = tokens.current
  if (kind !== 'word') return tokens.unexpected('the name of a setting')
  const word = wordsOfClauses.get(keyword)
  const meant = suggest(keyword, settingNames)
  let hint = `the settings are ${settingNames.join(', ')}`
  if (requestFields.has(keyword)) hint = `give it as a field of the request, beside "query"`
  else if (word !== undefined) hint = `write ${word}`
  else if (meant !== undefined) hint = `did you mean "${meant}"?`
  return new AssayError('PARSE_UNKNOWN_CLAUSE', `unknown setting "${shorten(text)}"`, {
    span: { start, end },
    hint,
  })
}
