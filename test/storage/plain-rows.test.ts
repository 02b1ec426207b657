/** Most rows are taken in by loops over many of them; all others, and the reference here, go one by one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import {
  type PrepareOptions,
  prepareRows,
  prepareTogether,
} from '../../src/storage/prepare/prepare.ts'
import { rowVersionKey } from '../../src/storage/record-key.ts'
import { rowBytes } from '../../src/storage/row/prepared-blocks.ts'
import type { PreparedRows } from '../../src/storage/row/prepared-rows.ts'
import { RowView } from '../../src/storage/row/row.ts'
import { packedBlock, RowBlock } from '../../src/storage/row/row-block.ts'
import { encodeBody } from '../../src/storage/row/row-block-body.ts'
import { defaultMaximumValueBytes } from '../../src/storage/shred/shred.ts'
import { choosePaths } from '../../src/storage/shred/shred-paths.ts'
import { shredPlainRows } from '../../src/storage/shred/shred-plain.ts'
import { RowShredder, type ShreddedColumns } from '../../src/storage/shred/shred-row.ts'
import { rowTexts } from '../support/arbitrary-row-text.ts'
import { packByOracle } from '../support/oracle-packer.ts'
import { versionedRow } from '../support/versioned-row.ts'

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const logs = { type: 'project_logs', id: 'P' } as const

/** Of rows with this member, which says nothing, each is prepared by itself. */
const apart = '"inputs":null'

const times = [
  '2024-02-29T07:08:09.120Z',
  '2024-05-31T07:08:09Z',
  '2024-05-06T07:08:09.000Z',
  '2024-05-06T07:08:09.000001Z',
  '2024-05-06T07:08:09.123456Z',
  '2024-05-06T07:08:09.123000Z',
  '1969-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00.001Z',
  '9999-12-31T23:59:59.999999Z',
  '2024-05-06T07:08:09.12Z',
  '2024-05-06 07:08:09',
  '2024-05-06T07:08:09+02:00',
]

/** Members that mean more than their text; those of a few may not be written. */
const members = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...times).map((time) => `"created":"${time}"`) },
  {
    weight: 40,
    arbitrary: fc.constantFrom(
      '"created" : null',
      '"root_span_id":"r"',
      '"root_span_id":null',
      '"span_parents":[]',
      '"span_parents":[ "p" , "q" ]',
      '"span_parents":null',
      '"tags":["a","é\\n"]',
      '"tags":null',
      '"metadata":{"model":"m", "deep":{"a":[{"b":1}],"c":{"d":2}}}',
      '"metadata":{}',
      '"metadata":null',
      '"scores":{"a":1, "b":null ,"c":true,"\\u0064":0.5}',
      '"scores":{}',
      '"_is_merge":false',
      '"_is_merge":true',
      '"_merge_paths":null',
      '"_object_delete":null',
      '"_xact_id":"7"',
      '"is_root":5',
      '"org_id":null',
      '"project_id":"P"',
      '"project_id":null',
      '"log_id":"g"',
      '"own":{"a":{"b":{}}}',
      '"\\u006fwn":2',
      '"output":"o"',
      '"expected":1',
      '"comment":"c"',
      '"origin":{"id":"x"}',
      '"error":"e"',
      '"error": null ',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"created":"2023-02-29T07:08:09.120Z"',
      '"created":"2024-05-06T24:08:09.120Z"',
      '"created":7',
      '"tags":["a",1]',
      '"tags":"a"',
      '"metadata":[]',
      '"scores":{"a":"b"}',
      '"scores":{"a":[]}',
      '"span_id":1',
      '"_merge_paths":false',
      '"project_id":"Q"',
      '"log_id":"x"',
    ),
  },
)

const ids = fc.oneof(
  fc.uuid().map((id) => `"${id}"`),
  fc.constantFrom('"a"', '"é"', '"a\\n"', 'null', '""'),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
)

const events = fc
  .tuple(rowTexts(), fc.array(fc.array(members, { maxLength: 5 })))
  .chain(([texts, extra]) =>
    fc.tuple(...texts.slice(0, 30).map(() => ids)).map((given) =>
      given.map((id, i) => {
        const others = [texts[i]!.slice(1, -1), ...(extra[i] ?? [])].filter((text) => text !== '')
        return [`"id" : ${id}`, '"span_id":"s"', ...others]
      }),
    ),
  )

