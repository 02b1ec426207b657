/** What may go on where a text ends: what the parser asks for there, and no second grammar. */
import { expect, test } from 'vitest'
import { expectedAfter } from '../../src/parser/parse.ts'

/** The kinds, then those of the words that are asked for. */
function after(text: string, words: readonly string[] = []): string[] {
  const expected = expectedAfter(text)
  return [...[...expected.kinds].sort(), ...words.filter((word) => expected.words.has(word))]
}

test.each([
  ['select: '],
  ['select: a, '],
  ['select: f(a, '],
  ['select: {k: '],
  ['filter: a and '],
  ['filter: not '],
  ['a = '],
  ['SELECT '],
  ["SELECT a FROM experiment('e') WHERE "],
  ["SELECT a FROM experiment('e') ORDER BY "],
  ["SELECT a FROM experiment('e') GROUP BY a, "],
])('a value after %j', (text) => {
  expect(after(text)).toContain('operand')
})

test.each([
  ['select: a '],
  ['select: count(1) '],
  ['filter: a = 1 '],
  ["SELECT a FROM experiment('e') WHERE a "],
])('an operator and no value after %j', (text) => {
  expect(after(text, ['and', 'or'])).toEqual(expect.arrayContaining(['and', 'or']))
  expect(after(text)).not.toContain('operand')
})

test('comparisons do not chain', () => {
  const words = ['=', 'like', '+', 'and']
  expect(after('filter: a ', words)).toEqual(expect.arrayContaining(words))
  expect(after('filter: a = 1 ', words)).toEqual(expect.arrayContaining(['+', 'and']))
  expect(after('filter: a = 1 ', words)).not.toContain('like')
})

test('clauses after what may be finished, and words of the clause', () => {
  const words = ['as', 'asc', 'desc', 'then']
  expect(after('select: a ', words)).toEqual(['clause', 'as'])
  expect(after('select: a | sort: b ', words)).toEqual(['clause', 'asc', 'desc'])
  expect(after('filter: case when a ', words)).toContain('then')
  expect(after("select: * | from: experiment('e') ")).toEqual(['clause', 'shape'])
  expect(after("SELECT * FROM experiment('e') ")).toEqual(['clause'])
  expect(after('select: a | limit: ')).toEqual([])
})
