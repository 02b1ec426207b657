import { describe, expect, it } from 'vitest'
import { writeExactJson } from '../../src/json/exact-number.ts'
import { preview } from '../../src/ui/component/format.ts'
import { parseExactly, parseRows } from '../../src/ui/service/exact-json.ts'

const numbers = ['12345678901234567890', '9007199254740993', '1e400', '1.10', '-0']

describe('what the page shows of JSON', () => {
  it.each(numbers)('has %s as it was written', (number) => {
    const text = `{"a":[${number},{"b":${number}}],"t":"${number}"}`
    const value = parseExactly(text)
    expect(writeExactJson(value)).toBe(text)
    expect(preview(value)).toBe(text)
    expect(preview(parseExactly(number))).toBe(number)
    expect(String(parseExactly(number))).toBe(number)
  })

  it('moves levels in as JSON.stringify does', () => {
    const usual = { a: [1, [], {}, { b: [2] }], c: null }
    const text = JSON.stringify(usual).replace('2', '2.0')
    expect(writeExactJson(parseExactly(text), '  ')).toBe(
      JSON.stringify(usual, undefined, 2).replace('2', '2.0'),
    )
  })

  it('tells values apart that doubles do not', () => {
    const [a, b] = ['{"n":9007199254740993}', '{"n":9007199254740992}'].map(parseExactly)
    expect(JSON.stringify(a)).not.toBe(JSON.stringify(b))
  })

  it('calculates with scores and metrics', () => {
    const answer = '{"data":[{"scores":{"x":0.50},"metrics":{"start":1.10},"input":1.10}]}'
    const { data } = parseRows(answer) as { data: readonly object[] }
    expect(data[0]).toMatchObject({ scores: { x: 0.5 }, metrics: { start: 1.1 } })
    expect(writeExactJson(data[0])).toContain('"input":1.10')
  })

  it('finds numbers outside of texts alone, and refuses what is no JSON', () => {
    const text = '{"a\\\\":"1.0, \\" 2.0","b":1.0,"c\\"1.0":[1.0,-1.0E2]}'
    expect(writeExactJson(parseExactly(text))).toBe(text)
    for (const wrong of ['[1.0', '[01.0]', '[1.0.0]', '[+1.0]', '{1.0:1}']) {
      expect(() => parseExactly(wrong), wrong).toThrow()
    }
  })
})
