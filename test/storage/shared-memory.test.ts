import { expect, it } from 'vitest'
import { SharedMemory } from '../../src/storage/shared-memory.ts'

it('gives the same memory again, if it is not by far too large', () => {
  const memory = new SharedMemory(1000)
  const first = memory.take(100)!
  memory.giveBack(first)
  expect(memory.take(20)).not.toBe(first)
  expect(memory.take(25)).toBe(first)
  expect(memory.take(25)).not.toBe(first)
})

it('takes no memory that it has not given', () => {
  const memory = new SharedMemory(1000)
  memory.giveBack(new SharedArrayBuffer(100))
  memory.giveBack(new ArrayBuffer(100))
  const taken = [memory.take(100)!, memory.take(100)!]
  expect(new Set(taken).size).toBe(2)
})

it('has no more than it may', () => {
  const memory = new SharedMemory(1000)
  expect(memory.take(501)).toBeUndefined()
  const taken = [memory.take(500)!, memory.take(500)]
  expect(taken[1]).toBeDefined()
  expect(memory.take(1)).toBeUndefined()
  memory.giveBack(taken[0]!)
  // What lies idle goes for what it does not serve.
  expect(memory.take(10)!.byteLength).toBe(10)
  expect(memory.take(490)!.byteLength).toBe(490)
  expect(memory.take(1)).toBeUndefined()
})
