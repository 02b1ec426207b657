/**
 * Stored rows that come in any order are printed to the same bytes whether their fields are read from segments or from
 * the rows' own texts.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutputColumn } from '../../src/binder/bound.ts'
import { noRow } from '../../src/executor/column/row-choice.ts'
import { inferForm } from '../../src/executor/print/infer-form.ts'
import { printRows } from '../../src/executor/print/print.ts'
import type { RowForm } from '../../src/executor/print/row-form.ts'
import type { TaskStorage } from '../../src/executor/scan/row-run.ts'
import { openSegment } from '../../src/storage/segment/reader.ts'
import { type WrittenSegment, writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { VersionedRow } from '../../src/storage/shred/shred-keys.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { context, field, planOf } from '../support/scan-task.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

/** Each number as a client may write it. */
const number = fc.constantFrom(
  ...['0', '-0', '1', '1.0', '-2.50', '0.5', '0.05', '1e3', '1E-7', '0.1e1', '123456789012345'],
  ...['12345678901234567890', '-9007199254740993', '1e21', '1e400', '0.30000000000000004'],
)
const text = fc
  .constantFrom('', 'error', 'née', 'a\nb', '"x"', 'half \ud83d', 'long '.repeat(60))
  .map((some) => JSON.stringify(some))
const scalar = fc.oneof(number, text, fc.constantFrom('true', 'false', 'null'))
const mixed = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: scalar.map((inner) => `{"a":${inner}}`) },
  { weight: 1, arbitrary: scalar.map((inner) => `[${inner},1.0]`) },
)
/** Paths as they stand in a record, for each a value or none. */
const record = fc.record(
  { n: number, t: text, s: scalar, m: mixed, u: fc.uuid().map((id) => `"${id}"`) },
  { requiredKeys: [] },
)

const fields = [
  ...[['id'], ['created'], ['_xact_id'], ['_pagination_key'], ['project_id'], ['error']],
  ...[
    ['metadata', 'n'],
    ['metadata', 't'],
    ['metadata', 's'],
    ['metadata', 'm'],
  ],
  ...[
    ['metadata', 'm', 'a'],
    ['metadata', 'm', 0],
    ['metadata', 'u'],
    ['metadata', 'none'],
  ],
  ...[
    ['compared', 'id'],
    ['compared', 'created'],
    ['compared', 'output'],
    ['compared', 'metadata'],
  ],
]
const made = {
  kind: 'call',
  name: 'coalesce',
  arguments: [field('metadata', 's'), field('id')],
  type: 'json',
} as const
const columns: readonly OutputColumn[] = [
  ...fields.map((path) => ({ name: path.join('.'), expression: field(...path) })),
  { name: 'made', expression: made },
]
const kinds = ['json', 'csv', 'arrow'] as const

describe(`fields of stored rows, seed ${randomSeed}`, { timeout: 600_000 }, () => {
  it('are printed alike from segments and from rows', () => {
    let fewer = 0
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 30 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
        fc.nat(3),
        fc.subarray([...columns], { minLength: 1, maxLength: 5 }),
        (records, order, updates, output) => {
          StoredRows.during(records.map(textOf), { updates }, (stored) => {
            const relation = stored.relation(order)
            for (const kind of kinds) {
              const fromRows = stored.print(relation, kind, output, [])
              const read = stored.rowsRead
              expect(stored.print(relation, kind, output).equals(fromRows)).toBe(true)
              if (stored.rowsRead - read < read) fewer++
              stored.rowsRead = 0
            }
          })
        },
      ),
      { numRuns: isSlow ? 10_000 : 500, seed: randomSeed },
    )
    expect(fewer).toBeGreaterThan(100)
  })

  it('need no row that a segment has, as far as columns have them', () => {
    const records = Array.from({ length: 20 }, (_, n) => ({ n: `${n}.50`, t: '"some"' }))
    const ofRow = [['id'], ['created'], ['_xact_id'], ['metadata', 'n'], ['metadata', 't']]
    const plain = [...ofRow, ['compared', 'id'], ['compared', 'created']]
    const output = plain.map((path) => ({ name: path.join('.'), expression: field(...path) }))
    StoredRows.during(records.map(textOf), { areAllInSegment: true }, (stored) => {
      const relation = stored.relation([3, 1, 17, 1])
      const printed = stored.print(relation, 'json', output)
      expect(stored.rowsRead).toBe(0)
      expect(
        printed
          .toString()
          .match(/(?<="metadata.n":)[^,]*/g)!
          .slice(0, 4),
      ).toEqual([...['3.5', '1.5', '17.5', '1.5']])
      stored.print(relation, 'json', output, [])
      expect(stored.rowsRead).toBeGreaterThan(0)
    })
  })
})

