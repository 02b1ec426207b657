import { describe, expect, test } from 'vitest'
import { type CutLiteral, cutLiterals, otherLiterals } from '../../src/planner/cut-literals.ts'
import { Template } from '../../src/planner/plan-template.ts'

const valuesOf = (text: string) => cutLiterals(text)?.literals.map(({ value }) => value)
const shapeOf = (text: string) => cutLiterals(text)?.shape

describe('cut out is', () => {
  test.each([
    ["select: * | from: x | filter: id = 'abc'", ['abc']],
    ["filter: root_span_id='0123-4567' and scores.a > 1", ['0123-4567', 1]],
    ['filter: span_id = "0123-4567" | limit: 3', ['0123-4567']],
    ["filter: name != 'it''s' -- = 5", ["it's"]],
    ['filter: a >= .5 or b <=> 1e3', [0.5, 1000]],
    ["filter: a = 'x' and b = 'x' and c = 'y'", ['x', 'y']],
  ])('%s: what a field is compared with', (text, values) => {
    expect(valuesOf(text)).toEqual(values)
  })

  test.each([
    ["from: experiment('e') | limit: 5", 'nothing is compared'],
    ['filter: a = 12345678901234567890', 'it is no double'],
    ['filter: "metadata"."a" = b', 'both are paths'],
    ['filter: b = "metadata".a', 'what is in double quotes is part of a path'],
    ["filter: a = 'open", 'the text is wrong'],
    ["filter: a = 'x\0'", 'it has the mark of what is cut out'],
  ])('%s: nothing, since %s', (text) => {
    expect(cutLiterals(text)).toBeUndefined()
  })
})

test('texts that differ in values of a kind have one shape, and others have others', () => {
  const shape = shapeOf("filter: a = 'x' and b = 1")
  expect(shapeOf("filter: a = 'y' and b = 2.5")).toBe(shape)
  for (const other of [
    "filter: a = 'x' and c = 1",
    "filter: a = '2026-01-01' and b = 1",
    "filter: a = 1 and b = 'x'",
    'filter: a = "x" and b = 1',
    "filter: a = 'x' and b != 1",
  ]) {
    expect(shapeOf(other), other).not.toBe(shape)
  }
  expect(shapeOf('filter: a = 1 and b = 1')).not.toBe(shapeOf('filter: a = 1 and b = 2'))
})

test('a text with other literals has the same shape', () => {
  const cut = cutLiterals("filter: a = 'x' and b > 1.5 and c < '2026-01-01' and d = 'x'")!
  const other = cut.with(otherLiterals(cut.literals))
  expect(shapeOf(other)).toBe(cut.shape)
  expect(valuesOf(other)).not.toEqual(valuesOf("filter: a = 'x'"))
})

const context = { now: 0, tzOffset: 0 }

const texts = (...values: string[]) => values.map((value): CutLiteral => ({ kind: 'text', value }))

test('a template puts literals where the holes were, and shares the rest', () => {
  const rest = { b: 2 }
  const made = { ids: ['HOLE'], deep: [{ value: 'HOLE', rest, n: 1234.25 }] }
  const example = { ids: ['first'], deep: [{ value: 'first', rest: { b: 2 }, n: 1 }] }
  const number = (value: number): CutLiteral => ({ kind: 'number', value })
  const holes = [...texts('HOLE'), number(1234.25)]
  const template = Template.of(made, holes, example, [...texts('first'), number(1)], context)!
  const value = template.with([...texts('second'), number(2)], context)
  expect(value).toEqual({ ids: ['second'], deep: [{ value: 'second', rest: { b: 2 }, n: 2 }] })
  expect(value.deep[0]!.rest).toBe(rest)
  expect(template.with([...texts('third'), number(3)], context).ids).toEqual(['third'])
  expect(made.ids).toEqual(['HOLE'])
})

test('a time is put as a text or as a number of milliseconds, as it stood there', () => {
  const time = (value: string): CutLiteral => ({ kind: 'time', value })
  const made = { text: '1999-01-01', ms: Date.UTC(1999, 0) }
  const example = { text: '2000-01-01', ms: Date.UTC(2000, 0) }
  const template = Template.of(made, [time('1999-01-01')], example, [time('2000-01-01')], context)!
  expect(template.with([time('2026-01-01')], context)).toEqual({
    text: '2026-01-01',
    ms: Date.UTC(2026, 0),
  })
})

const dependent: readonly (readonly [string, object, object])[] = [
  ['the literal became part of a text', { a: 'xHOLEx' }, { a: 'xidx' }],
  ['it became the name of a member', { HOLE: 'HOLE' }, { id: 'id' }],
  ['a number depends on it', { a: 'HOLE', n: 4 }, { a: 'id', n: 2 }],
  ['it is where it is not replaced', { a: new Set(['HOLE']) }, { a: new Set(['id']) }],
  ['it is nowhere', { a: 1 }, { a: 1 }],
]

test.each(dependent)('no template is made when %s', (_, made, example) => {
  expect(Template.of(made, texts('HOLE'), example, texts('id'), context)).toBeUndefined()
})
