import { expect, test } from 'vitest'
import { cutId, Template } from '../../src/planner/plan-template.ts'

test.each([
  ["select: * | from: x | filter: id = 'abcdefgh'", 'abcdefgh'],
  ["filter: root_span_id='0123-4567' and scores.a > 1", '0123-4567'],
  ['filter: span_id = "0123-4567" | limit: 3', '0123-4567'],
])('%s: the id is cut out', (text, id) => {
  const cut = cutId(text)!
  expect(cut.id).toBe(id)
  expect(cut.before + cut.id + cut.after).toBe(text)
})

test.each([
  ["filter: id = 'abcdefgh' or id = 'other678'", 'the field is named twice'],
  ["filter: id = 'abcdefgh' and span_id = 'abcdefgh'", 'the id is there twice'],
  ["filter: id = 'abcdefgh''i'", 'the text goes on after its quote'],
  ["filter: metadata.id = 'abcdefgh'", 'it is another field'],
  ["filter: id = 'short'", 'it could be part of something else'],
  ["filter: id != 'abcdefgh'", 'it is another comparison'],
])('%s: nothing is cut out, since %s', (text) => {
  expect(cutId(text)).toBeUndefined()
})

test('a template puts ids where the hole was, and shares the rest', () => {
  const rest = { b: 2 }
  const made = { ids: ['HOLE'], deep: [{ value: 'HOLE', rest }] }
  const example = { ids: ['first'], deep: [{ value: 'first', rest: { b: 2 } }] }
  const template = Template.of(made, 'HOLE', example, 'first')!
  const value = template.with('second')
  expect(value).toEqual({ ids: ['second'], deep: [{ value: 'second', rest: { b: 2 } }] })
  expect(value.deep[0]!.rest).toBe(rest)
  expect(template.with('third').ids).toEqual(['third'])
  expect(made.ids).toEqual(['HOLE'])
})

const dependent: readonly (readonly [string, object, object])[] = [
  ['the id became part of a text', { a: 'xHOLEx' }, { a: 'xidx' }],
  ['a number depends on it', { a: 'HOLE', n: 4 }, { a: 'id', n: 2 }],
  ['it is where it is not replaced', { a: new Set(['HOLE']) }, { a: new Set(['id']) }],
]

test.each(dependent)('no template is made when %s', (_, made, example) => {
  expect(Template.of(made, 'HOLE', example, 'id')).toBeUndefined()
})
