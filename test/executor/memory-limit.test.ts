import { expect, it } from 'vitest'
import { isOutOfRoom } from '../../src/executor/thread/memory-limit.ts'

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (thrown) {
    return thrown
  }
}

it.each([
  ['a text', () => 'ab'.repeat(2 ** 29)],
  ['a decoded text', () => Buffer.alloc(2 ** 29 + 1).toString('latin1')],
  ['an array', () => Array.from({ length: 2 ** 33 })],
  ['a buffer', () => new SharedArrayBuffer(2 ** 46)],
])('knows from what V8 throws that %s would be too large', (_, work) => {
  expect(isOutOfRoom(thrownBy(work))).toBe(true)
})

it('takes no fault of ours for a lack of memory', () => {
  const deep = (): unknown => [deep()]
  for (const work of [() => new Float64Array(1).set([1, 2]), () => new Int32Array(-1), deep]) {
    const thrown = thrownBy(work)
    expect(thrown).toBeInstanceOf(RangeError)
    expect(isOutOfRoom(thrown)).toBe(false)
  }
})
