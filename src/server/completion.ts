/** What may be written at a place in a query, from what the language has and the caller may read. */
import type { Gate } from '../access/gate.ts'
import { tableInProject } from '../binder/current-project.ts'
import { readableNames } from '../binder/missing-source.ts'
import { sourceTables } from '../binder/source-table.ts'
import type { Engine } from '../engine.ts'
import { AssayError } from '../error.ts'
import { aggregateFunctions } from '../function/aggregate.ts'
import { scalarFunctions } from '../function/scalar.ts'
import type { TableSource } from '../parser/ast.ts'
import {
  type CursorPlace,
  clauseWords,
  comparedField,
  cursorPlace,
  sourceIn,
} from '../parser/cursor-place.ts'
import { expectedAfter } from '../parser/parse.ts'
import { printPath, printString } from '../parser/print.ts'
import { printSource } from '../parser/print-query.ts'
import type { Vocabulary } from '../search/vocabulary.ts'
import { leadsTo } from '../type/value.ts'
import type { Vocabularies } from './vocabularies.ts'

export interface Completion {
  /** What to put in place of the text from `Completions.from` to `Completions.to`. */
  readonly text: string
  readonly kind:
    | 'clause'
    | 'field'
    | 'value'
    | 'function'
    | 'aggregate'
    | 'source'
    | 'object'
    | 'keyword'
  readonly detail?: string
}

export interface Completions {
  /** Offsets into the text, in UTF-16 units. */
  readonly from: number
  readonly to: number
  readonly items: readonly Completion[]
}

export interface CompletionRequest {
  readonly query: string
  readonly position: number
  /** The source of a filter expression, whose text has none. */
  readonly from?: string
  /** Id or name of the project that a source without an id is of, and whose logs a query without a source is of. */
  readonly project?: string
}

const mostItems = 200
const mostValues = 20

/** Words that begin a value, besides functions and `not`. */
const valueWords = ['case when', 'interval', 'true', 'false', 'null']

/** What is offered for a word that the parser asks for; words that are not here have a better form. */
const offeredWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['in', ['in', 'not in']],
  ['is', ['is null', 'is not null']],
  ...(
    'not and or like ilike includes match between as asc desc distinct when then else end by seed ' +
    'for nulls percent rows repeatable'
  )
    .split(' ')
    .map((word): [string, string[]] => [word, [word]]),
])

const shapes = ['spans', 'traces', 'summary', 'history']

/** What is known of the records that a completion is for. */
interface Known {
  readonly engine: Engine
  readonly gate: Gate
  readonly source: TableSource | undefined
  readonly vocabulary: Vocabulary | undefined
}

export async function complete(
  engine: Engine,
  vocabularies: Vocabularies,
  gate: Gate,
  request: CompletionRequest,
): Promise<Completions> {
  const { query, position } = request
  const place = cursorPlace(query, position)
  const compared = comparedField(query.slice(0, place.start))
  const source = sourceOf(request)
  const isOfRecords =
    compared !== undefined || place.kind === 'expression' || place.kind === 'clause'
  const vocabulary = isOfRecords ? await vocabularyOf(vocabularies, gate, source) : undefined
  const known = { engine, gate, source, vocabulary }
  const frequent = compared ? valuesOfField(known, compared, place) : []
  const items = place.kind === 'value' ? [] : matching(candidates(known, request, place), place)
  return { from: place.start, to: position, items: [...frequent, ...items].slice(0, mostItems) }
}

/** A source that is not there, may not be read or is not yet all written tells nothing. */
function unlessMissing<Result>(thrown: unknown, nothing: Result): Result {
  if (thrown instanceof AssayError && thrown.family === 'user') return nothing
  throw thrown
}

/** Of a query that names no source yet, it is the logs of the project. */
function sourceOf({ query, from, project }: CompletionRequest): TableSource | undefined {
  const named = sourceIn(from === undefined ? query : `from: ${from}`)
  const source = named ?? (project === undefined ? undefined : sourceIn('from: project_logs()'))
  try {
    return source && tableInProject(source, project)
  } catch (thrown) {
    return unlessMissing(thrown, undefined)
  }
}

async function vocabularyOf(
  vocabularies: Vocabularies,
  view: Gate,
  source: TableSource | undefined,
): Promise<Vocabulary | undefined> {
  if (!source) return undefined
  try {
    return await vocabularies.of({ from: printSource(source), view })
  } catch (thrown) {
    return unlessMissing(thrown, undefined)
  }
}

