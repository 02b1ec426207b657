import { expect, test } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { evaluate } from '../../src/binder/evaluate.ts'
import { keyAt } from '../../src/executor/column/key-column.ts'
import type { RowsResult } from '../../src/executor/task/task.ts'
import { formatPaginationKey } from '../../src/type/transaction.ts'
import { paginationKeyAt } from '../../src/vector/row-keys.ts'
import { constant, context, field, inputKinds, ScannedRecords } from '../support/scan-task.ts'

test.each(inputKinds)(
  'rows are sampled by the numbers of their keys as by the text: %s',
  (kind) => {
    const records = new ScannedRecords(Array.from({ length: 50 }, (_, i) => ({ id: `r${i}` })))
    for (const seed of [0, 7]) {
      const hash: BoundExpression = {
        kind: 'call',
        name: 'hash_fraction',
        arguments: [field('_pagination_key'), constant(seed)],
        type: 'number',
      }
      const sort = [{ expression: hash, descending: false }]
      const stage = { kind: 'rows', carried: [] } as const
      const { rows } = records.scan({ stage, sort }, kind) as RowsResult
      const byText = Array.from({ length: 50 }, (_, row) => {
        const text = formatPaginationKey(paginationKeyAt(rows, row))
        return evaluate(hash, () => text, context)
      })
      expect(byText.map((_, row) => keyAt(rows.keys[0]!, row))).toEqual(byText)
      expect(new Set(byText).size).toBe(50)
    }
  },
)
