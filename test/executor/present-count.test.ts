/** In how many rows of a segment a field has a value is told by its metadata, wherever the values lie. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Zones } from '../../src/executor/scan/zones.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { valueAt } from '../../src/type/value.ts'
import { randomSeed } from '../support/random-seed.ts'
import { versionedRow } from '../support/versioned-row.ts'

const scalar = fc.constantFrom<unknown>(null, undefined, 1, 'text', true, [1], {}, [])
const value = fc.oneof(
  scalar,
  fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }),
  fc.record({ a: fc.record({ c: scalar }, { requiredKeys: [] }) }),
)
const records = fc.array(fc.record({ m: value, n: value }, { requiredKeys: [] }), {
  minLength: 1,
  maxLength: 12,
})
const paths = [['m'], ['m', 'a'], ['m', 'a', 'c'], ['n'], ['n', 'b']]

test(`is what the rows have, seed ${randomSeed}`, () => {
  const told = { residual: 0, all: 0 }
  fc.assert(
    fc.property(records, fc.boolean(), (some, isRare) => {
      // Among many rows, what few of them have is in the residual.
      const given = isRare ? [...some, ...Array(400).fill({ n: { b: 1 } })] : some
      const texts = given.map((metadata, row) => JSON.stringify({ id: `${row}`, metadata }))
      const rows = texts.map((json, index) => {
        return versionedRow(json, { version: { transaction: 1000, index } })
      })
      const { metadata } = writeSegment(shred(rows), 1)
      const zones = new Zones(metadata, metadata.objects[0]!, [])
      for (const path of paths) {
        const present = zones.countOf(['metadata', ...path])
        if (present === undefined) continue
        told.all++
        if (metadata.residual) told.residual++
        const right = texts.filter((text) => {
          return valueAt(JSON.parse(text), ['metadata', ...path]) !== null
        })
        expect(present, path.join('.')).toBe(right.length)
      }
    }),
    { numRuns: 150, seed: randomSeed },
  )
  expect(told.all).toBeGreaterThan(100)
  expect(told.residual).toBeGreaterThan(50)
})
