import { expect, test } from 'vitest'
import { formatTable } from '../../src/cli/table.ts'
import { parseExactJson } from '../../src/type/exact-json.ts'

function lines(columns: string[], rows: Record<string, unknown>[], width = 80) {
  return formatTable(columns, rows, width).split('\n')
}

test('columns are as wide as what they hold; numbers stand at the right', () => {
  const rows = [
    { name: 'a', n: 5 },
    { name: 'longer', n: 1234.5 },
    { name: null, n: null },
  ]
  expect(lines(['name', 'n'], rows)).toEqual([
    'name   │      n',
    '───────┼───────',
    'a      │      5',
    'longer │ 1234.5',
    '       │',
  ])
})

test('what does not fit is cut, the widest first', () => {
  const rows = [{ a: 'short', b: 'x'.repeat(100), c: 'y'.repeat(60) }]
  const table = lines(['a', 'b', 'c'], rows, 40)
  for (const line of table) expect(line.length).toBeLessThanOrEqual(40)
  expect(table[2]).toBe(`short │ ${'x'.repeat(13)}… │ ${'y'.repeat(13)}…`)
})

test('columns stay legible when there are too many', () => {
  const columns = Array.from({ length: 20 }, (_, index) => `column-${index}`)
  const row = Object.fromEntries(columns.map((column) => [column, 'x'.repeat(50)]))
  expect(lines(columns, [row], 40)[2]).toContain('xxxxxxx…')
})

test('values of any kind; control characters do nothing', () => {
  const row = { o: { a: [1] }, s: 'a\n\x1b[31mb', t: true, __proto__: null }
  expect(lines(['o', 's', 't', 'toString'], [row])[2]).toBe('{"a":[1]} │ a [31mb │ true │')
})

test('wide characters take two columns', () => {
  const table = lines(
    ['a', 'b'],
    [
      { a: '漢字', b: 'x' },
      { a: 'ab', b: 'y' },
    ],
  )
  expect(table.slice(2)).toEqual(['漢字 │ x', 'ab   │ y'])
})

test('fractions are shortened, whole numbers never', () => {
  const table = lines(['n'], [{ n: 1.1544499999999998 }, { n: 1e-9 / 3 }, { n: 9007199254740991 }])
  expect(table.slice(2).map((line) => line.trim())).toEqual([
    '1.15445',
    '3.333333e-10',
    '9007199254740991',
  ])
})

test('no rows, no columns', () => {
  expect(lines(['a'], [])).toEqual(['a', '─'])
  expect(lines([], [])).toEqual(['', ''])
})

test('numbers that a double would change are shown as they were written', () => {
  const rows = parseExactJson('[{"n":9007199254740993,"o":{"far":1e400}},{"n":1.10,"o":null}]')
  expect(lines(['n', 'o'], rows as Record<string, unknown>[])).toEqual([
    '               n │ o',
    '─────────────────┼──────────────',
    '9007199254740993 │ {"far":1e400}',
    '            1.10 │',
  ])
})
