import { expect, test } from 'vitest'
import { prepareRows } from '../../src/storage/prepare/prepare.ts'
import { RecordWriter } from '../../src/storage/write/record-writer.ts'
import type { ObjectReference } from '../../src/type/record.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const experiment: ObjectReference = { type: 'experiment', id: 'E' }

/** Paths that rows of one object tell, as texts. */
function pathsOf(rows: readonly object[], object = experiment): string[] {
  const body = Buffer.from(JSON.stringify({ events: rows }))
  const { fieldPaths } = prepareRows(body, { form: 'events', object, nowMs: 0 })
  return (fieldPaths[0] ?? []).map((path) => path.join('.'))
}

/** The same of what is stored. */
function storedPaths(records: TemporaryRecords, object = 1): string[] {
  const paths = records.reader.fieldPaths(object)
  return paths.map((path) => path.join('.')).sort()
}

test('fields are known to a depth of three names, and those of arrays are not', () => {
  const rows = [
    { metadata: { model: 'm', user: { name: 'a', address: { city: 'c' } } } },
    { input: { messages: [{ role: 'user' }], topic: null }, output: [{ text: 'x' }] },
    { scores: { accuracy: 1 }, span_attributes: { name: 's' }, tags: [], error: 'text' },
  ]
  expect(pathsOf(rows)).toEqual([
    'metadata.model',
    'metadata.user',
    'metadata.user.name',
    'metadata.user.address',
    'input.messages',
    'input.topic',
    'scores.accuracy',
    'span_attributes.name',
  ])
})

test('rows of other shapes add what is new in them', () => {
  const rows = [
    { metadata: { a: 1, b: { c: 1 } } },
    { metadata: { b: { c: 2 }, a: 2 } },
    { metadata: { 'a"': 1, b: 3, '\u00e9': 0 } },
    { metadata: {} },
    { metadata: { b: { d: { c: 1 } } } },
  ]
  expect(pathsOf(rows)).toEqual([
    'metadata.a',
    'metadata.b',
    'metadata.b.c',
    'metadata.a"',
    'metadata.é',
    'metadata.b.d',
  ])
})

test('fields that are renamed are known by the name that they are stored under', () => {
  expect(pathsOf([{ inputs: { a: 1 } }])).toEqual(['input.a'])
  expect(pathsOf([{ output: { a: 1 } }])).toEqual(['output.a'])
  expect(pathsOf([{ output: { a: 1 } }], { type: 'dataset', id: 'D' })).toEqual(['expected.a'])
})

test('comments and deletions have no fields', () => {
  const comment = { id: 'c', origin: { id: 'r' }, comment: { text: 'x' } }
  expect(pathsOf([comment, { id: 'r', _object_delete: true, metadata: { a: 1 } }])).toEqual([])
})

test('names that are data do not grow without end', () => {
  const row = (i: number) => ({
    metadata: { [`k${i}`]: 1, deep: { [`k${i}`]: 1 } },
    [`top${i}`]: i,
  })
  const rows = Array.from({ length: 5000 }, (_, i) => row(i))
  const found = pathsOf([...rows, { metadata: { ['x'.repeat(201)]: 1 } }])
  expect(found.filter((path) => path.startsWith('top'))).toHaveLength(5000)
  expect(found.filter((path) => path.startsWith('metadata.deep.'))).toHaveLength(499)
  expect(found.filter((path) => path.startsWith('metadata.'))).toHaveLength(2000)

  const records = new TemporaryRecords()
  for (let from = 0; from < 5000; from += 1000) records.insert(rows.slice(from, from + 1000))
  const stored = storedPaths(records)
  expect(stored.filter((path) => path.startsWith('top'))).toHaveLength(5000)
  expect(stored.filter((path) => path.startsWith('metadata.'))).toHaveLength(2000)
})

test('a write tells which objects have fields that they did not have', () => {
  const records = new TemporaryRecords()
  const newFields = (rows: readonly object[], object = 1) => {
    const outcome = records.insert(rows, object)
    return 'written' in outcome ? outcome.written.newFields : undefined
  }
  expect(newFields([{ metadata: { a: 1 } }])).toEqual([1])
  expect(newFields([{ metadata: { a: 2 } }])).toEqual([])
  expect(newFields([{ metadata: { a: 2 } }], 2)).toEqual([2])
  expect(newFields([{ metadata: { a: { b: 1 } } }])).toEqual([1])
  expect(storedPaths(records)).toEqual(['metadata.a', 'metadata.a.b'])
  expect(storedPaths(records, 2)).toEqual(['metadata.a'])
})

test('a write that fails leaves no fields behind, and the next one finds them new', () => {
  const records = new TemporaryRecords()
  const prepared = (object: number) => ({
    rows: prepareRows(Buffer.from('{"events":[{"extra":1}]}'), {
      form: 'events',
      object: experiment,
      nowMs: 0,
    }),
    objectNumbers: [object],
  })
  const [good, bad] = records.writer.write([prepared(1), prepared(-1)])
  expect(bad).toHaveProperty('error')
  expect(good).toMatchObject({ written: { newFields: [1] } })
  expect(storedPaths(records)).toEqual(['extra'])
})

test('fields of rows that were written before they were kept are found again', async () => {
  const records = new TemporaryRecords()
  records.insert([{ metadata: { a: { b: 1 } }, extra: { x: 1 } }, { scores: { s: 1 } }])
  records.insert([{ input: { y: 1 } }], 2)
  const { fieldPaths } = records.environment
  for (const key of [...fieldPaths.getKeys()]) fieldPaths.removeSync(key)
  expect(storedPaths(records)).toEqual([])

  const writer = new RecordWriter(records.environment)
  const nested = (object: number) =>
    storedPaths(records, object).filter((path) => path.includes('.'))
  expect(nested(1)).toEqual(['extra.x', 'metadata.a', 'metadata.a.b', 'scores.s'])
  expect(nested(2)).toEqual(['input.y'])
  expect(records.reader.fieldPaths(1)).toContainEqual(['extra'])
  expect(writer.write([])).toEqual([])
})

test('fields are found again of rows of more shapes than are kept, and of any number of fields', () => {
  const records = new TemporaryRecords()
  const many = (of: string) => Object.fromEntries(Array.from({ length: 90 }, (_, i) => [of + i, i]))
  // Each shape has names that all others have, and one of its own.
  const rows = Array.from({ length: 120 }, (_, i) => ({
    metadata: { ...many('m'), [`own${i}`]: { in: i } },
    [`top${i % 7}`]: i % 2 === 0 ? { [`t${i}`]: 1 } : 'a text, "{}"',
  }))
  for (let from = 0; from < rows.length; from += 40) records.insert(rows.slice(from, from + 40))
  records.insert([{ metadata: { last: 1 } }])
  records.insert([{ metadata: { other: 1 } }, { metadata: { m0: 1 } }], 2)
  const nested = (object: number) =>
    storedPaths(records, object).filter((path) => path.includes('.'))
  const before = [nested(1), nested(2)]
  expect(before[0]).toHaveLength(90 + 120 + 120 + 60 + 1)
  const { fieldPaths } = records.environment
  for (const key of [...fieldPaths.getKeys()]) fieldPaths.removeSync(key)
  new RecordWriter(records.environment)
  expect([nested(1), nested(2)]).toEqual(before)
})