function bodyOf(rows: readonly (readonly string[])[]): Buffer {
  return Buffer.from(`{"events":[ ${rows.map((row) => `{${row.join()}}`).join(' ,\n')} ]}`)
}

function outcome(body: Buffer, options: Partial<PrepareOptions> = { object: logs }): unknown {
  try {
    return described(prepareRows(body, { form: 'events', nowMs, ...options }))
  } catch (thrown) {
    if (thrown instanceof AssayError) return thrown.message
    throw thrown
  }
}

const generated = /^"?[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"?$/

function described(rows: PreparedRows): unknown {
  return {
    rows: rows.ids.map((id, i) => {
      const view = new RowView(rowBytes(rows, i))
      const fields = Array.from(view.fields(), ({ name, value }) => [
        name,
        view.bytes.toString('utf8', value.start, value.end),
      ])
      const { flags, createdMs, paginationKey, transaction, previous } = view
      const isMade = generated.test(id)
      return {
        id: isMade ? '' : id,
        // A merge keeps members that are null.
        fields: fields.filter(([name]) => name !== 'inputs' && !(isMade && name === 'id')),
        header: { flags, createdMs, paginationKey, transaction, previous },
      }
    }),
    numbers: rows.numbers,
    actions: rows.actions,
    objects: rows.objects,
    objectOf: rows.objectOf,
    controls: rows.controls,
    requestEnds: rows.requestEnds,
    fieldPaths: rows.fieldPaths.map((paths) => paths.map((path) => JSON.stringify(path)).sort()),
  }
}

describe('rows that are taken many at a time', () => {
  test('are what they are one by one', () => {
    fc.assert(
      fc.property(events, (rows) => {
        const byOne = bodyOf(rows.map((row) => [...row, apart]))
        expect(outcome(bodyOf(rows))).toEqual(outcome(byOne))
      }),
      { numRuns: 500 },
    )
  })

  test('belong to the objects that they name', () => {
    const naming = fc.constantFrom(
      ['"project_id":"P"', '"log_id":"g"'],
      ['"log_id":"g"', '"project_id":"P"'],
      ['"project_id":"Q"', '"log_id":"g"'],
      ['"project_id":"Q"', '"log_id":"p"'],
      ['"experiment_id":"E"', '"project_id":null'],
      ['"dataset_id":"D"', '"output":1'],
      ['"dataset_id":"D"', '"input":{"a":1}'],
      ['"experiment_id":"\\u0045"', '"own":1'],
    )
    const wrong = fc.constantFrom(['"project_id":"P"'], ['"log_id":"g"'], ['"project_id":7'])
    const names = fc.oneof({ weight: 60, arbitrary: naming }, { weight: 1, arbitrary: wrong })
    fc.assert(
      fc.property(fc.array(names, { maxLength: 100 }), (rows) => {
        const all = rows.map((row, i) => [`"id":"${i}"`, '"span_id":"s"', ...row])
        const byOne = bodyOf(all.map((row) => [...row, apart]))
        expect(outcome(bodyOf(all), {})).toEqual(outcome(byOne, {}))
      }),
    )
  })

  test('say when they were made, or else get the time of their request', () => {
    const request = (at: number) => ({
      body: bodyOf([['"id":"a"', '"span_id":"s"']]),
      options: { form: 'events', object: logs, nowMs: at } as const,
    })
    const { rows } = prepareTogether([request(nowMs), request(0)])
    const created = rows.ids.map((_, i) => {
      const view = new RowView(rowBytes(rows, i))
      return [view.createdMs, view.fieldText('created')]
    })
    expect(created).toEqual([
      [nowMs, '"2026-01-02T03:04:05.678Z"'],
      [0, '"1970-01-01T00:00:00Z"'],
    ])
  })

  test('have their fields told for each object of requests that go together', () => {
    const rows = Array.from({ length: 3 }, (_, i) => [
      `"id":"${i}"`,
      '"span_id":"s"',
      '"own":{"a":1}',
    ])
    const requests = ['P', 'Q', 'P'].map((id) => ({
      body: bodyOf(rows),
      options: { form: 'events', object: { type: 'project_logs', id }, nowMs } as const,
    }))
    const { objects, fieldPaths } = prepareTogether(requests).rows
    expect(objects.map(({ id }) => id)).toEqual(['P', 'Q'])
    expect(fieldPaths).toEqual([
      [['own'], ['own', 'a']],
      [['own'], ['own', 'a']],
    ])
  })

  test('may be many, with ever more names, and reach over what is looked at at once', () => {
    const text = 'x'.repeat(3000)
    const rows = Array.from({ length: 3200 }, (_, i) => [
      `"id":"${i}"`,
      '"span_id":"s"',
      `"name ${i}":{"n${i}":"${text}"}`,
    ])
    const byOne = bodyOf(rows.map((row) => [...row, apart]))
    for (let round = 0; round < 2; round++) {
      expect(outcome(bodyOf(rows))).toEqual(outcome(byOne))
    }
  })

  test('are not taken beyond the end of their list', () => {
    const row = '{"id":"a","span_id":"s"}'
    for (const end of [']', '', '}', '] ,', `${row}]}`]) {
      expect(outcome(Buffer.from(`{"events":[${row},${row}${end}`))).toMatch(/not JSON/)
    }
    const ending = Buffer.from(`{"events":[${row},${row},]}`)
    expect(outcome(ending)).toBe('events[2] must be an object')
  })
})

