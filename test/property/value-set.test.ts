/** One of many values: written as comparisons, or as a list, the answer is what one comparison after the other gives. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { equals } from '../../src/type/compare.ts'
import { or } from '../../src/type/logic.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { parseTimestamp } from '../../src/type/time.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'
import { ValueSet } from '../../src/type/value-set.ts'
import { randomSeed as seed } from '../support/random-seed.ts'
import { openLogs } from '../support/temporary-logs.ts'

const day = (n: number) => `2024-01-${String(n + 1).padStart(2, '0')}T00:00:00Z`

/** As JSON, which the language writes alike; equal ones come often. */
const scalars = fc.oneof(
  fc.integer({ min: -3, max: 12 }).map(String),
  fc.integer({ min: 0, max: 8 }).map((n) => String(n / 4)),
  fc.constantFrom('9007199254740992', '-0', '1e300', '1.0', '4000000000'),
  fc.integer({ min: 0, max: 9 }).map((n) => `"t${n}"`),
  fc.constantFrom(
    '""',
    '"1"',
    '"true"',
    `"${'long '.repeat(20)}"`,
    `"${'long '.repeat(19)}lOng "`,
    '"ü🎉"',
  ),
  fc.integer({ min: 0, max: 5 }).map((n) => `"${day(n)}"`),
  fc.constantFrom('true', 'false'),
)
const values = fc.oneof(
  { weight: 6, arbitrary: scalars },
  fc.constantFrom('[1]', '[1,"t1"]', '[]', 'null'),
)
/** A comparison with null asks whether there is a value, and integers that no double has come back rounded. */
const compared = fc.oneof(
  { weight: 9, arbitrary: scalars },
  fc.constantFrom('9007199254740993', '-12345678901234567890'),
)

/** Values of one kind, as columns have them; and any. */
const columns = [
  fc.integer({ min: -3, max: 12 }).map(String),
  fc.integer({ min: 0, max: 30 }).map((n) => String(n / 4)),
  fc.integer({ min: 0, max: 9 }).map((n) => `"t${n}"`),
  values,
]

function oneAfterTheOther(value: Value, list: readonly Value[]): boolean | null {
  return list.reduce<boolean | null>((found, item) => or(found, equals(value, item)), false)
}

test('a set answers as one comparison after the other does', () => {
  const times = fc.integer({ min: 0, max: 5 }).map((n): Value => parseTimestamp(day(n))!)
  const any = fc.oneof(
    { weight: 4, arbitrary: fc.oneof(values, compared).map((text) => parseJson(text)) },
    times,
    fc.constant<Value>(new Timestamp(0)),
  )
  fc.assert(
    fc.property(fc.array(any, { maxLength: 30 }), any, (list, value) => {
      expect(new ValueSet(list).has(value)).toBe(oneAfterTheOther(value, list))
    }),
    { seed, numRuns: 2000 },
  )
})

test('comparisons joined by or, by and, and lists give the rows that one comparison after the other gives', async () => {
  const { engine, insert, answer } = await openLogs(100)
  const rows = fc.sample(fc.tuple(...columns), { seed, numRuns: 300 })
  const texts = fc.sample(fc.uuid(), { seed, numRuns: rows.length })
  const bodies = rows.map((row, i) => {
    const fields = row.map((value, c) => `"f${c}":${value}`).join()
    return JSON.parse(
      `{"id":"r${i}","created":"${day(i % 9)}","input":"${texts[i]}","metadata":{${fields}}}`,
    ) as object
  })
  await insert(bodies.slice(0, 200))
  await engine.flush()
  await insert(bodies.slice(200))
  const created = rows.map((_, i): Value => parseTimestamp(day(i % 9))!)
  const fields: [string, Value[], fc.Arbitrary<string>][] = [
    ...columns.map((_, c): [string, Value[], fc.Arbitrary<string>] => {
      return [`metadata.f${c}`, rows.map((row) => parseJson(row[c]!)), compared]
    }),
    ['input', texts, fc.constantFrom(...texts.map((text) => `"${text}"`), '1')],
    ['created', created, fc.integer({ min: 0, max: 20 }).map((n) => `"${day(n)}"`)],
  ]
  for (const [field, of, items] of fields) {
    for (const list of fc.sample(fc.array(items, { minLength: 1, maxLength: 40 }), {
      seed,
      numRuns: 6,
    })) {
      const parsed = list.map((text) => parseJson(text))
      const truth = of.map((value) => oneAfterTheOther(value, parsed))
      const passing = (wanted: boolean) =>
        truth.flatMap((each, i) => (each === wanted ? `r${i}` : [])).sort()
      const written = list.map(writtenLiteral)
      const found = async (filter: string) => {
        const answered = (await answer(`select: id | filter: ${filter}`)) as { id: string }[]
        return answered.map(({ id }) => id).sort()
      }
      const [half, rest] = [written.slice(0, 3), written.slice(3)]
      const either = [...half.map((item) => `${field} = ${item}`), `${field} in [${rest}]`]
      for (const filter of [
        `${field} in [${written}]`,
        `${field} in [null, ${written}]`,
        written.map((item) => `${field} = ${item}`).join(' or '),
        ...(rest.length > 0 ? [either.join(' or ')] : []),
      ]) {
        expect([filter, await found(filter)]).toEqual([filter, passing(true)])
      }
      for (const filter of [
        `${field} not in [${written}]`,
        written.map((item) => `${field} != ${item}`).join(' and '),
        `not (${written.map((item) => `${item} = ${field}`).join(' or ')})`,
      ]) {
        expect([filter, await found(filter)]).toEqual([filter, passing(false)])
      }
    }
  }
})

/** JSON with texts in single quotes, as queries have them. */
function writtenLiteral(json: string): string {
  return json.replaceAll('"', "'")
}
