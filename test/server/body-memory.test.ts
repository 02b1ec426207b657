import { expect, it } from 'vitest'
import { BodyMemory } from '../../src/server/body-memory.ts'

const mebibyte = 2 ** 20

it('gives the same memory again, with room behind the body, once nobody reads it any more', () => {
  const memory = new BodyMemory()
  const first = memory.take(mebibyte)!
  const second = memory.take(mebibyte)!
  expect(first.length).toBe(mebibyte)
  expect(first.buffer.byteLength).toBe(3 * mebibyte)
  expect(second.buffer).not.toBe(first.buffer)
  memory.giveBack(first)
  expect(memory.take(mebibyte - 1)!.buffer).toBe(first.buffer)
  expect(memory.take(mebibyte)!.buffer).not.toBe(second.buffer)
})

it('is not for small bodies, nor for those that would take half of it', () => {
  const memory = new BodyMemory()
  expect(memory.take(100_000)).toBeUndefined()
  expect(memory.take(20 * mebibyte)).toBeUndefined()
})

it('has so much and no more, and what lies idle makes room for what does not fit into it', () => {
  const memory = new BodyMemory()
  const large = Array.from({ length: 3 }, () => memory.take(7 * mebibyte)!)
  expect(large.map(({ buffer }) => buffer.byteLength)).toEqual(
    [21, 21, 21].map((n) => n * mebibyte),
  )
  expect(memory.take(7 * mebibyte)).toBeUndefined()
  memory.giveBack(large[0]!)
  expect(memory.take(8 * mebibyte)).toBeUndefined()
  memory.giveBack(large[1]!)
  expect(memory.take(8 * mebibyte)!.length).toBe(8 * mebibyte)
})
