/** Puts the same records into several stores, and compares their answers with the row oracle's. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { parseQuery } from '../../src/parser/parse.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { recordColumns } from '../../src/type/record.ts'
import type { ArbitraryRecord } from './arbitrary-record.ts'
import { json, type Plain } from './oracle-value.ts'
import { answer, type OracleRow } from './row-oracle.ts'
import type { GoldenStore } from './slt-runner.ts'

/** Records that live in one experiment of every store. */
export interface Loaded {
  /** The experiment's id in each. */
  readonly ids: ReadonlyMap<GoldenStore, string>
  readonly rows: readonly OracleRow[]
}

/** Compares the answers to a query of `experiment('e')`. */
export async function checkAnswer(text: string, { ids, rows }: Loaded): Promise<void> {
  const query = parseQuery(text)
  const expected = answer(query, rows, { now: 0, tzOffset: 0 })
    .map((row) => toObject(row))
    .map((row) => json(row, true))
  for (const [store, id] of ids) {
    const lines = await ask(store, text.replace("experiment('e')", `experiment('${id}')`))
    const actual = lines.map((line) => json(parseJson(line) as Plain, true))
    expect(actual, `${store.setup.state}\n${text}`).toEqual(expected)
  }
}

/** The rows of an answer, each as JSON. */
export async function ask(store: GoldenStore, query: string): Promise<string[]> {
  const { rows } = await store.engine.query({ query, view: store.gate, separator: '\n' })
  const lines: string[] = []
  for await (const { bytes } of rows) {
    if (bytes.length > 0) lines.push(...Buffer.from(bytes).toString().split('\n'))
  }
  return lines
}

/** Writes records into a new experiment of each store, and flushes them as the store's state is. */
export async function load(
  stores: readonly GoldenStore[],
  given: readonly ArbitraryRecord[],
): Promise<Loaded> {
  const named = given.map((record, i) => ({ id: `r${i}`, ...record }))
  const ids = new Map<GoldenStore, string>()
  for (const store of stores) {
    const { entry: project } = await store.gate.findOrCreateProject({ name: 'random' })
    const name = randomUUID()
    const { entry } = await store.gate.findOrCreateExperiment({ project_id: project.id, name })
    ids.set(store, entry.id)
    const size = store.setup.state === 'tiny' ? 2 : named.length
    for (let start = 0; start < named.length; start += size) {
      const body = Buffer.from(`{"events":${json(named.slice(start, start + size) as Plain)}}`)
      const object = { type: 'experiment', id: entry.id } as const
      await store.engine.insert({ body, form: 'events', object, view: store.gate })
      if (store.setup.state === 'tiny') await store.engine.flush()
    }
    if (store.setup.state === 'segment') await store.engine.flush()
  }
  return { ids, rows: named.map(toOracleRow) }
}

const columns = recordColumns.filter((column) => column.in.includes('experiment'))
const nulls = Object.fromEntries(columns.map(({ name }) => [name, null]))

function toOracleRow(record: ArbitraryRecord, index: number): OracleRow {
  return {
    value: { ...nulls, ...(record as Record<string, Plain>), is_root: true },
    paginationKey: `p${String(index).padStart(20, '0')}`,
  }
}

function toObject(row: readonly { name: string; value: Plain }[]): Plain {
  return Object.fromEntries(row.map(({ name, value }) => [name, value]))
}
