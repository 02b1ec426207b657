import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { openFile } from '../../src/cli/file-source.ts'
import { readRow } from '../../src/cli/import-row.ts'

const directory = mkdtempSync(join(tmpdir(), 'assay-import-'))
afterAll(() => rmSync(directory, { recursive: true }))

function source(content: string | Buffer, name = 'a.jsonl') {
  const path = join(directory, name)
  writeFileSync(path, content)
  return openFile(path)
}

async function linesOf(content: string | Buffer) {
  const lines = []
  for await (const { number, bytes } of source(content).lines(undefined, () => undefined)) {
    lines.push([number, bytes.toString()])
  }
  return lines
}

function rowOf(text: string | Buffer, number = 1) {
  return readRow(source(''), { number, bytes: Buffer.from(text) })
}

test('lines are numbered from 1; the last needs no line break', async () => {
  expect(await linesOf('a\n\nb\r\nc')).toEqual([
    [1, 'a'],
    [2, ''],
    [3, 'b\r'],
    [4, 'c'],
  ])
  expect(await linesOf('')).toEqual([])
  expect(await linesOf('a\n')).toEqual([[1, 'a']])
})

test('lines of any length, plain and gzip', async () => {
  const long = 'é'.repeat(1_000_000)
  const content = `${long}\nshort\n${long}`
  const expected = [
    [1, long],
    [2, 'short'],
    [3, long],
  ]
  expect(await linesOf(content)).toEqual(expected)
  expect(await linesOf(gzipSync(content))).toEqual(expected)
  expect(await linesOf(Buffer.concat([gzipSync(content), gzipSync('\nmore')]))).toEqual([
    ...expected,
    [4, 'more'],
  ])
})

test('a broken gzip file throws', async () => {
  await expect(linesOf(gzipSync('x'.repeat(100_000)).subarray(0, 50))).rejects.toThrow()
})

test('what is not a file is named', () => {
  expect(() => openFile(join(directory, 'none'))).toThrow('there is no file')
  expect(() => openFile(directory)).toThrow('is a directory')
})

test('a record with an id goes as it is, byte for byte', () => {
  const text = '{ "id" : "x", "n": 12345678901234567890, "n": 1.0, "__proto__": 1 }\r'
  const row = rowOf(text)
  expect(row).toMatchObject({ id: 'x', line: 1 })
  expect(row!.bytes.toString()).toBe(text)
})

test('a record without an id gets one, always the same', () => {
  const first = rowOf('{"a":12345678901234567890}')!
  expect(first.bytes.toString()).toBe(`{"a":12345678901234567890,"id":"${first.id}"}`)
  expect(rowOf('{"a":12345678901234567890}')!.id).toBe(first.id)
  expect(rowOf('{"a":12345678901234567890}', 2)!.id).not.toBe(first.id)
  expect(rowOf('{"a":1}')!.id).not.toBe(first.id)
  const empty = rowOf(' { } ')!
  expect(JSON.parse(empty.bytes.toString())).toEqual({ id: empty.id })
  const nothing = rowOf('{"id":null,"b":"}"}')!
  expect(JSON.parse(nothing.bytes.toString())).toEqual({ id: nothing.id, b: '}' })
})

test('a blank line is no row', () => {
  expect(rowOf('')).toBeUndefined()
  expect(rowOf(' \t\r')).toBeUndefined()
})

test.each([
  ['[1]', 'not a JSON object'],
  ['3', 'not a JSON object'],
  ['null', 'not a JSON object'],
  ['{"a":', 'JSON'],
  ['{"id":3}', 'its "id" is not a string'],
])('%s is refused', (text, reason) => {
  expect(() => rowOf(text)).toThrow(reason)
})

test('text that is not UTF-8 is refused', () => {
  expect(() => rowOf(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow('not UTF-8')
})
