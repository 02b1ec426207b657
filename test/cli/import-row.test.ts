import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { openFile } from '../../src/cli/file-source.ts'
import { readRow } from '../../src/cli/import-row.ts'
import { readRecord } from '../../src/import/json-records.ts'

const directory = mkdtempSync(join(tmpdir(), 'assay-import-'))
afterAll(() => rmSync(directory, { recursive: true }))

function source(content: string | Buffer, name = 'a.jsonl') {
  const path = join(directory, name)
  writeFileSync(path, content)
  return openFile(path)
}

async function linesOf(content: string | Buffer) {
  const lines: unknown[] = []
  for await (const { record } of source(content).records(undefined, () => undefined)) {
    lines.push([record.line, 'fault' in record ? record.fault : record.text])
  }
  return lines
}

function rowOf(text: string | Buffer, number = 1) {
  return readRow(source(''), readRecord(Buffer.from(text), number))
}

test('lines are numbered from 1; the last needs no line break, and blank ones are none', async () => {
  expect(await linesOf('{"a":1}\n\n{"b":2}\r\n \t\r\n{"c":3}')).toEqual([
    [1, '{"a":1}'],
    [3, '{"b":2}\r'],
    [5, '{"c":3}'],
  ])
  expect(await linesOf('')).toEqual([])
  expect(await linesOf('{}\n')).toEqual([[1, '{}']])
})

test('lines of any length, plain and gzip', async () => {
  const long = JSON.stringify({ a: 'é'.repeat(1_000_000) })
  const content = `${long}\n{}\n${long}`
  const expected = [
    [1, long],
    [2, '{}'],
    [3, long],
  ]
  expect(await linesOf(content)).toEqual(expected)
  expect(await linesOf(gzipSync(content))).toEqual(expected)
  expect(await linesOf(Buffer.concat([gzipSync(content), gzipSync('\n{"more":1}')]))).toEqual([
    ...expected,
    [4, '{"more":1}'],
  ])
})

test('a broken gzip file throws', async () => {
  await expect(linesOf(gzipSync('x'.repeat(100_000)).subarray(0, 50))).rejects.toThrow()
})

test('what is not a file is named', () => {
  expect(() => openFile(join(directory, 'none'))).toThrow('there is no file')
  expect(() => openFile(directory)).toThrow('is a directory')
})

test('a file is what its name says, or else what it begins with', () => {
  const units = (content: string, name: string) => source(content, name).unit
  expect(units('{"a":1}', 'a.parquet')).toBe('row')
  expect(source('a,b', 'a.csv.gz').isTable).toBe(true)
  expect(source('{"a":1}', 'a.txt').isTable).toBe(false)
  expect(source('\ufeff [', 'data').isTable).toBe(false)
  expect(source('a;b\n', 'data').isTable).toBe(true)
  expect(units('PAR1', 'data')).toBe('row')
  expect(units('ARROW1', 'data')).toBe('row')
})

test('a record with an id goes as it is, byte for byte', () => {
  const text = '{ "id" : "x", "n": 12345678901234567890, "n": 1.0, "e": 1e400, "__proto__": 1 }\r'
  const row = rowOf(text)
  expect(row).toMatchObject({ id: 'x', line: 1 })
  expect(row.bytes.toString()).toBe(text)
})

test('a record without an id gets one, always the same', () => {
  const first = rowOf('{"a":12345678901234567890}')
  expect(first.bytes.toString()).toBe(`{"a":12345678901234567890,"id":"${first.id}"}`)
  expect(rowOf('{"a":12345678901234567890}').id).toBe(first.id)
  expect(rowOf('{"a":12345678901234567890}', 2).id).not.toBe(first.id)
  expect(rowOf('{"a":1}').id).not.toBe(first.id)
  const empty = rowOf(' { } ')
  expect(JSON.parse(empty.bytes.toString())).toEqual({ id: empty.id })
  const nothing = rowOf('{"id":null,"b":"}"}')
  expect(JSON.parse(nothing.bytes.toString())).toEqual({ id: nothing.id, b: '}' })
})

test('a number is an id, with all its digits', () => {
  expect(rowOf('{"id": 7, "n": 1e400}').bytes.toString()).toBe('{"id":"7","n":1e400}')
  expect(rowOf('{"id": 9007199254740993}').id).toBe('9007199254740993')
})

test('what a record was where it comes from stays there; the rest keeps its text', () => {
  const text =
    '{"id":"x","project_id":"p","org_id":"o","dataset_id":"d","_xact_id":"1000","is_root":true,' +
    '"_pagination_key":"p1","span_id":"s","span_parents":["r"],"input":null,' +
    '"metadata":{"n":0.1000,"big":123456789012345678901234567890,"__proto__":{"constructor":1}}}'
  expect(rowOf(text).bytes.toString()).toBe(
    '{"id":"x","span_id":"s","span_parents":["r"],' +
      '"metadata":{"n":0.1000,"big":123456789012345678901234567890,"__proto__":{"constructor":1}}}',
  )
})

test.each([
  ['[1]', 'not a JSON object'],
  ['3', 'not a JSON object'],
  ['null', 'not a JSON object'],
  ['{"a":', 'JSON'],
  ['{"a":1}x', 'JSON'],
  ['{"id":true}', 'its "id" is neither a text nor a number'],
])('%s is refused', (text, reason) => {
  expect(() => rowOf(text)).toThrow(reason)
})

test('text that is not UTF-8 is refused', () => {
  expect(() => rowOf(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow(
    'not UTF-8 text: byte 0xff at place 2',
  )
})
