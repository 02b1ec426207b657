/**
 * Random records: mixed kinds, nulls, missing fields, nesting, integers past 2^53, odd texts, and
 * traces of several spans.
 */
import fc from 'fast-check'
import type { Value } from '../../src/type/value.ts'
import { farTimes, scalars, texts, toObject, values } from './arbitrary-value.ts'

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
const counts: fc.Arbitrary<Value> = fc.integer({ min: 0, max: 5 })

const created = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '2024-01-01T00:00:00Z',
      '2024-01-01T00:00:00.500Z',
      '2024-01-31T23:59:59Z',
      '2024-02-29T12:00:00.000001Z',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(...farTimes) },
)

export type ArbitraryRecord = { readonly [field: string]: Value }

const score = maybe(fc.oneof(quarters, fc.constant(null)))

/** Few traces, so that most have several spans; some have no root, some several. */
const place = {
  root_span_id: fc.constantFrom('t1', 't2', 't3', 't4'),
  span_id: fc.constantFrom<Value | undefined>(undefined, undefined, 'parent', 'a', 'b'),
  span_parents: fc.constantFrom<Value>(null, null, [], ['parent'], ['parent'], ['a'], ['a', 'b']),
}

/**
 * Records without ids. Numbers of `scores` and `metrics`, and `metadata.n`, are quarters, whose sums
 * are exact. No price is known of any model.
 */
export const records: fc.Arbitrary<ArbitraryRecord> = objectOf({
  ...place,
  created,
  input: maybe(values),
  output: maybe(fc.oneof(texts, values)),
  error: fc.option(fc.constantFrom<Value>('timeout', null, { type: 'rate', code: 429 }), {
    nil: undefined,
    freq: 1,
  }),
  metadata: maybe(
    objectOf({
      a: maybe(values),
      b: maybe(scalars),
      n: maybe(fc.oneof({ weight: 5, arbitrary: quarters }, { weight: 1, arbitrary: texts })),
      c: maybe(objectOf({ d: maybe(scalars) })),
      model: maybe(fc.constantFrom('m1', 'm2', 'm3')),
      'odd key': maybe(texts),
    }),
  ),
  span_attributes: maybe(
    objectOf({
      type: maybe(fc.constantFrom('llm', 'tool', 'task')),
      name: maybe(fc.constantFrom('call', 'search')),
      purpose: fc.constantFrom(undefined, undefined, undefined, 'scorer'),
    }),
  ),
  scores: maybe(objectOf({ x: score, y: score })),
  metrics: maybe(
    objectOf({
      n: maybe(quarters),
      start: maybe(counts),
      end: maybe(counts),
      tokens: maybe(counts),
      prompt_tokens: maybe(counts),
      time_to_first_token: maybe(quarters),
      estimated_cost: maybe(quarters),
      cached: maybe(fc.constantFrom(0, 1)),
    }),
  ),
  tags: maybe(fc.array(fc.constantFrom('a', 'b', 'hello'), { maxLength: 3 })),
}) as fc.Arbitrary<ArbitraryRecord>