/** Fields that columns do not hold, or not all of them, and keys in more than one spelling. */
const unusualFields = fc.array(
  fc.constantFrom(
    '"metadata":{"model":"m","model":{"a":"b"},"deep":{"c":{"d":2},"c":"x"}}',
    '"metadata":{"\\u006dodel":"m","deep":{"\\u0061":1,"b\\n":2,"b\\u000a":3}}',
    '"metadata":{"model":"\\ud83e","rare":"a long text of the residual"}',
    `"metadata":{"model":${JSON.stringify('long '.repeat(30))},"deep":{"a":[1,2,3]}}`,
    `"input":${JSON.stringify('é"\n'.repeat(40))}`,
    `"input":[${'1,'.repeat(80)}2]`,
    '"output":{"a":1,"b":{"a":1},"a":2}',
    '"created":"0001-01-01T00:00:00.001Z"',
    '"created":"9999-12-31T23:59:59.999999Z"',
    '"created":"2024-05-06T07:08:09.123456Z"',
    '"rare":{"a":1,"a":2}',
    '"scores":{"a":0.5,"a":null}',
  ),
  { maxLength: 4 },
)

describe('columns of rows that are shredded many at a time', () => {
  test.each([defaultMaximumValueBytes, 64])('with values of up to %i bytes', (most) => {
    let left = 0
    fc.assert(
      fc.property(rowTexts(), fc.array(unusualFields), (texts, others) => {
        const all = storedRows(texts.map((text, i) => withFields(text, others[i] ?? [])))
        let end = 0
        const ends = all.map(({ length }) => (end += length))
        const viewAt = (row: number) => new RowView(all[row]!)
        const chosen = choosePaths([{ from: 0, to: all.length }], viewAt, undefined)
        // Others are for residuals.
        const paths = chosen.filter(({ key }) => key !== 'rare' && key !== 'input')
        const options = { fields: undefined, maximumValueBytes: most }
        const shredder = new RowShredder(all.length, paths, options)
        for (let row = 0; row < all.length; row++) shredder.add(row, viewAt(row))
        const starts = [0, ...ends.slice(0, -1)]
        const shredded = shredPlainRows(Buffer.concat(all), starts, ends, paths, most)!
        const right = shredder.finish()
        if (right.paths.columns([])?.stored) left++
        expect(flat(shredded, all.length)).toEqual(flat(right, all.length))
      }),
      { numRuns: 500 },
    )
    // Of some, a whole row is left to the row store.
    expect(left > 0).toBe(most === 64)
  })
})

/** With more fields, of which the last of each name is kept. */
function withFields(text: string, fields: readonly string[]): string {
  return `{${[text.slice(1, -1), ...fields].filter((part) => part !== '').join()}}`
}

