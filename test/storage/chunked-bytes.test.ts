/** Bytes that are fetched in pages are those that were stored, and no more of them is kept than was read. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withChecksums } from '../../src/storage/segment/checked-pages.ts'
import {
  ByteCache,
  cachedBytes,
  chunkBytes,
  FetchedBytes,
  type Held,
} from '../../src/storage/segment/chunked-bytes.ts'

const byteLength = 300_000
const content = Uint8Array.from({ length: byteLength }, (_, i) => (i * 7919) >> 5)

describe('bytes that are stored in chunks', () => {
  it('are given as they were stored, from place to place', () => {
    const { bytes } = opened(withChecksums(content))
    const place = fc.nat({ max: byteLength })
    fc.assert(
      fc.property(place, place, (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        expect(Buffer.compare(bytes.view(from, to), content.subarray(from, to))).toBe(0)
        expect(Buffer.compare(bytes.whole(from, to), content.subarray(from, to))).toBe(0)
      }),
    )
  })

  it('are kept by the page, and read once', () => {
    const { bytes, read, kept } = opened(withChecksums(content))
    const places = [5, 70_000, 140_000, 210_000, 299_999]
    for (const at of places) bytes.view(at, at + 1)
    const reads = read()
    expect(kept()).toBeLessThan(places.length * 5000)
    for (const at of places) bytes.view(at, at + 1)
    expect(read()).toBe(reads)
  })

  it('are read once for each chunk, and not kept, for who keeps the whole', () => {
    const { bytes, read, kept } = opened(withChecksums(content))
    bytes.whole(3 * chunkBytes, 3 * chunkBytes + 1)
    const [reads, keptBefore] = [read(), kept()]
    bytes.whole(10, chunkBytes)
    expect(read() - reads).toBe(2)
    expect(kept()).toBe(keptBefore)
  })

  it('are not given when their page was damaged', () => {
    const stored = withChecksums(content)
    stored[100_000]! ^= 1
    const { bytes } = opened(stored)
    expect(bytes.view(0, 90_000)).toHaveLength(90_000)
    expect(() => bytes.view(100_001, 100_002)).toThrow('damaged')
    expect(() => bytes.view(0, byteLength)).toThrow('damaged')
    expect(() => bytes.whole(0, byteLength)).toThrow('damaged')
  })
})

describe('values that hold more as they are used', () => {
  it('are kept up to a number of bytes, those that were used last', () => {
    const kept = new ByteCache<Held>()
    const grown = Array.from({ length: 10 }, () => {
      const of = {}
      const value = { heldBytes: 0 }
      kept.set(of, value)
      value.heldBytes = Math.floor(cachedBytes / 4)
      kept.set(of, value)
      return of
    })
    expect(grown.map((of) => kept.get(of) !== undefined)).toEqual(grown.map((_, i) => i > 6))
  })
})

function opened(written: Uint8Array) {
  const offset = 1000
  const stored = new Uint8Array(offset + written.length)
  stored.set(written, offset)
  let reads = 0
  let keptBytes = 0
  const read = (chunk: number) => {
    reads++
    return stored.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)
  }
  const keeps = (count: number) => {
    keptBytes += count
  }
  const damaged = () => new Error('damaged')
  const bytes = new FetchedBytes({ offset, byteLength }, read, keeps, damaged)
  return { bytes, read: () => reads, kept: () => keptBytes }
}
