import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryBytes, wideEntries } from '../../src/storage/id/id-chunk.ts'
import {
  chunksUpTo,
  encodeRun,
  findInChunk,
  fullHash,
  hashesOf,
  hashId,
  hashNumbers,
  type IdEntry,
  type IdHash,
  mergeChunks,
  type RunChunk,
} from '../../src/storage/id/id-run.ts'

interface Shape {
  readonly count: number
  readonly objects: number
  /** One entry in so many was updated, or deleted. */
  readonly updatedOf: number
}

const shapes = fc.record({
  count: fc.integer({ min: 1, max: 1500 }),
  objects: fc.constantFrom(1, 1, 2, 40),
  updatedOf: fc.constantFrom(1, 3, 50, 10_000),
})

/** Entries in the order of their hashes; of the same ids whatever the version. */
function entriesOf({ count, objects, updatedOf }: Shape, transaction = 7): IdEntry[] {
  const entries = Array.from({ length: count }, (_, i): IdEntry => {
    const paginationKey = { transaction: 5, index: i }
    const isUpdated = i % updatedOf === 1
    return {
      hash: fullHash(1 + (i % objects), hashId(`id ${i}`)),
      version: isUpdated ? { transaction, index: count - i } : paginationKey,
      paginationKey,
      isDeleted: isUpdated && i % 4 === 1,
    }
  })
  return entries.sort((a, b) => (a.hash < b.hash ? -1 : 1))
}

function sizeOf(chunks: readonly RunChunk[]): number {
  return chunks.reduce((sum, { value }) => sum + value.length, 0)
}

/** A run as older versions wrote it. */
function olderRun(chunks: readonly RunChunk[]): Buffer[] {
  const all = Buffer.concat(chunks.map(({ value }) => wideEntries(value)))
  const chunkBytes = 255 * entryBytes
  return Array.from({ length: Math.ceil(all.length / chunkBytes) }, (_, i) =>
    all.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  )
}

function find(chunks: readonly Buffer[], hash: IdHash) {
  const wanted = hashNumbers(hash)
  // A chunk may stand among others.
  const all = Buffer.concat([Buffer.alloc(3), ...chunks])
  let start = 3
  const found = chunks
    .map(({ length }) => {
      start += length
      return findInChunk(all, start - length, length, wanted)
    })
    .filter((entry) => entry)
  expect(found.length).toBeLessThan(2)
  return found[0]
}

describe('a run of ids', () => {
  it('finds what was written, and nothing else', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const entries = entriesOf(shape)
        const chunks = [...encodeRun(9, entries)]
        const values = chunks.map(({ value }) => value)
        expect(values.flatMap((value) => [...hashesOf(value)])).toEqual(entries.map((e) => e.hash))
        expect(chunks.reduce((sum, chunk) => sum + chunk.entries, 0)).toBe(entries.length)
        for (const { hash, ...current } of entries.filter((_, i) => i % 7 === 0)) {
          expect(find(values, hash)).toEqual(current)
          expect(find(olderRun(chunks), hash)).toEqual(current)
        }
        for (let i = 0; i < 20; i++) {
          expect(find(values, fullHash(1, hashId(`no id ${i}`)))).toBeUndefined()
          expect(find(values, fullHash(99, hashId(`id ${i}`)))).toBeUndefined()
        }
      }),
      { numRuns: 40 },
    )
  })

  it('is merged with newer and older ones, in whatever form', () => {
    fc.assert(
      fc.property(shapes, shapes, fc.boolean(), (older, newer, isOlderForm) => {
        const [first, second] = [entriesOf(older, 7), entriesOf(newer, 8)]
        const runs = [first, second].map((entries, run) => [...encodeRun(run, entries)])
        const [a, b] = runs.map((chunks) => chunks.map(({ value }) => value))
        const merged = [...mergeChunks(3, [isOlderForm ? olderRun(runs[0]!) : a!, b!])]
        const newest = new Map(first.map((entry) => [entry.hash, entry]))
        for (const entry of second) {
          const known = newest.get(entry.hash)
          const isNewer = !known || entry.version.transaction > known.version.transaction
          if (isNewer) newest.set(entry.hash, entry)
        }
        const expected = [...newest.values()].sort((x, y) => (x.hash < y.hash ? -1 : 1))
        const values = merged.map(({ value }) => value)
        expect(values.flatMap((v) => [...hashesOf(v)])).toEqual(expected.map((e) => e.hash))
        for (const { hash, ...current } of expected.filter((_, i) => i % 11 === 0)) {
          expect(find(values, hash)).toEqual(current)
        }
        for (const { key, value } of merged) {
          expect(key.subarray(4).toString('latin1')).toBe([...hashesOf(value)][0])
        }
      }),
      { numRuns: 40 },
    )
  })

  it('is cut to what was known at a transaction', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 4, max: 7 }), (shape, through) => {
        const entries = entriesOf(shape)
        const cut = [...encodeRun(9, entries)].flatMap((chunk) => [...chunksUpTo(chunk, through)])
        const expected = entries.filter(({ version }) => version.transaction <= through)
        expect(cut.flatMap(({ value }) => [...hashesOf(value)])).toEqual(
          expected.map((entry) => entry.hash),
        )
        expect(cut.reduce((sum, chunk) => sum + chunk.entries, 0)).toBe(expected.length)
        const values = cut.map(({ value }) => value)
        for (const { hash, ...current } of expected.filter((_, i) => i % 11 === 0)) {
          expect(find(values, hash)).toEqual(current)
        }
        for (const { key, value } of cut) {
          expect(key.toString('latin1')).toBe(`\0\0\0\x09${[...hashesOf(value)][0]}`)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('takes twenty bytes per record that was never changed, and fills whole pages', () => {
    const chunks = [...encodeRun(1, entriesOf({ count: 4080, objects: 1, updatedOf: 10_000 }))]
    expect(chunks.length).toBe(11)
    expect(sizeOf(chunks)).toBeLessThan(4080 * 20.1 + 20)
    for (const { value } of chunks) expect(value.length).toBeLessThanOrEqual(8168)
  })

  it('keeps few records of many objects together', () => {
    const chunks = [...encodeRun(1, entriesOf({ count: 1020, objects: 500, updatedOf: 3 }))]
    expect(chunks.map(({ entries }) => entries)).toEqual([255, 255, 255, 255])
  })
})
