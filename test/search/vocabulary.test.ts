import { expect, test } from 'vitest'
import { translate } from '../../src/search/translate.ts'
import { Vocabulary } from '../../src/search/vocabulary.ts'

const inherited = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty']

test('names that objects inherit in JavaScript are fields and values like any other', () => {
  const values = inherited.map((value) => ({ value, count: 1 }))
  const vocabulary = new Vocabulary([
    { path: ['metadata', 'k'], types: { string: 5 }, count: 5, top_values: values },
    ...inherited.map((name) => ({
      path: ['metadata', name],
      types: { number: 1 },
      count: 1,
      top_values: null,
    })),
  ])
  expect(vocabulary.values('constructor').map(({ value }) => value)).toEqual(['constructor'])
  expect(vocabulary.named('constructor').map(({ path }) => path)).toEqual([
    ['metadata', 'constructor'],
  ])
  for (const name of [...inherited, ...vocabulary.knownWords]) {
    for (const text of [name, `more than 5 ${name}`, `by ${name}`, `${name} over 3 ${name}`]) {
      const request = { text, vocabulary, now: 0, tzOffset: 0, hasTraces: true }
      expect(translate(request).clauses).not.toContain('NaN')
    }
  }
})
