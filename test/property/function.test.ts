/** Each scalar function gives what the oracle's own version of it gives, whatever the arguments. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { callScalar, scalarFunction } from '../../src/function/scalar.ts'
import { microsecondsOf } from '../../src/type/time.ts'
import { Interval, isObject, Timestamp, type Value } from '../../src/type/value.ts'
import { orderedJson } from '../../src/type/write-json.ts'
import { callsOf } from '../support/arbitrary-call.ts'
import { values } from '../support/arbitrary-value.ts'
import { call } from '../support/oracle-function.ts'
import { json, Moment, type Plain, Span } from '../support/oracle-value.ts'

const runs = process.env.ASSAY_SLOW === '1' ? 1_000_000 : 30_000
const clock = { now: Date.UTC(2024, 4, 17, 10, 42, 31, 250), tzOffset: 0 }

const times = fc.constantFrom(
  '2024-02-29T12:30:45.123456Z',
  '2023-12-31',
  '1969-07-20T20:17:40Z',
  '2024-12-30 23:59:59.999',
)
const any: fc.Arbitrary<Value> = fc.oneof(
  { weight: 8, arbitrary: values },
  { weight: 1, arbitrary: times },
  { weight: 1, arbitrary: times.map((text) => new Timestamp(Date.parse(`${text.slice(0, 10)}Z`))) },
  { weight: 1, arbitrary: fc.integer().map((ms) => new Interval(0, ms)) },
  { weight: 1, arbitrary: values.map((value) => orderedJson(value)) },
)

it('functions give what the oracle gives', () => {
  fc.assert(
    fc.property(
      callsOf<Value>(any, (constant) => constant),
      ({ name, arguments: args }) => {
        const actual = callScalar(scalarFunction(name)!, args, clock)
        const expected = call(name, args.map(toPlain), clock)
        if (expected === undefined) throw new Error(`the oracle has no ${name}()`)
        expect(json(toPlain(actual), true)).toBe(json(expected, true))
      },
    ),
    { numRuns: runs },
  )
})

function toPlain(value: Value): Plain {
  if (value instanceof Timestamp) return new Moment(microsecondsOf(value))
  if (value instanceof Interval) return new Span(value.months, value.ms)
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isObject(value)) return value as Plain
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]))
}
