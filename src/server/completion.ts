/** What may be written at a place in a query, from what the language has and the caller may read. */
import type { Gate } from '../access/gate.ts'
import { tableInProject } from '../binder/current-project.ts'
import { readableNames } from '../binder/missing-source.ts'
import { sourceTables } from '../binder/source-table.ts'
import type { Engine } from '../engine.ts'
import { AssayError } from '../error.ts'
import { aggregateFunctions } from '../function/aggregate.ts'
import { scalarFunctions } from '../function/scalar.ts'
import { type CursorPlace, clauseWords, cursorPlace, sourceIn } from '../parser/cursor-place.ts'
import { expectedAfter } from '../parser/parse.ts'
import { printPath, printString } from '../parser/print.ts'
import { leadsTo } from '../type/value.ts'

export interface Completion {
  /** What to put in place of the text from `Completions.from` to `Completions.to`. */
  readonly text: string
  readonly kind: 'clause' | 'field' | 'function' | 'aggregate' | 'source' | 'object' | 'keyword'
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
  /** Id or name of the project that a source without an id is of. */
  readonly project?: string
}

const mostItems = 200

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

export function complete(engine: Engine, gate: Gate, request: CompletionRequest): Completions {
  const { query, position } = request
  const place = cursorPlace(query, position)
  const items = candidates(engine, gate, request, place)
  return { from: place.start, to: position, items: matching(items, place) }
}

function candidates(
  engine: Engine,
  gate: Gate,
  request: CompletionRequest,
  place: CursorPlace,
): Completion[] {
  switch (place.kind) {
    case 'source':
      return Array.from(sourceTables.keys(), (name) => ({ text: `${name}(`, kind: 'source' }))
    case 'object':
      return readableNames(place.table, gate).map((name) => ({
        text: printString(name),
        kind: 'object',
      }))
    case 'clause':
    case 'expression':
      return place.kind === 'expression' && place.path.length > 0
        ? fields(engine, gate, request, place.path)
        : following(engine, gate, request, place.start)
    case 'value':
      return []
  }
}

/** What the parser would take after the text before `start`. */
function following(
  engine: Engine,
  gate: Gate,
  request: CompletionRequest,
  start: number,
): Completion[] {
  const before = request.query.slice(0, start)
  const isEmpty = before.trim() === ''
  const { kinds, words } = expectedAfter(before)
  const takesValue = kinds.has('operand') && !(isEmpty && request.from === undefined)
  const offered = [...words].flatMap((word) => offeredWords.get(word) ?? [])
  return [
    ...(takesValue ? values(engine, gate, request) : []),
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
function values(engine: Engine, gate: Gate, request: CompletionRequest): Completion[] {
  return [
    ...fields(engine, gate, request, []),
    ...aggregateFunctions.map(({ name, signature, description }) =>
      functionItem('aggregate', name, signature, description),
    ),
    ...scalarFunctions.map(({ name, signature, description }) =>
      functionItem('function', name, signature, description),
    ),
    ...valueWords.map((text): Completion => ({ text, kind: 'keyword' })),
  ]
}

/** Fields below a path. */
function fields(
  engine: Engine,
  gate: Gate,
  request: CompletionRequest,
  path: readonly string[],
): Completion[] {
  return fieldsOf(engine, gate, request)
    .filter((field) => leadsTo(path, field.path) && field.path.length > path.length)
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

function fieldsOf(engine: Engine, gate: Gate, { query, from, project }: CompletionRequest) {
  const source = sourceIn(from === undefined ? query : `from: ${from}`)
  if (!source) return []
  try {
    return engine.fieldsOf(tableInProject(source, project), gate)
  } catch (thrown) {
    // A source that is not there, or not yet all written, has no fields.
    if (thrown instanceof AssayError && thrown.family === 'user') return []
    throw thrown
  }
}

/** Those that begin with what is written, then those that have it elsewhere. */
function matching(items: readonly Completion[], place: CursorPlace): Completion[] {
  const path = place.kind === 'expression' ? place.path : []
  const written = (
    path.length > 0 ? `${printPath(path)}.${place.prefix}` : place.prefix
  ).toLowerCase()
  const bare = ({ text }: Completion) => text.toLowerCase().replace(/^(?:["'`]|\| )/, '')
  const begins = items.filter((item) => bare(item).startsWith(written))
  const elsewhere = items.filter(
    (item) => !bare(item).startsWith(written) && bare(item).includes(place.prefix.toLowerCase()),
  )
  return [...begins, ...elsewhere].slice(0, mostItems)
}
