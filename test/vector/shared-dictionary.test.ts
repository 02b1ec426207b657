/** Dictionaries that all threads share: what is there after somebody was stopped while adding to one. */
import { expect, test } from 'vitest'
import {
  SharedDictionaryBuilder,
  SharedTexts,
  severalHomes,
} from '../../src/vector/shared-dictionary.ts'
import { textColumn } from '../support/text-column.ts'

const named = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `text ${from + i}`)

/** Throws from the n-th call after this one on. */
function stoppingAfter(calls: number): () => void {
  let called = 0
  return () => {
    if (++called > calls) throw new Error('nobody waits')
  }
}

test.each([5, 6, 7, 8, 10, 12])('what was stopped at its look %i is added by the next', (looks) => {
  const builder = new SharedDictionaryBuilder(1, undefined, stoppingAfter(looks))
  const first = builder.add(textColumn(named(0, 10)), 1)
  expect(() => builder.add(textColumn(named(5, 20_000)), 2)).toThrow('nobody waits')
  const part = builder.finish()
  expect(part.count).toBeGreaterThan(10)

  const next = new SharedDictionaryBuilder(1, part)
  const second = next.add(textColumn(named(5, 20_000)), 2)
  const texts = new SharedTexts(next.finish())
  expect(texts.count).toBe(20_000)
  expect(Array.from(first, (code) => texts.textAt(code))).toEqual(named(0, 10))
  expect(Array.from(second, (code) => texts.textAt(code))).toEqual(named(5, 20_000))
  const homes = Array.from(texts.homes.subarray(0, texts.count))
  const wanted = named(0, 20_000).map((_, i) => (i < 5 ? 1 : i < 10 ? severalHomes : 2))
  expect(homes).toEqual(wanted)
})

test('it tells how many texts only one segment has', () => {
  const builder = new SharedDictionaryBuilder(1, undefined)
  const map = builder.add(textColumn(named(0, 10)), 1)
  builder.add(textColumn(named(8, 15)), 2)
  expect(builder.finish()).toMatchObject({ count: 15, homed: 13 })
  const next = new SharedDictionaryBuilder(1, builder.finish())
  next.add(textColumn(named(0, 3)), 3)
  expect(next.finish().homed).toBe(10)
  // Two of the segments have gone.
  next.setHomes(new Map([[1, map]]))
  expect(next.finish().homed).toBe(10)
})

test('homes are those of before when finding them out anew was given up', () => {
  const builder = new SharedDictionaryBuilder(1, undefined)
  const map = builder.add(textColumn(named(0, 10)), 1)
  const before = builder.finish()
  const given = new SharedDictionaryBuilder(1, before, stoppingAfter(0))
  expect(() => given.setHomes(new Map([[2, map]]))).toThrow('nobody waits')
  expect(Array.from(before.homes.subarray(0, 10))).toEqual(named(0, 10).map(() => 1))
})

test('what somebody has added who failed is not taken for a text', () => {
  const builder = new SharedDictionaryBuilder(1, undefined)
  builder.add(textColumn(named(0, 10)), 1)
  const dictionary = builder.finish()
  const failing = new SharedDictionaryBuilder(1, dictionary)
  failing.add(textColumn(named(10, 20)), 2)
  // Nobody takes what it has come to.

  const next = new SharedDictionaryBuilder(1, dictionary)
  const codes = next.add(textColumn(named(15, 25)), 4)
  const texts = new SharedTexts(next.finish())
  expect(texts.count).toBe(20)
  expect(Array.from(codes, (code) => texts.textAt(code))).toEqual(named(15, 25))
})
