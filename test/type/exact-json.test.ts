import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromPlainJson,
  parseExactJson,
  toPlainJson,
  writeExactJson,
} from '../../src/type/exact-json.ts'

const odd = [
  '9007199254740993',
  '12345678901234567890',
  '1e400',
  '-1E-400',
  '1.10',
  '-0',
  '1.0',
  '1e2',
]

describe('JSON with exact numbers', () => {
  it.each([...odd, '0', '-1.5', '1e+21', '5e-324'])('gives %s as it came', (number) => {
    for (const text of [
      number,
      `[${number}]`,
      `{"a":{"b":[1,${number},"${number}"]},"__proto__":${number},"constructor":{"x":${number}}}`,
    ]) {
      expect(writeExactJson(parseExactJson(text))).toBe(text)
    }
  })

  it('has usual numbers as numbers', () => {
    expect(parseExactJson(' {"a": 1, "b": [0.5, -3e-7], "c": "1.10"} ')).toEqual({
      a: 1,
      b: [0.5, -3e-7],
      c: '1.10',
    })
  })

  it('writes what JSON.stringify writes where there are no exact numbers', () => {
    const values = fc.jsonValue({ noUnicodeString: false })
    fc.assert(fc.property(values, (value) => writeExactJson(value) === JSON.stringify(value)))
    const given = { a: undefined, b: [undefined], d: new Date(0) }
    expect(writeExactJson(given)).toBe(JSON.stringify(given))
    expect(writeExactJson({ ...given, n: parseExactJson('1.0') })).toBe(
      '{"b":[null],"d":"1970-01-01T00:00:00.000Z","n":1.0}',
    )
  })

  it('keeps halves of surrogate pairs beside exact numbers', () => {
    const text = '["\\ud83e","😀",1.0]'
    expect(writeExactJson(parseExactJson(text))).toBe(text)
    expect(writeExactJson(parseExactJson(`["\ud83e","😀",1.0]`))).toBe(text)
  })

  it.each(['', '{', '[1.0', '{"a":1.0,}', '01.0', '1.0 x'])('refuses %s', (text) => {
    expect(() => parseExactJson(text)).toThrow()
  })

  it('has doubles for what knows nothing else, and takes its numbers and names again', () => {
    const exact = parseExactJson('{"n":1.10,"__proto__":{"m":[1e400,2]},"__proto__ ":3,"s":"A"}')
    const plain = toPlainJson(exact)
    expect(plain).toEqual({ n: 1.1, '__proto__ ': { m: [Infinity, 2] }, '__proto__  ': 3, s: 'A' })
    const made = { ...(plain as object), s: 'a' }
    expect(writeExactJson(fromPlainJson(made, exact))).toBe(
      '{"n":1.10,"__proto__":{"m":[1e400,2]},"__proto__ ":3,"s":"a"}',
    )
    const usual = parseExactJson('{"a":[1,{"b":2}]}')
    expect(toPlainJson(usual)).toBe(usual)
  })
})
