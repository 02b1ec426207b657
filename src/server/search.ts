/**
 * What a person typed, as a query: the language as it is written, or words, which are translated or
 * looked for as text.
 */
import type { Gate } from '../access/gate.ts'
import type { Engine } from '../engine.ts'
import { toAssayError } from '../error.ts'
import type { Expression, Query } from '../parser/ast.ts'
import { parseQuery, parseSearch } from '../parser/parse.ts'
import { parseRequest } from '../parser/parse-request.ts'
import { printExpression, printString } from '../parser/print.ts'
import { printQuery } from '../parser/print-query.ts'
import { askModel, type LanguageModel } from '../search/ask-model.ts'
import { type LookedFor, lookedFor } from '../search/looked-for.ts'
import { translate } from '../search/translate.ts'
import { namesNothing } from '../search/words.ts'
import type { Vocabularies } from './vocabularies.ts'

export interface SearchRequest {
  readonly text: string
  /** `project_logs('…')` */
  readonly from: string
  readonly tzOffset: number
  /** Whether a text that is of the language is one; if not, everything is words. */
  readonly takesQueries: boolean
  /** Of rows that are searched for texts and not sorted otherwise. */
  readonly order: 'newest' | 'relevance'
  readonly view: Gate
  readonly signal?: AbortSignal
}

export interface Interpretation {
  /** `btql`: the text is of the language. `full_text`: its words are looked for. */
  readonly kind: 'btql' | 'translated' | 'full_text'
  /** The whole query, in clauses. */
  readonly query: string
  /** The condition on its rows, for whoever asks more about them; null for all rows. */
  readonly filter: string | null
  /** The texts that are looked for, which may be marked in the rows. */
  readonly looked_for: readonly LookedFor[]
  /** What the text was taken for, in a line. */
  readonly explanation: string
  /** Who translated. */
  readonly translator?: 'built_in' | 'language_model'
  /** Of a text that is written as a query and cannot run: why it was taken for words. */
  readonly fault?: string
}

/** Throws for a source that is not there or may not be read. */
export async function interpret(
  engine: Engine,
  vocabularies: Vocabularies,
  request: SearchRequest,
  model: LanguageModel | undefined,
): Promise<Interpretation> {
  const isOfNothing = namesNothing(request.text)
  const takesQueries = request.takesQueries && !isOfNothing
  const written = takesQueries ? await asWritten(engine, request) : undefined
  if (written && 'kind' in written) return written
  const vocabulary = await vocabularies.of(request)
  const fault = written && { fault: written.fault }
  const { text, from, tzOffset } = request
  const now = engine.now()
  if (model && !isOfNothing) {
    const check = (clauses: string) => faultOf(engine, clauses, request)
    const question = { text, fields: vocabulary.fields, now, tzOffset }
    const answer = await askModel(model, question, check)
    if (answer) {
      const { clauses, explanation } = answer
      const query = told(ranked(parseRequest(clauses, from), request))
      return { kind: 'translated', ...query, explanation, translator: 'language_model', ...fault }
    }
  }
  const translation = translate({ text, vocabulary, now, tzOffset, hasTraces: hasTraces(from) })
  const { kind, clauses, shape, explanation } = translation
  const source = shape && !/\)\s*\w+\s*$/.test(from) ? `${from} ${shape}` : from
  const query = told(ranked(parseRequest(clauses, source), request))
  return { kind, ...query, explanation, translator: 'built_in', ...fault }
}

function told(query: Query): Pick<Interpretation, 'query' | 'filter' | 'looked_for'> {
  return {
    query: printQuery(query),
    filter: query.filter ? printExpression(query.filter) : null,
    looked_for: lookedFor(query),
  }
}

/** Rows that are searched for words, those first that fit best if that is asked for. */
function ranked(query: Query, { order }: SearchRequest): Query {
  const searched = lookedFor(query).flatMap(({ words }) => words ?? [])
  const isOfRows = query.select !== undefined && query.dimensions === undefined
  if (order === 'newest' || searched.length === 0 || !isOfRows || query.sort) return query
  const { sort } = parseQuery(
    `select: * | sort: search_score(${printString(searched.join(' '))}) desc`,
  )
  return { ...query, ...(sort && { sort }) }
}

/** The text as a query, the reason why it is none though written like one, or undefined. */
async function asWritten(
  engine: Engine,
  request: SearchRequest,
): Promise<Interpretation | { readonly fault: string } | undefined> {
  const { text, from } = request
  const query = readQuery(text, from)
  if (!query) return undefined
  if ('fault' in query) return query
  const written = told(query)
  const fault = await runFault(engine, written.query, request)
  if (fault !== undefined) return { fault }
  return { kind: 'btql', ...written, explanation: 'run as written' }
}

/**
 * A lone word or quoted text is a field or a string to the language, and words to a person. What is no query
 * has a fault only if nobody would write it for words.
 */
function readQuery(text: string, from: string): Query | { readonly fault: string } | undefined {
  try {
    const search = parseSearch(text)
    if (search.kind === 'query') return parseRequest(text, search.query.from ? undefined : from)
    return isCondition(search.expression) ? parseRequest(text, from) : undefined
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family !== 'user') throw thrown
    return queryForms.some((form) => form.test(text)) ? { fault: error.message } : undefined
  }
}

/** How queries are written, and words are not. */
const queryForms: readonly RegExp[] = [
  // A clause.
  /^\s*(?:select|dimensions|measures|pivot|unpivot|infer|from|filter|sort|limit)\s*:/i,
  // SQL.
  /^\s*select\s+(?:\*|[\w.]+(?:\s*,|\s+from\b))/i,
  // A field within another, or a quoted value, beside an operator.
  /(?:^|\s)\w+(?:\.\w+)+\s*(?:=|!=|<>|<=?|>=?|\b(?:is|in|like|ilike|match)\b)/i,
  /(?:^|\s)\w+\s*(?:=|!=|<>|<=?|>=?)\s*'/,
]

function isCondition(expression: Expression): boolean {
  switch (expression.kind) {
    case 'comparison':
    case 'is_null':
    case 'like':
    case 'includes':
    case 'match':
    case 'in':
    case 'between':
    case 'call':
    case 'conditional':
      return true
    case 'and':
    case 'or':
      return expression.operands.every(isCondition)
    case 'not':
      return isCondition(expression.operand)
    default:
      return false
  }
}

/** What is wrong with clauses that must have no source of their own. */
async function faultOf(
  engine: Engine,
  clauses: string,
  request: SearchRequest,
): Promise<string | undefined> {
  try {
    return await runFault(engine, canonical(clauses, request.from), request)
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family !== 'user') throw error
    return error.message
  }
}

/** Plans the query; its rows are never read. */
async function runFault(
  engine: Engine,
  query: string,
  { view, tzOffset }: SearchRequest,
): Promise<string | undefined> {
  try {
    await engine.explain({ query, view, tzOffset })
    return undefined
  } catch (thrown) {
    const error = toAssayError(thrown)
    // What may not be read is told as for any query, whatever the text.
    if (error.family !== 'user' || error.code === 'ACCESS_DENIED') throw error
    return error.message
  }
}

function canonical(clauses: string, from: string): string {
  return printQuery(parseRequest(clauses, from))
}

/** Datasets hold records without traces. */
function hasTraces(from: string): boolean {
  return !/^\s*dataset\b/i.test(from)
}
