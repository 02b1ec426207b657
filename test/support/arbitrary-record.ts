/** Random records: mixed kinds, nulls, missing fields, nesting, integers past 2^53 and odd texts. */
import fc from 'fast-check'
import type { Value } from '../../src/type/value.ts'
import { scalars, texts, toObject, values } from './arbitrary-value.ts'

/** Present, or not. */
function maybe(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(value, { nil: undefined, freq: 4 })
}

function objectOf(fields: Record<string, fc.Arbitrary<Value | undefined>>): fc.Arbitrary<Value> {
  return fc
    .record(fields)
    .map((record) =>
      toObject(
        Object.entries(record).filter((entry): entry is [string, Value] => entry[1] !== undefined),
      ),
    )
}

const quarters = fc.integer({ min: -40, max: 40 }).map((number) => number / 4)

const created = fc.constantFrom(
  '2024-01-01T00:00:00Z',
  '2024-01-01T00:00:00.500Z',
  '2024-01-31T23:59:59Z',
  '2024-02-29T12:00:00.000001Z',
)

export type ArbitraryRecord = { readonly [field: string]: Value }

/** Records without ids. `scores`, `metrics` and `metadata.n` are quarters, whose sums are exact. */
export const records: fc.Arbitrary<ArbitraryRecord> = objectOf({
  created,
  input: maybe(values),
  output: maybe(fc.oneof(texts, values)),
  metadata: maybe(
    objectOf({
      a: maybe(values),
      b: maybe(scalars),
      n: maybe(fc.oneof({ weight: 5, arbitrary: quarters }, { weight: 1, arbitrary: texts })),
      c: maybe(objectOf({ d: maybe(scalars) })),
      'odd key': maybe(texts),
    }),
  ),
  scores: maybe(objectOf({ x: maybe(fc.oneof(quarters, fc.constant(null))) })),
  metrics: maybe(objectOf({ n: maybe(quarters) })),
  tags: maybe(fc.array(fc.constantFrom('a', 'b', 'hello'), { maxLength: 3 })),
}) as fc.Arbitrary<ArbitraryRecord>
