/** Answers as pyarrow, pandas and polars read them, in Arrow and in Parquet. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PythonEnvironment, pythonMissing } from '../../support/python-environment.ts'
import { RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let python: PythonEnvironment

interface Read {
  readonly types: Readonly<Record<string, string>>
  readonly rows: readonly (readonly unknown[])[]
}

/** By reader and format. */
async function read(query: string): Promise<Record<string, Read>> {
  return await python.run('readers.py', {
    BRAINTRUST_API_URL: service.url,
    BRAINTRUST_API_KEY: testKey,
    QUERY: query,
  })
}

describe.skipIf(pythonMissing)('readers of Python', () => {
  beforeAll(async () => {
    service = await RunningService.start()
    python = await PythonEnvironment.prepare('requirements-readers.txt')
  }, 600_000)
  afterAll(() => service.stop())

  const rows = [
    `{"id": "1", "created": "2026-01-02T03:04:05.123456Z", "input": {"deep": [1, {"😀": null}]},
      "tags": ["a", "😀"], "metadata": {"big": 9007199254740993, "huge": 18446744073709551617,
      "mixed": 1, "yes": true, "share": 0.1, "name": "tab\\t, \\"quote\\" 😀 \\u0000"}}`,
    `{"id": "2", "created": "1969-12-31T23:59:59.999999Z", "input": "text", "tags": [],
      "metadata": {"big": -9223372036854775808, "huge": 1, "mixed": "1", "share": -0.0, "name": ""}}`,
    `{"id": "3", "created": "9999-12-31T23:59:59.999999Z", "input": 9007199254740993,
      "metadata": {"big": 9223372036854775807, "mixed": {"a": [1.5]}, "yes": false, "share": 1e300}}`,
    `{"id": "4", "created": "2026-01-02T03:04:05Z"}`,
  ]
  const columns = `id, created, input, tags, metadata.big as big, metadata.huge as huge,
    metadata.mixed as mixed, metadata.yes as yes, metadata.share as share, metadata.name as name`
  const expected = [
    [
      '1',
      '2026-01-02T03:04:05.123456+00:00',
      '{"deep":[1,{"😀":null}]}',
      ['a', '😀'],
      '9007199254740993',
      '18446744073709551617',
      '1',
      'True',
      '0.1',
      'tab\t, "quote" 😀 \0',
    ],
    [
      '2',
      '1969-12-31T23:59:59.999999+00:00',
      '"text"',
      [],
      '-9223372036854775808',
      '1',
      '"1"',
      null,
      '-0.0',
      '',
    ],
    [
      '3',
      '9999-12-31T23:59:59.999999+00:00',
      '9007199254740993',
      null,
      '9223372036854775807',
      null,
      '{"a":[1.5]}',
      'False',
      '1e+300',
      null,
    ],
    ['4', '2026-01-02T03:04:05.000000+00:00', null, null, null, null, null, null, null, null],
  ]

  test('every value is as it was written', async () => {
    const id = await service.project('values')
    const { status, text } = await service.request(`/v1/project_logs/${id}/insert`, {
      body: `{"events": [${rows.join(',')}]}`,
    })
    expect(status, text).toBe(200)
    const all = await read(`select: ${columns} | from: project_logs('${id}') | sort: id`)
    for (const [reader, { types, rows }] of Object.entries(all)) {
      expect(rows, reader).toEqual(expected)
      expect(types.created, reader).toMatch(/timestamp|datetime/i)
      expect(types.big, reader).toMatch(/int64/i)
      expect(types.share, reader).toMatch(/double|float64/i)
    }
  })

  test('groups, counts and times of buckets', async () => {
    const id = await service.project('groups')
    const events = Array.from({ length: 5000 }, (_, i) => ({
      id: `r${i}`,
      created: new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString(),
      metadata: { model: i % 3 === 0 ? null : `model ${i % 3} 😀`, n: i },
    }))
    await service.insert('project_logs', id, events)
    const all = await read(
      `dimensions: metadata.model as model, hour(created) as hour
       | measures: count(1) as n, sum(metadata.n) as total, avg(metadata.n) as mean, max(created) as last
       | from: project_logs('${id}') | sort: model, hour`,
    )
    const [first, ...others] = Object.values(all)
    expect(first!.rows).toHaveLength(6)
    for (const other of others) expect(other.rows).toEqual(first!.rows)
    const total = first!.rows.reduce((sum, row) => sum + Number(row[2]), 0)
    expect(total).toBe(5000)
  })

  test('an answer of no rows has its columns', async () => {
    const id = await service.project('nothing')
    const all = await read(`select: id, created, input | from: project_logs('${id}')`)
    for (const [reader, { types, rows }] of Object.entries(all)) {
      expect(Object.keys(types), reader).toEqual(['id', 'created', 'input'])
      expect(rows, reader).toEqual([])
    }
  })
})