function textOf(record: Readonly<Record<string, string>>, row: number): string {
  const members = Object.entries(record).map(([name, value]) => `"${name}":${value}`)
  const output = record.s ?? 'null'
  return `{"id":"row ${row}","output":${output},"metadata":{${members.join(',')}}}`
}

interface RowsOptions {
  /** How many of the first rows are written once more. */
  readonly updates?: number
  /** Whether all rows are in the first segment; else a third is in each of two, and the rest in none. */
  readonly areAllInSegment?: boolean
}

class StoredRows {
  rowsRead = 0
  readonly #records = new TemporaryRecords()
  readonly #versions: readonly VersionedRow[]
  readonly #segments: ReadonlyMap<number, WrittenSegment>

  constructor(texts: readonly string[], { updates = 0, areAllInSegment = false }: RowsOptions) {
    const insert = (some: readonly string[]) =>
      this.#records.insertText(Buffer.from(`{"events":[${some.join(',')}]}`))
    insert(texts)
    if (updates > 0) insert(texts.slice(0, updates))
    const found = [...this.#records.reader.readDelta(1, 0, 2 ** 48 - 2)]
    this.#versions = found.map(({ key, view }) => ({ object: 1, version: key, row: view }))
    const segments = new Map<number, WrittenSegment>()
    for (const segment of [1, 2]) {
      const isIn = (row: number) => (areAllInSegment ? segment === 1 : row % 3 === segment)
      const rows = this.#versions.filter((_, row) => isIn(row))
      if (rows.length === 0) continue
      segments.set(segment, writeSegment(shred(rows, { maximumValueBytes: 200 }), 1))
    }
    this.#segments = segments
  }

  /** In this order, again and again: columns are asked for many rows only. Compared with themselves, backwards. */
  relation(order: readonly number[]) {
    const { keys } = shred(this.#versions)
    const rows = Array.from({ length: 130 }, (_, i) => {
      return order[i % order.length]! % this.#versions.length
    })
    const list = (chosen: readonly number[]) => ({
      object: Int32Array.from(chosen, (row) => keys.object[row] ?? noRow),
      paginationTransaction: Float64Array.from(chosen, (row) => keys.paginationTransaction[row]!),
      paginationIndex: Int32Array.from(chosen, (row) => keys.paginationIndex[row]!),
      transaction: Float64Array.from(chosen, (row) => keys.transaction[row]!),
      index: Int32Array.from(chosen, (row) => keys.index[row]!),
    })
    return {
      rowCount: rows.length,
      rows: list(rows),
      // Some are compared with none.
      compared: list(rows.toReversed().map((row, i) => (i % 5 === 0 ? -1 : row))),
      groupColumns: [],
      fields: [],
    }
  }

  print(
    relation: ReturnType<StoredRows['relation']>,
    kind: (typeof kinds)[number],
    output: readonly OutputColumn[],
    among: readonly number[] = [1, 2],
  ): Buffer {
    const plan = planOf({
      stage: { kind: 'rows', carried: [] },
      output: { star: false, columns: output, preview: undefined },
    })
    const segments = among.filter((segment) => this.#segments.has(segment))
    const task = { plan, context, semiJoinSets: [], relation, segments }
    const storage = this.#storage()
    const open = output.map((column) => ({ ...column, type: undefined, isCoded: false }))
    const form: RowForm =
      kind === 'json'
        ? { kind, separator: '\n' }
        : inferForm({ ...task, form: { kind, columns: open, escapesFormulas: false } }, storage)
    return Buffer.from(printRows({ ...task, form }, storage, Number.POSITIVE_INFINITY).bytes)
  }

  static during(
    texts: readonly string[],
    options: RowsOptions,
    use: (stored: StoredRows) => void,
  ): void {
    const stored = new StoredRows(texts, options)
    try {
      use(stored)
    } finally {
      stored.#records.close()
    }
  }

  #storage(): TaskStorage {
    const { reader } = this.#records
    const records = new Proxy(reader, {
      get: (_, name) => {
        if (name === 'rowAt') this.rowsRead++
        const member = Reflect.get(reader, name, reader)
        return typeof member === 'function' ? member.bind(reader) : member
      },
    })
    const segmentOf = (segment: number) => this.#segments.get(segment)!
    const openMemtable = (): never => {
      throw new Error('there are no parts')
    }
    return {
      records,
      openSegment: (segment) => openSegment(segmentOf(segment).bytes, segmentOf(segment).metadata),
      segmentMetadata: (segment) => segmentOf(segment).metadata,
      openMemtable,
    }
  }
}
