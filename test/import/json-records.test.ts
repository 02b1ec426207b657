/** JSON lines and JSON arrays. */
import { expect, test } from 'vitest'
import { toUtf8 } from '../../src/import/encoding.ts'
import { jsonRecords } from '../../src/import/json-records.ts'
import { inChunks, readAll } from '../support/import-records.ts'

async function read(content: string | Uint8Array) {
  const whole = await readAll(jsonRecords(toUtf8(inChunks(content, 1 << 20))))
  for (const chunk of [1, 2, 5]) {
    expect(await readAll(jsonRecords(toUtf8(inChunks(content, chunk))))).toEqual(whole)
  }
  return whole
}

test('a record a line, of which a bad one spoils no other', async () => {
  expect(await read('{"a":1}\n\n{"b": "x\n"y"\n{"c":[1, {"d":null}], "e":null}')).toEqual([
    [1, { a: '1' }],
    [3, expect.stringContaining('not JSON')],
    [4, 'not a JSON object'],
    [5, { c: '[1, {"d":null}]' }],
  ])
})

test('numbers keep their digits, and names are data', async () => {
  const [[, values]] = (await read(
    '{"n":9007199254740993,"e":1e400,"d":0.10,"__proto__":{"x":1},"constructor":2,"é":"\\ud83e"}',
  )) as [[number, object]]
  expect(Object.entries(values)).toEqual([
    ['n', '9007199254740993'],
    ['e', '1e400'],
    ['d', '0.10'],
    ['__proto__', '{"x":1}'],
    ['constructor', '2'],
    ['é', '"\\ud83e"'],
  ])
})

test.each([
  ['UTF-8 with a mark', Buffer.from('\ufeff{"a":"é"}\n{"b":1}\n')],
  ['UTF-16 with a mark', Buffer.from('\ufeff{"a":"é"}\n{"b":1}\n', 'utf16le')],
  ['UTF-16, the high byte first', Buffer.from('\ufeff{"a":"é"}\n{"b":1}\n', 'utf16le').swap16()],
  ['UTF-16 without a mark', Buffer.from('{"a":"é"}\n{"b":1}\n', 'utf16le')],
])('%s', async (_, bytes) => {
  expect(await read(bytes)).toEqual([
    [1, { a: '"é"' }],
    [2, { b: '1' }],
  ])
})

test('what is not UTF-8 is told by line and byte', async () => {
  expect(await read(Buffer.from('{"a":"x"}\n{"a":"\xe9"}\n{"a":"y"}', 'latin1'))).toEqual([
    [1, { a: '"x"' }],
    [2, expect.stringContaining('not UTF-8 text: byte 0xe9 at place 7')],
    [3, { a: '"y"' }],
  ])
})

test('an array has a record in each element, on as many lines as it likes', async () => {
  const text = ' [\n  {\n    "a": "],}\\"",\n    "b": [1, 2]\n  },\n  {"c": 3}, 5\n]\n'
  expect(await read(text)).toEqual([
    [2, { a: '"],}\\""', b: '[1, 2]' }],
    [6, { c: '3' }],
    [6, 'not a JSON object'],
  ])
  expect(await read('[]')).toEqual([])
  expect(await read('[{"a":1},{"b":2}]')).toEqual([
    [1, { a: '1' }],
    [1, { b: '2' }],
  ])
})

test('a bad element spoils no other, and an array that is cut off is told', async () => {
  expect(await read('[{"a":1},\n{"b" 2},\n{"c":"open\n},\n{"d":4}')).toEqual([
    [1, { a: '1' }],
    [2, expect.stringContaining('not JSON')],
    [3, expect.stringContaining('not JSON')],
    [5, { d: '4' }],
    [5, 'the array ends here without a bracket'],
  ])
})

test('lines may follow an array, and objects may be spread over lines', async () => {
  expect(await read('[1]\n{"a":1}\n')).toEqual([
    [1, 'not a JSON object'],
    [2, { a: '1' }],
  ])
  expect(await read('{\n  "a": 1\n}\n{\n  "b": 2\n}\n')).toEqual([
    [1, { a: '1' }],
    [4, { b: '2' }],
  ])
})
