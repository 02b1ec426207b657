import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { isCertain, isCertainNowhere } from '../../src/executor/scan/certain.ts'
import { Zones } from '../../src/executor/scan/zones.ts'
import type { ColumnMetadata, SegmentMetadata } from '../../src/storage/segment/metadata.ts'
import { granuleRows } from '../../src/vector/column.ts'
import { constant, field } from '../support/scan-task.ts'

const small = fc.integer({ min: 0, max: 5 })
const granule = fc.option(fc.tuple(small, small).map((pair) => pair.sort((a, b) => a - b)))

/** A segment with one column of numbers, without nulls but where a granule has no bounds. */
function zonesOf(granules: readonly (readonly number[] | null)[]): Zones {
  const column: ColumnMetadata = {
    path: ['metrics', 'n'],
    type: 'number',
    nullCount: 0,
    minimum: 0,
    maximum: 5,
    granuleMinimums: granules.map((bounds) => bounds?.[0] ?? null),
    granuleMaximums: granules.map((bounds) => bounds?.[1] ?? null),
    values: [0, 0, 0],
  }
  const rowCount = granules.length * granuleRows
  const metadata = { columns: [column], keys: {}, rowCount } as unknown as SegmentMetadata
  return new Zones(metadata, { object: 1, from: 0, to: rowCount } as never, [])
}

const comparison = fc
  .record({
    operator: fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge'),
    name: fc.constantFrom('n', 'n', 'n', 'other'),
    value: small,
  })
  .map(({ operator, name, value }): BoundExpression => {
    const [left, right] = [field('metrics', name), constant(value)]
    return { kind: 'comparison', operator, left, right, type: 'boolean' } as never
  })
const predicate = fc.oneof(
  comparison,
  fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(comparison, { minLength: 1, maxLength: 3 }))
    .map(([kind, operands]) => ({ kind, operands, type: 'boolean' }) as BoundExpression),
)

test('what is certain nowhere in a range of granules is certain in none of them', () => {
  const granules = fc.array(granule, { minLength: 1, maxLength: 6 })
  let [nowhere, somewhere] = [0, 0]
  fc.assert(
    fc.property(granules, predicate, fc.nat(5), (granules, predicate, start) => {
      const from = Math.min(start, granules.length - 1)
      const zones = zonesOf(granules)
      const isNowhere = isCertainNowhere(predicate, zones, from, granules.length)
      const certain = granules.slice(from).map((_, i) => {
        zones.granule = from + i
        return isCertain(predicate, zones)
      })
      if (isNowhere) {
        nowhere++
        expect(certain).not.toContain(true)
      } else if (predicate.kind === 'comparison') {
        somewhere++
        expect(certain).toContain(true)
      }
    }),
    { numRuns: 500 },
  )
  expect(Math.min(nowhere, somewhere)).toBeGreaterThan(20)
})
