/** From records of files to events. */
import { expect, test } from 'vitest'
import { eventOf, type Target, usualTarget } from '../../src/import/event.ts'

function textOf(
  values: Readonly<Record<string, string>>,
  targets: Readonly<Record<string, Target>> = {},
  isTable = true,
) {
  const record = { line: 2, values: new Map(Object.entries(values)) }
  return eventOf(record, { isTable, targetOf: (column) => targets[column] ?? 'as it is' }).text
}

test('columns with a dot go into the object, and into one that is there', () => {
  expect(textOf({ 'metadata.model': '"m"', 'metadata.a.b': '1', 'other.x': '2' })).toBe(
    '{"metadata":{"model":"m","a.b":1},"other.x":2}',
  )
  expect(
    textOf({ 'metadata.model': '"m"', metadata: '{"n": 1e400}', 'metadata.__proto__': '1' }),
  ).toBe('{"metadata":{"n": 1e400,"model":"m","__proto__":1}}')
  expect(() => textOf({ metadata: '[1]', 'metadata.a': '1' })).toThrow(
    'its "metadata" is no object',
  )
  expect(textOf({ 'metadata.model': '"m"' }, {}, false)).toBe('{"metadata.model":"m"}')
})

test('texts are what their column must be', () => {
  expect(
    textOf({
      id: '7',
      span_id: '12',
      'scores.s': '"0.50"',
      metrics: '"{\\"n\\":1.0}"',
      tags: '"a, b,, a"',
      created: '""',
      input: '""',
    }),
  ).toBe(
    '{"id":"7","span_id":"12","scores":{"s":0.50},"metrics":{"n":1.0},"tags":["a","b"],"input":""}',
  )
  expect(() => textOf({ 'scores.s': '"high"' })).toThrow('its "scores.s" is not a number: high')
  expect(() => textOf({ metadata: '"high"' })).toThrow('its "metadata" is not JSON: high')
  expect(() => textOf({ tags: '[1]' })).toThrow('its "tags" are not texts')
})

test('columns become what one chooses', () => {
  const values = {
    question: '"q"',
    context: '"c"',
    topic: '1',
    'metadata.n': '2',
    name: '7',
    x: '3',
  }
  const targets = {
    question: 'input',
    context: 'input',
    topic: 'metadata',
    name: 'id',
    x: 'nothing',
  } as const
  expect(textOf(values, targets)).toBe(
    '{"id":"7","input":{"question":"q","context":"c"},"metadata":{"topic":1,"n":2}}',
  )
  expect(textOf({ question: '"q"' }, targets)).toBe('{"input":"q"}')
})

test('what is proposed for a column', () => {
  expect(usualTarget('Question', true)).toBe('input')
  expect(usualTarget('zip', true)).toBe('metadata')
  expect(usualTarget('zip', false)).toBe('as it is')
  expect(usualTarget('metadata.zip', true)).toBe('as it is')
  expect(usualTarget('created', true)).toBe('as it is')
  expect(usualTarget('project_id', true)).toBe('nothing')
})