function candidates(known: Known, request: CompletionRequest, place: CursorPlace): Completion[] {
  switch (place.kind) {
    case 'source':
      return Array.from(sourceTables.keys(), (name) => ({ text: `${name}(`, kind: 'source' }))
    case 'object':
      return readableNames(place.table, known.gate).map((name) => ({
        text: printString(name),
        kind: 'object',
      }))
    case 'clause':
    case 'expression':
      return place.kind === 'expression' && place.path.length > 0
        ? fields(known, place.path)
        : following(known, request, place.start)
    case 'value':
      return []
  }
}

/** Texts that a field often has and that are written so far, the most frequent first. */
function valuesOfField(
  { vocabulary }: Known,
  path: readonly string[],
  { prefix }: CursorPlace,
): Completion[] {
  const written = prefix.toLowerCase()
  return (vocabulary?.valuesOf(path) ?? [])
    .filter(({ value }) => value.toLowerCase().includes(written))
    .slice(0, mostValues)
    .map(({ value }): Completion => ({ text: printString(value), kind: 'value' }))
}

/** What the parser would take after the text before `start`. */
function following(known: Known, request: CompletionRequest, start: number): Completion[] {
  const before = request.query.slice(0, start)
  const isEmpty = before.trim() === ''
  const { kinds, words } = expectedAfter(before)
  const takesValue = kinds.has('operand') && !(isEmpty && request.from === undefined)
  const offered = [...words].flatMap((word) => offeredWords.get(word) ?? [])
  return [
    ...(takesValue ? values(known) : []),
    ...(kinds.has('shape') ? shapes.map((text): Completion => ({ text, kind: 'keyword' })) : []),
    ...(isEmpty ? [] : offered.map((text): Completion => ({ text, kind: 'keyword' }))),
    ...(isEmpty || kinds.has('clause') ? clauses(request.query, before) : []),
  ]
}

/** Clauses that are not there yet; on a line that has another one, after a bar. */
function clauses(query: string, before: string): Completion[] {
  const line = before.slice(before.lastIndexOf('\n') + 1).trim()
  const bar = line === '' || line.endsWith('|') ? '' : '| '
  return clauseWords(query).map((word) => ({
    text: /[a-z]/.test(word) ? `${bar}${word}: ` : `${word} `,
    kind: 'clause',
  }))
}

/** Everything that a value may begin with. */
function values(known: Known): Completion[] {
  return [
    ...fields(known, []),
    ...aggregateFunctions.map(({ name, signature, description }) =>
      functionItem('aggregate', name, signature, description),
    ),
    ...scalarFunctions.map(({ name, signature, description }) =>
      functionItem('function', name, signature, description),
    ),
    ...valueWords.map((text): Completion => ({ text, kind: 'keyword' })),
  ]
}

/** Fields below a path; those that most records have, and that tell them apart, come first. */
function fields(known: Known, path: readonly string[]): Completion[] {
  const { vocabulary } = known
  return fieldsOf(known)
    .filter((field) => leadsTo(path, field.path) && field.path.length > path.length)
    .map((field) => ({ ...field, use: vocabulary?.useOf(field.path) ?? 0 }))
    .sort((a, b) => b.use - a.use)
    .map(({ path: parts, description }): Completion => {
      const detail = description === undefined ? {} : { detail: description }
      return { text: printPath(parts), kind: 'field', ...detail }
    })
}

function functionItem(
  kind: 'function' | 'aggregate',
  name: string,
  signature: string,
  description: string,
): Completion {
  return { text: `${name}(`, kind, detail: `${name}(${signature}): ${description}` }
}

function fieldsOf({ engine, gate, source }: Known) {
  if (!source) return []
  try {
    return engine.fieldsOf(source, gate)
  } catch (thrown) {
    return unlessMissing(thrown, [])
  }
}

/** Those that begin with what is written, by a name within them, too; then those that have it elsewhere. */
function matching(items: readonly Completion[], place: CursorPlace): Completion[] {
  const path = place.kind === 'expression' ? place.path : []
  const prefix = place.prefix.toLowerCase()
  const written = path.length > 0 ? `${printPath(path)}.${prefix}`.toLowerCase() : prefix
  const bare = ({ text }: Completion) => text.toLowerCase().replace(/^(?:["'`]|\| )/, '')
  const isBegun = (item: Completion) => {
    const text = bare(item)
    if (text.startsWith(written)) return true
    return item.kind === 'field' && path.length === 0 && text.includes(`.${written}`)
  }
  const begins = items.filter(isBegun)
  const elsewhere = items.filter((item) => !isBegun(item) && bare(item).includes(prefix))
  return [...begins, ...elsewhere].slice(0, mostItems)
}
