import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareRowKeys, type RowKey } from '../../src/type/transaction.ts'
import { apply, fieldsOf, type Model, row, sorted, toJson } from '../support/record-model.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const history = fc.array(fc.array(row, { maxLength: 4 }), { minLength: 1, maxLength: 8 })

/** The fields of all records, by the rule of visibility alone, from rows and supersessions. */
function visible(records: TemporaryRecords, snapshot: number): Model {
  const { reader } = records
  const name = (key: RowKey) => `${key.transaction}/${key.index}`
  const lowest = { transaction: 0, index: 0 }
  const highest = { transaction: 2 ** 48 - 1, index: 0xffff }
  const superseded = new Set(
    Array.from(reader.supersessions(1, lowest, highest, snapshot), ({ version }) => name(version)),
  )
  const model: Model = new Map()
  let previous = lowest
  for (const { key, view } of reader.readDelta(1, 0, snapshot)) {
    expect(compareRowKeys(previous, key)).toBeLessThan(0)
    previous = key
    if (view.isTombstone || superseded.has(name(key))) continue
    const id = JSON.parse(view.fieldText('id')!) as string
    expect(model.has(id)).toBe(false)
    model.set(
      id,
      fieldsOf((field) => view.fieldText(field)),
    )
  }
  return model
}

test('every version of a store is what replaying its requests gives', () => {
  fc.assert(
    fc.property(history, fc.integer({ min: 1, max: 4 }), (requests, together) => {
      const records = new TemporaryRecords()
      const model: Model = new Map()
      const past: { transaction: number; expected: unknown }[] = []
      for (let from = 0; from < requests.length; from += together) {
        const group = requests.slice(from, from + together)
        const outcome = records.insertTogether(group.map((rows) => rows.map(toJson)))
        if ('error' in outcome) throw new Error(outcome.error.message)
        group.forEach((rows, i) => {
          for (const row of rows) apply(model, row)
          const transaction = outcome.written.transactions[i]!
          past.push({ transaction, expected: sorted(model) })
        })
      }
      for (const { transaction, expected } of past) {
        expect(sorted(visible(records, transaction))).toEqual(expected)
        const byId: Model = new Map()
        for (const id of ['r', 's', 't']) {
          const found = records.reader.versionAsOf(1, id, transaction)
          if (found)
            byId.set(
              id,
              fieldsOf((name) => found.view.fieldText(name)),
            )
        }
        expect(sorted(byId)).toEqual(expected)
      }
      records.close()
    }),
    { numRuns: 150 },
  )
})