test('columns of rows whose residuals have many names', () => {
  // In turns of different lengths, so that one object after the other has most of the names.
  const texts = Array.from({ length: 4000 }, (_, i) => {
    const rare = (name: string, every: number) => (i % every === 0 ? `,"${name} ${i}":${i}` : '')
    return `{"id":"${i}","a":{"x":1${rare('a', 3)}},"b":{"y":2${rare('b', 1 + (i >> 9))}},"c":{"z":3${rare('c', 50)}}${rare('top', 1000)}}`
  })
  const all = storedRows(texts)
  let end = 0
  const ends = all.map(({ length }) => (end += length))
  const viewAt = (row: number) => new RowView(all[row]!)
  const paths = choosePaths([{ from: 0, to: all.length }], viewAt, undefined)
  const shredder = new RowShredder(all.length, paths, {
    fields: undefined,
    maximumValueBytes: defaultMaximumValueBytes,
  })
  for (let row = 0; row < all.length; row++) shredder.add(row, viewAt(row))
  const starts = [0, ...ends.slice(0, -1)]
  const whole = Buffer.concat(all)
  const shredded = shredPlainRows(whole, starts, ends, paths, defaultMaximumValueBytes)!
  expect(flat(shredded, all.length)).toEqual(flat(shredder.finish(), all.length))
  const wholly = shredded.residualPaths.filter(({ length }) => length === 1).sort()
  expect(wholly).toEqual([['a'], ['b'], ['top 0'], ['top 1000'], ['top 2000'], ['top 3000']])
})

/** Each as the row store has it. */
function storedRows(texts: readonly string[]): Buffer[] {
  return texts.map((text) => versionedRow(text).row.bytes)
}

/** By path, as plain arrays. */
function flat({ paths, residual, residualPaths }: ShreddedColumns, rowCount: number): unknown {
  const plain = (value: unknown): unknown => {
    if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array)
    if (typeof value !== 'object' || value === null) return value
    if ('between' in value) {
      return plain(
        (value as { between(from: number, to: number): Int32Array }).between(0, rowCount),
      )
    }
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, plain(of)]))
  }
  const ofPaths = [[], ...paths.pathsBelow([])].map((path) => {
    return [path.join('\n'), plain(paths.columns(path))] as const
  })
  return {
    paths: Object.fromEntries(ofPaths),
    residual: plain(residual),
    residualPaths: residualPaths.map((path) => path.join('\n')).sort(),
  }
}

test('blocks of rows that are packed many at a time are what they are one by one', () => {
  const identifiers = fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
    fc.uuid().map((id) => id.replaceAll('-', '')),
    fc.stringMatching(/^[0-9a-f]{14,40}$/),
    fc.stringMatching(/^[0-9a-fg-]{36}$/),
    fc.string({ unit: 'binary' }),
  )
  const row = fc.dictionary(fc.constantFrom('a', 'bb', 'ccc', 'é'), identifiers)
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), fc.nat(), (fields, seed) => {
      const rows = storedRows(
        fields.map((of, i) => {
          const entries = Object.entries(of)
          const turned = (seed >> (i % 20)) % 2 === 0 ? entries : entries.reverse()
          return JSON.stringify(Object.fromEntries(turned))
        }),
      )
      const [packed, expected] = [encodeBody(rows), packByOracle(rows)]
      expect(packed.head.equals(expected.head)).toBe(true)
      expect(Buffer.from(packed.members).equals(Buffer.from(expected.members))).toBe(true)
      expect(Array.from(packed.ends)).toEqual(expected.ends)
    }),
  )
})

test('blocks of rows of many shapes, of wide and of large ones give their rows back', () => {
  const wide = (count: number) =>
    Array.from({ length: count }, (_, i) => [`f${(i * 7919) % count}`, i])
  const shapes = Array.from({ length: 700 }, (_, i) => ({ [`s${i}`]: i, a: 'b' }))
  const packed = storedRows(
    [...shapes, Object.fromEntries(wide(1000))].map((row) => JSON.stringify(row)),
  )
  const [body, expected] = [encodeBody(packed), packByOracle(packed)]
  expect(body.head.equals(expected.head)).toBe(true)
  expect(Buffer.from(body.members).equals(expected.members)).toBe(true)
  const large = [{ a: 1, text: 'x'.repeat(3 * 2 ** 20) }, Object.fromEntries(wide(5000))]
  for (const row of large) {
    const [stored] = storedRows([JSON.stringify(row)])
    const version = { transaction: 1000, index: 0 }
    const key = rowVersionKey(1, version)
    const block = new RowBlock(key, packedBlock(key, [version], [stored!]), undefined)
    expect(block.rowAt(0)?.bytes.equals(stored!)).toBe(true)
  }
})
