/** Puts the same records into several stores, and compares their answers with the row oracle's. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { TableSource } from '../../src/parser/ast.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { recordColumns } from '../../src/type/record.ts'
import { parseTransaction } from '../../src/type/transaction.ts'
import type { ArbitraryRecord } from './arbitrary-record.ts'
import type { OracleRow } from './oracle-row.ts'
import type { OracleTable } from './oracle-source.ts'
import { isRecord, json, type Plain } from './oracle-value.ts'
import { answer, type OracleColumn } from './row-oracle.ts'
import { type GoldenStore, rowsPerRequest } from './slt-runner.ts'

/** What queries call the experiments that records are in. */
export const experimentNames = ['e', 'f', 'g'] as const

/** Records that live in experiments of every store. */
export interface Loaded {
  /** The experiments' ids in each, in the order of their names. */
  readonly ids: ReadonlyMap<GoldenStore, readonly string[]>
  readonly rows: readonly OracleRow[]
}

/** What the oracle cannot know: keys, and the service's own notes. */
const unknowable = ['_pagination_key', '_xact_id', 'audit_data', 'project_id']

/** Compares the answers to a query of `experiment('e')`, or of others beside it. */
export async function checkAnswer(text: string, loaded: Loaded): Promise<void> {
  const expected = expectedLines(text, loaded)
  for (const [store] of loaded.ids) {
    const lines = await askNamed(store, text, loaded)
    expect(lines.map(comparable), `${store.setup.state}\n${text}`).toEqual(expected)
  }
}

/** The same of a query without a limit that is asked page by page, each of so many rows. */
export async function checkPages(text: string, rows: number, loaded: Loaded): Promise<void> {
  const expected = expectedLines(text, loaded)
  for (const [store] of loaded.ids) {
    const lines: string[] = []
    for (let cursor: string | undefined = '', pages = 0; cursor !== undefined; pages++) {
      const place = cursor === '' ? '' : ` | cursor: '${cursor}'`
      const query = withIds(`${text} | limit: ${rows}${place}`, loaded.ids.get(store)!)
      const page = await askPage(store, query)
      lines.push(...page.lines)
      cursor = page.cursor
      expect(pages, `${store.setup.state}\n${text}`).toBeLessThanOrEqual(expected.length)
    }
    const place = `${store.setup.state}, ${rows} a page\n${text}`
    expect(lines.map(comparable), place).toEqual(expected)
  }
}

/** The oracle's answer, as `comparable` lines. */
export function expectedLines(text: string, { rows }: Loaded): string[] {
  const table = ({ ids }: TableSource): OracleTable => {
    const objects = ids.map(({ value }) => value)
    return { objects, rows: rows.filter(({ object }) => objects.includes(object)) }
  }
  const context = { table, clock: { now: 0, tzOffset: 0 } }
  return answer(parseQuery(text), context).map((row) => comparable(json(toObject(row))))
}

/** A row's JSON with sorted keys, without what cannot be known. */
export function comparable(line: string): string {
  const row = parseJson(line) as Plain
  if (!isRecord(row)) return json(row, true)
  const known = Object.entries(row).filter(([name]) => !unknowable.includes(name))
  return json(Object.fromEntries(known), true)
}

/** Asks about experiments by the names that they have here, and shows these in the answer. */
export async function askNamed(
  store: GoldenStore,
  text: string,
  { ids }: Loaded,
): Promise<string[]> {
  const lines = await ask(store, withIds(text, ids.get(store)!))
  return lines.map((line) => withoutIds(line, ids.get(store)!))
}

export function withIds(text: string, ids: readonly string[]): string {
  return text.replace(/experiment\([^)]*\)/g, (source) =>
    experimentNames.reduce(
      (named, name, i) => named.replaceAll(`'${name}'`, `'${ids[i] ?? name}'`),
      source,
    ),
  )
}

function withoutIds(line: string, ids: readonly string[]): string {
  return ids.reduce((shown, id, i) => shown.replaceAll(id, experimentNames[i]!), line)
}

/** The rows of an answer, each as JSON. */
export async function ask(store: GoldenStore, query: string): Promise<string[]> {
  return (await askPage(store, query)).lines
}

export interface Page {
  readonly lines: readonly string[]
  readonly cursor: string | undefined
}

export async function askPage(
  store: GoldenStore,
  query: string,
): Promise<{ lines: string[]; cursor: string | undefined }> {
  const result = await store.engine.query({ query, view: store.gate, separator: '\n' })
  const lines: string[] = []
  for await (const { bytes } of result.rows) {
    if (bytes.length > 0) lines.push(...Buffer.from(bytes).toString().split('\n'))
  }
  return { lines, cursor: result.finish().cursor }
}

/** Writes records into new experiments of each store, and flushes them as the store's state is. */
export async function load(
  stores: readonly GoldenStore[],
  ...lists: readonly (readonly ArbitraryRecord[])[]
): Promise<Loaded> {
  const named = lists.map((list, object) => list.map((record, i) => withNames(record, object, i)))
  const ids = new Map<GoldenStore, string[]>()
  for (const store of stores) {
    const experiments: string[] = []
    for (const list of named) {
      const id = await newExperiment(store)
      experiments.push(id)
      await insert(store, id, list)
    }
    await store.settle()
    ids.set(store, experiments)
  }
  return { ids, rows: named.flat().map(toOracleRow) }
}

export async function newExperiment(store: GoldenStore): Promise<string> {
  const { entry: project } = await store.gate.findOrCreate('project', { name: 'random' })
  const name = randomUUID()
  const { entry } = await store.gate.findOrCreate('experiment', { project_id: project.id, name })
  return entry.id
}

export async function insert(
  store: GoldenStore,
  experiment: string,
  records: readonly NamedRecord[],
): Promise<void> {
  const size = rowsPerRequest(store.setup, records.length)
  for (let start = 0; start < records.length; start += size) {
    const events = records.slice(start, start + size).map(({ record }) => record)
    const body = Buffer.from(`{"events":${json(events as Plain)}}`)
    const object = { type: 'experiment', id: experiment } as const
    const inserted = await store.engine.insert({ body, form: 'events', object, view: store.gate })
    if (start === 0) store.clock.hotAfter = parseTransaction(inserted.transactionId)
    if (store.setup.state === 'tiny') await store.engine.flush()
  }
}

interface NamedRecord {
  readonly record: ArbitraryRecord
  readonly object: string
}

/** A record that names no trace is one of its own. */
export function withNames(record: ArbitraryRecord, object: number, i: number): NamedRecord {
  const id = `r${object}${i}`
  const names = { id, span_id: id, root_span_id: id, span_parents: null }
  return { record: { ...names, ...record }, object: experimentNames[object]! }
}

const columns = recordColumns.filter((column) => column.in.includes('experiment'))
const nulls = Object.fromEntries(columns.map(({ name }) => [name, null]))

function toOracleRow({ record, object }: NamedRecord, index: number): OracleRow {
  const isRoot = !Array.isArray(record.span_parents) || record.span_parents.length === 0
  const given = record as Record<string, Plain>
  return {
    value: { ...nulls, ...given, is_root: isRoot, experiment_id: object },
    paginationKey: `p${String(index).padStart(20, '0')}`,
    object,
  }
}

function toObject(row: readonly OracleColumn[]): Plain {
  return Object.fromEntries(row.map(({ name, value }) => [name, value]))
}
