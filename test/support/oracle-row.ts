/** Rows as the row oracle sees them: what names they answer to, whatever they are made of. */
import type { PathPart } from '../../src/type/value.ts'
import { isList, isRecord, moment, number, type Plain } from './oracle-value.ts'

/** A visible record: all that `select: *` would show of it. */
export interface OracleRow {
  readonly value: { readonly [column: string]: Plain }
  readonly paginationKey: string
  /** The object that holds it. */
  readonly object: string
}

/** A row of a query's source, or of another query. */
export interface Item {
  /** Undefined when the first part is no name of the row. */
  read(path: readonly PathPart[]): Plain | undefined
  /** Whether columns that only the data can tell of may have any name. */
  readonly hasAnyName: boolean
  /** The paths of nested fields whose last name this is. */
  nested(name: string): readonly (readonly string[])[]
  /** What `*` shows. */
  readonly star: Readonly<Record<string, Plain>>
  /** All spans of its trace, itself among them. */
  readonly trace: readonly Item[]
  /** Of records; rows that have one come newest first. */
  readonly paginationKey: string | undefined
  readonly object: string | undefined
}

export function step(value: Plain, path: readonly PathPart[]): Plain {
  let current = value
  for (const part of path) {
    if (typeof part === 'number') current = isList(current) ? (current.at(part) ?? null) : null
    else current = isRecord(current) && Object.hasOwn(current, part) ? current[part]! : null
  }
  return current
}

/** Nested names of the published schema, which every span has. */
const published: readonly (readonly string[])[] = [
  ...['name', 'type', 'purpose'].map((name) => ['span_attributes', name]),
  ...['start', 'end', 'tokens', 'prompt_tokens', 'completion_tokens', 'prompt_cached_tokens'].map(
    (name) => ['metrics', name],
  ),
  ...['prompt_cache_creation_tokens', 'completion_reasoning_tokens', 'time_to_first_token'].map(
    (name) => ['metrics', name],
  ),
]

/** The records, newest first. */
export function recordItems(rows: readonly OracleRow[]): Item[] {
  const newestFirst = rows.toSorted((a, b) => (a.paginationKey < b.paginationKey ? 1 : -1))
  const paths = new Map<string, readonly string[]>()
  for (const { value } of rows) {
    for (const path of pathsIn(value)) paths.set(JSON.stringify(path), path)
  }
  const columns = new Set(rows.flatMap(({ value }) => Object.keys(value)))
  const traces = new Map<string, Item[]>()
  return newestFirst.map((row) => {
    const key = `${row.object} ${String(row.value.root_span_id)}`
    const trace = traces.get(key) ?? []
    traces.set(key, trace)
    const item: Item = {
      read: (path) => readRecord(row, path, columns),
      hasAnyName: false,
      nested: (name) => shortest(name, [...paths.values()]),
      star: { ...row.value, created: readRecord(row, ['created'], columns) ?? null },
      trace,
      paginationKey: row.paginationKey,
      object: row.object,
    }
    trace.push(item)
    return item
  })
}

function readRecord(
  { value }: OracleRow,
  path: readonly PathPart[],
  columns: ReadonlySet<string>,
): Plain | undefined {
  const [name, second] = path
  const isDuration = name === 'duration' && path.length === 1 && !columns.has('duration')
  if (isDuration || (name === 'metrics' && second === 'duration' && path.length === 2)) {
    const [start, end] = [step(value, ['metrics', 'start']), step(value, ['metrics', 'end'])]
    const logged = step(value, ['metrics', 'duration'])
    if (logged !== null) return logged
    return number(start) === null || number(end) === null ? null : number(end)! - number(start)!
  }
  if (!columns.has(String(name))) return undefined
  const found = step(value, path)
  return path.length === 1 && name === 'created' ? (moment(found) ?? found) : found
}

function shortest(name: string, known: readonly (readonly string[])[]): (readonly string[])[] {
  const ofSchema = published.filter((path) => path.at(-1) === name)
  if (ofSchema.length > 0) return ofSchema
  const found = known.filter((path) => path.length > 1 && path.at(-1) === name)
  const least = Math.min(...found.map((path) => path.length))
  return found.filter((path) => path.length === least)
}

function pathsIn(value: Plain, at: readonly string[] = []): (readonly string[])[] {
  if (!isRecord(value)) return []
  return Object.keys(value).flatMap((key) => {
    const path = [...at, key]
    return [path, ...pathsIn(value[key]!, path)]
  })
}

/** A row of another query: its columns are all that it has. */
export function columnItem(
  columns: Readonly<Record<string, Plain>>,
  from: Item | undefined,
  hasAnyName: boolean,
): Item {
  return {
    read: ([name, ...rest]) =>
      Object.hasOwn(columns, String(name)) ? step(columns[String(name)]!, rest) : undefined,
    hasAnyName,
    nested: () => [],
    star: columns,
    trace: from?.trace ?? [],
    paginationKey: from?.paginationKey,
    object: from?.object,
  }
}

/** The row with names that go before its own. */
export function withNames(item: Item, names: Readonly<Record<string, Plain>>): Item {
  return {
    ...item,
    read: (path) => {
      const [name, ...rest] = path
      return Object.hasOwn(names, String(name)) ? step(names[String(name)]!, rest) : item.read(path)
    },
  }
}
