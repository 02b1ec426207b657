import { expect, test } from 'vitest'
import { suggest } from '../../src/parser/suggest.ts'

const fields = ['score', 'scores', 'metadata', 'input', 'id', 'tags']

test.each([
  ['scroe', 'score'],
  ['Scors', 'score'],
  ['metdata', 'metadata'],
  ['METADATA', 'metadata'],
  ['inptu', 'input'],
  ['idd', 'id'],
  ['tag', 'tags'],
  ['if', 'id'],
  ['x', undefined],
  ['xy', undefined],
  ['bird', undefined],
  ['temperature', undefined],
  ['', undefined],
  ['score', 'scores'],
  ['s'.repeat(65), undefined],
])('%j is near to %j', (word, expected) => {
  expect(suggest(word, fields)).toBe(expected)
})
