/** What metadata answers is what reading all rows gives, or it does not answer. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BoundAggregate, BoundExpression } from '../../src/binder/bound.ts'
import { vectorOf } from '../../src/executor/column/wire-values.ts'
import { mergeGroups } from '../../src/executor/group/merge-groups.ts'
import { ZoneMapGroups } from '../../src/executor/group/zone-map-groups.ts'
import type { PartialGroups } from '../../src/executor/task/task.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import { valueReader } from '../../src/vector/vector.ts'
import { constant, field, planOf, ScannedRecords } from '../support/scan-task.ts'

/** Of one size: see `aggregate-split.test.ts`. */
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -1e9, max: 1e9 }).map((integer) => integer / 1000),
)
/** Values that one column holds, and some that make the field one of several columns. */
const columnValues = fc.constantFrom(
  number,
  fc.oneof(number, fc.constantFrom(null, undefined)),
  fc.constantFrom(null, undefined),
  fc.constantFrom<unknown>('2024-01-01T00:00:00Z', '2024-05-01T00:00:00Z', undefined),
  fc.constantFrom<unknown>(1, 'text', true, { deep: 1 }, [1], undefined),
)

const records = columnValues.chain((values) =>
  fc
    .array(fc.tuple(values, number), { minLength: 1, maxLength: 12 })
    .map((rows) => rows.map(([a, b], i) => ({ id: `r${i}`, metadata: { a, b } }))),
)

const a = field('metadata', 'a')
const b = field('metadata', 'b')
const isNull = (operand: BoundExpression): BoundExpression => {
  return { kind: 'is_null', operand, type: 'boolean' } as BoundExpression
}

const predicates = fc.constantFrom<readonly BoundExpression[]>(
  [],
  [isNull(a)],
  [{ kind: 'not', operand: isNull(a), type: 'boolean' } as BoundExpression],
  ...(['lt', 'le', 'gt', 'ge', 'eq', 'ne'] as const).map((operator): BoundExpression[] => {
    const wide = constant(operator.startsWith('g') ? -4 : 4) as BoundExpression
    return [{ kind: 'comparison', operator, left: a, right: wide, type: 'boolean' } as never]
  }),
)

const aggregates = fc.shuffledSubarray(
  ['count', 'count a', 'sum a', 'avg a', 'min a', 'max a', 'sum b', 'avg b', 'max b'].map(
    (text): BoundAggregate => {
      const [name, of] = text.split(' ')
      const operands = of === undefined ? [] : [of === 'a' ? a : b]
      return {
        name: name as BoundAggregate['name'],
        arguments: operands,
        parameters: [],
        distinct: false,
        filter: undefined,
        type: 'json',
      }
    },
  ),
  { minLength: 1, maxLength: 4 },
)

test('aggregates from metadata are those of the rows', () => {
  let known = 0
  fc.assert(
    fc.property(records, predicates, aggregates, (given, predicates, aggregates) => {
      ScannedRecords.during(given, (rows) => {
        const stage = { kind: 'groups', keys: [], aggregates, row: undefined } as const
        const plan = planOf({ stage, predicates })
        const { metadata } = writeSegment(rows.set, 1)
        const groups = ZoneMapGroups.of(plan)!
        const range = { from: 0, to: given.length }
        if (groups.take(metadata, metadata.objects[0]!, range).length > 0) return
        known++
        const result = (partials: PartialGroups[]) => {
          const merged = mergeGroups(stage, partials, [])
          const columns = merged.groupColumns.map((column) => valueReader(vectorOf(column)))
          return columns.map((read) => canonicalJson(read(0)))
        }
        const read = rows.scan({ stage, predicates }) as PartialGroups
        expect(result([groups.toPartial()])).toEqual(result([read]))
      })
    }),
    { numRuns: 200 },
  )
  expect(known).toBeGreaterThan(15)
})
