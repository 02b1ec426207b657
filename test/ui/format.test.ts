/** One place writes numbers, costs, lengths and moments as people read them, and each of them one way. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  bytes,
  change,
  compact,
  cost,
  counted,
  duration,
  growth,
  kappa,
  mean,
  meanChange,
  number,
  points,
  preview,
  score,
  share,
  time,
} from '../../src/ui/component/format.ts'

test.each<[number, string]>([
  [0, '0 ms'],
  [0.00012, '0.12 ms'],
  [0.0034, '3.4 ms'],
  [0.00996, '10 ms'],
  [0.042, '42 ms'],
  [0.9994, '999 ms'],
  [0.9996, '1.00 s'],
  [2.5, '2.50 s'],
  [9.996, '10.0 s'],
  [59.94, '59.9 s'],
  [59.96, '1 min'],
  [75, '1 min 15 s'],
  [119.7, '2 min'],
  [300, '5 min'],
  [3599.6, '1 h'],
  [7260, '2 h 1 min'],
  [86_399, '1 d'],
  [100_000, '1 d 4 h'],
  [-2.5, '−2.50 s'],
])('%d seconds are %s', (seconds, shown) => {
  expect(duration(seconds)).toBe(shown)
})

test.each<[number, string]>([
  [0, '$0'],
  [0.0001, '$0.00010'],
  [0.00000123, '$0.0000012'],
  [0.0083, '$0.0083'],
  [0.0109, '$0.011'],
  [0.5, '$0.50'],
  [0.996, '$1.00'],
  [10.62, '$10.62'],
  [1234.5, '$1,234.50'],
  [-0.02, '−$0.020'],
])('%d dollars are %s', (dollars, shown) => {
  expect(cost(dollars)).toBe(shown)
})

test.each<[string, string]>([
  ['a text', 'a text'],
  ['{"question":"Who?","locale":"en"}', 'Who?'],
  ['[{"role":"system","content":"Be brief."},{"role":"user","content":"Who?"}]', 'Who?'],
  ['[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Ada."}}]', 'Ada.'],
  ['[{"role":"system","content":"Be brief."},{"role":"user","content":"Who wr', 'Who wr'],
  ['[{"role":"user","content":"A \\"quoted\\" word and \\u00', 'A "quoted" word and '],
  [
    '[{"index":0,"finish_reason":"tool_calls","mess',
    '[{"index":0,"finish_reason":"tool_calls","mess',
  ],
  ['{not json', '{not json'],
])('of %s a cell shows what one looks for, although it may be cut', (value, shown) => {
  expect(preview(value)).toBe(shown)
})

test('scores have one decimal, shares and growth as much as tells something', () => {
  expect([0, 0.5, 0.8609, 1, -0.1].map(score)).toEqual([
    '0.0 %',
    '50.0 %',
    '86.1 %',
    '100.0 %',
    '−10.0 %',
  ])
  expect([0, 0.004, 0.125, 1].map(share)).toEqual(['0 %', '0.4 %', '13 %', '100 %'])
  expect([100.2, 101.5, 112, 40].map((value) => growth(value, 100))).toEqual([
    '±0 %',
    '+1.5 %',
    '+12 %',
    '−60 %',
  ])
  expect([0, 0.00001, 0.0005, 0.021, -0.3].map(change)).toEqual([
    '±0',
    '≈0',
    '+0.05',
    '+2.1',
    '−30.0',
  ])
  expect([points(0.2), kappa(-0.5), kappa(1)]).toEqual(['20.0 points', '−0.50', '1.00'])
})

test('means of counts have three digits, and what is between them two', () => {
  expect([2106.4, 1.9834, 0.062].map(mean)).toEqual(['2,106', '1.98', '0.062'])
  expect([32.35, 0.04, 0.008667, 150.6].map(meanChange)).toEqual(['32', '0.04', '0.0087', '151'])
})

test('counts are grouped, and sizes have a unit', () => {
  expect([number(3_239_965), number(1.23456), compact(9999), compact(12_345)]).toEqual([
    '3,239,965',
    '1.235',
    '9,999',
    '12.3K',
  ])
  expect([counted(1, 'row'), counted(1500, 'row')]).toEqual(['1 row', '1,500 rows'])
  expect([bytes(12), bytes(1_234_567), bytes(999_999)]).toEqual([
    '12\u00a0bytes',
    '1.2\u00a0MB',
    '1.0\u00a0MB',
  ])
})

test('moments are to the second, by a clock of 24 hours, with their year if it is another', () => {
  const year = new Date().getFullYear()
  expect(time(new Date(year, 2, 5, 0, 4, 9).toISOString())).toBe('Mar 5, 00:04:09')
  expect(time(new Date(year - 1, 2, 5, 13, 4, 9).toISOString())).toBe(
    `Mar 5, ${year - 1}, 13:04:09`,
  )
  expect([time('soon'), time(undefined)]).toEqual(['', ''])
})

test('nothing else of the page writes numbers or moments', () => {
  const folder = new URL('../../src/ui', import.meta.url).pathname
  const own =
    /Intl\.(?:NumberFormat|DateTimeFormat|RelativeTimeFormat)|\.to(?:Fixed|Precision|Locale(?:Date|Time)?String)\(/
  const others = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && path !== join('component', 'format.ts'))
    .filter((path) => own.test(readFileSync(join(folder, path), 'utf8')))
  expect(others).toEqual([])
})

test('what is counted stands in the singular where it is one', () => {
  const folder = new URL('../../src/ui', import.meta.url).pathname
  const plural = /number\([^`\n]*?\)\} (?:calls|examples|groups|records|rows|spans|tokens|traces)\b/
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .filter((path) => plural.test(readFileSync(join(folder, path), 'utf8')))
  expect(found).toEqual([])
})
