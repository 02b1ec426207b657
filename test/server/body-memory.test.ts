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

it('gives less room behind a body that would take half of it, and none to what is larger', () => {
  const memory = new BodyMemory()
  const body = memory.take(20 * mebibyte)!
  expect([body.length, body.buffer.byteLength]).toEqual([20 * mebibyte, 20 * mebibyte])
  expect(memory.take(33 * mebibyte)).toBeUndefined()
  expect(memory.take(100_000)).toBeUndefined()
})

it('has so much and no more, and what lies idle makes room for what does not fit into it', () => {
  const memory = new BodyMemory()
  const large = Array.from({ length: 3 }, () => memory.take(7 * mebibyte)!)
  expect(large.map(({ buffer }) => buffer.byteLength)).toEqual(
    [21, 21, 21].map((n) => n * mebibyte),
  )
  expect(memory.take(2 * mebibyte)).toBeUndefined()
  memory.giveBack(large[0]!)
  // Idle memory that is too small is let go of, and then there is room for the body alone.
  expect(memory.take(8 * mebibyte)!.buffer.byteLength).toBe(8 * mebibyte)
  memory.giveBack(large[1]!)
  expect(memory.take(8 * mebibyte)!.buffer.byteLength).toBe(24 * mebibyte)
})
