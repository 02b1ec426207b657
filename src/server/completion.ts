/** What may be written at a place in a query, from what the language has and the caller may read. */
import type { Gate } from '../access/gate.ts'
import { readableNames } from '../binder/missing-source.ts'
import { sourceTables } from '../binder/source-table.ts'
import type { Engine } from '../engine.ts'
import { AssayError } from '../error.ts'
import { aggregateFunctions } from '../function/aggregate.ts'
import { scalarFunctions } from '../function/scalar.ts'
import { type CursorPlace, clauseWords, cursorPlace, sourceIn } from '../parser/cursor-place.ts'
import { printPath, printString } from '../parser/print.ts'

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
}

const mostItems = 200

/** Words of expressions, besides functions. */
const expressionWords = [
  'and',
  'or',
  'not',
  'in',
  'is null',
  'is not null',
  'like',
  'ilike',
].concat(['between', 'includes', 'match', 'case when', 'interval', 'true', 'false', 'null', 'as'])

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
    case 'clause':
      // A text that only filters begins with an expression.
      return request.from === undefined
        ? clauses(request.query)
        : [...clauses(request.query), ...expressions(engine, gate, request, [])]
    case 'source':
      return Array.from(sourceTables.keys(), (name) => ({ text: `${name}(`, kind: 'source' }))
    case 'object':
      return readableNames(place.table, gate).map((name) => ({
        text: printString(name),
        kind: 'object',
      }))
    case 'expression':
      return expressions(engine, gate, request, place.path)
    case 'value':
      return []
  }
}

function clauses(query: string): Completion[] {
  return clauseWords(query).map((word) => ({
    text: /[a-z]/.test(word) ? `${word}: ` : `${word} `,
    kind: 'clause',
  }))
}

/** After a path, what goes on from it; else everything that an expression may begin with. */
function expressions(
  engine: Engine,
  gate: Gate,
  request: CompletionRequest,
  path: readonly string[],
): Completion[] {
  const fields = fieldsOf(engine, gate, request)
    .filter((field) => path.every((part, i) => field.path[i] === part))
    .filter((field) => field.path.length > path.length)
    .map(({ path, description }): Completion => {
      const detail = description === undefined ? {} : { detail: description }
      return { text: printPath(path), kind: 'field', ...detail }
    })
  if (path.length > 0) return fields
  return [
    ...fields,
    ...aggregateFunctions.map(({ name, signature, description }) =>
      functionItem('aggregate', name, signature, description),
    ),
    ...scalarFunctions.map(({ name, signature, description }) =>
      functionItem('function', name, signature, description),
    ),
    ...expressionWords.map((text): Completion => ({ text, kind: 'keyword' })),
    // In SQL the next clause may begin wherever an expression ends.
    ...clauses(request.query).filter(({ text }) => text === text.toUpperCase()),
  ]
}

function functionItem(
  kind: 'function' | 'aggregate',
  name: string,
  signature: string,
  description: string,
): Completion {
  return { text: `${name}(`, kind, detail: `${name}(${signature}): ${description}` }
}

function fieldsOf(engine: Engine, gate: Gate, { query, from }: CompletionRequest) {
  const source = sourceIn(from === undefined ? query : `from: ${from}`)
  if (!source) return []
  try {
    return engine.fieldsOf(source, gate)
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
  const bare = ({ text }: Completion) => text.toLowerCase().replace(/^["'`]/, '')
  const begins = items.filter((item) => bare(item).startsWith(written))
  const elsewhere = items.filter(
    (item) => !bare(item).startsWith(written) && bare(item).includes(place.prefix.toLowerCase()),
  )
  return [...begins, ...elsewhere].slice(0, mostItems)
}
