/** What the query page makes of texts: pages of an answer, plots of rows, lines of code. */
import { describe, expect, test } from 'vitest'
import { choosePlot, kindsOf, plotData } from '../../src/ui/page/plot-data.ts'
import { nextPage, pagingOf } from '../../src/ui/page/query-page.ts'
import { columnsOf } from '../../src/ui/page/result-columns.ts'
import { parseExactly } from '../../src/ui/service/exact-json.ts'

describe('pages of a query', () => {
  test('of rows go on by cursor', () => {
    const paging = pagingOf("select: *\nfrom: project_logs('p')")
    expect(nextPage(paging)).toEqual({
      query: "select: *\nfrom: project_logs('p')\nlimit: 200",
      limit: 200,
    })
    expect(nextPage(paging, { count: 200, cursor: 'abc' })?.query).toBe(
      "select: *\nfrom: project_logs('p')\nlimit: 200\ncursor: 'abc'",
    )
  })

  test('of groups, which have no cursor, by offset', () => {
    const paging = pagingOf("measures: count(1)\ndimensions: id\nfrom: logs('p')\noffset: 10")
    expect(nextPage(paging, { count: 1000, cursor: undefined })?.query).toMatch(
      /limit: 1000\noffset: 1010$/,
    )
  })

  test("end at the query's own limit", () => {
    const paging = pagingOf("select: id\nfrom: logs('p')\nlimit: 450")
    expect(nextPage(paging, { count: 400, cursor: 'c' })?.limit).toBe(50)
    expect(nextPage(paging, { count: 450, cursor: 'c' })).toBeUndefined()
  })

  test('begin where the query begins', () => {
    const paging = pagingOf("select: id\nfrom: logs('p')\ncursor: 'own'")
    expect(nextPage(paging)?.query).toMatch(/cursor: 'own'$/)
    expect(nextPage(paging, { count: 200, cursor: 'next' })?.query).toMatch(/cursor: 'next'$/)
  })

  test('are one where the next could not fit to it', () => {
    const paging = pagingOf("select: id\nfrom: logs('p')\nsample: 10%")
    expect(nextPage(paging, { count: 200, cursor: 'c' })).toBeUndefined()
    const seeded = pagingOf("select: id\nfrom: logs('p')\nsample: 10% seed 1")
    expect(nextPage(seeded, { count: 200, cursor: 'c' })).toBeDefined()
  })

  test('of traces hold few of them, since each may be long', () => {
    expect(nextPage(pagingOf("select: *\nfrom: logs('p') traces"))?.limit).toBe(20)
  })
})

const rows = [
  { day: '2024-05-01T00:00:00Z', model: 'a', n: 2, id: 'x' },
  { day: '2024-05-01T00:00:00Z', model: 'b', n: 4, id: 'y' },
  { day: '2024-05-02T00:00:00Z', model: 'a', n: 6, id: null },
]
const schema = {
  items: { properties: { day: { type: 'string', format: 'date-time' }, model: {}, n: {}, id: {} } },
}

describe('a plot', () => {
  const kinds = kindsOf(columnsOf(schema, rows), rows)

  test('puts time along, numbers up, and divides by a name', () => {
    expect(Object.fromEntries(kinds)).toEqual({
      day: 'time',
      model: 'text',
      n: 'number',
      id: 'text',
    })
    const choice = choosePlot(kinds, rows, {})
    expect(choice).toEqual({ x: 'day', y: 'n', series: 'model', chart: 'line' })
    const { xs, lines, notes } = plotData(choice!, kinds, rows)
    expect(xs).toEqual([Date.parse('2024-05-01') / 1000, Date.parse('2024-05-02') / 1000])
    expect(lines).toEqual([
      { name: 'a', values: [2, 6] },
      { name: 'b', values: [4, null] },
    ])
    expect(notes).toEqual([])
  })

  test('makes bars of names, and says when a bar is a mean', () => {
    const choice = choosePlot(kinds, rows, { x: 'model', series: '' })!
    expect(choice).toMatchObject({ chart: 'bars', series: undefined })
    const { xs, lines, notes } = plotData(choice, kinds, rows)
    expect(xs).toEqual(['a', 'b'])
    expect(lines).toEqual([{ name: 'n', values: [4, 4] }])
    expect(notes).toEqual(['means of the rows that have the same place'])
  })

  test('is divided by nothing that it shows already', () => {
    expect(choosePlot(kinds, rows, { x: 'model', series: 'model' })?.series).toBe('id')
    expect(choosePlot(kinds, rows, { x: 'model', series: 'day' })?.series).toBe('day')
  })

  test('is none without numbers, and keeps to columns that there are', () => {
    const texts = [{ a: 'x' }, { a: 'y' }]
    expect(choosePlot(kindsOf(columnsOf(undefined, texts), texts), texts, {})).toBeUndefined()
    expect(choosePlot(kinds, rows, { x: 'gone', y: 'gone' })).toMatchObject({ x: 'day', y: 'n' })
  })
})

test('integers keep their digits', () => {
  const parsed = parseExactly('{"a":12345678901234567890,"b":[9007199254740991],"c":"1"}')
  const isExact = Number(process.versions.node.split('.')[0]) >= 21
  expect(parsed).toMatchObject({ b: [9007199254740991], c: '1' })
  if (isExact) expect(parsed).toMatchObject({ a: '12345678901234567890' })
})
