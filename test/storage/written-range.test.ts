import { expect, test } from 'vitest'
import { type RangeQuestion, writtenRange } from '../../src/storage/read/written-range.ts'
import type { LogEntry } from '../../src/storage/record-log.ts'

/** A transaction of so many seconds since 1970. */
const at = (seconds: number, counter = 0) => seconds * 0x10000 + counter

function logOf(entries: readonly (readonly [transaction: number, object: number, rows: number])[]) {
  return {
    *log(after: number, through = Number.POSITIVE_INFINITY): Generator<LogEntry> {
      for (const [transaction, object, rows] of entries) {
        if (transaction <= after || transaction > through) continue
        const write = { object, rows, supersessions: 0, bytes: 0 }
        yield { transaction, first: transaction, objects: [write] }
      }
    },
  }
}

const question: RangeQuestion = {
  objects: new Set([1]),
  after: 0,
  through: at(100_000),
  mostRows: 10,
  periodSeconds: 3600,
}

test('a range ends before what would make it too long, and a transaction is never divided', () => {
  const log = logOf([
    [at(10), 1, 6],
    [at(11), 2, 100],
    [at(12), 1, 4],
    [at(13), 1, 1],
    [at(14), 1, 50],
  ])
  const first = writtenRange(log, question)
  expect(first).toEqual({ first: at(10), rows: 10, through: at(12), isWhole: true })
  const second = writtenRange(log, { ...question, after: first.through })
  expect(second).toEqual({ first: at(13), rows: 1, through: at(13), isWhole: true })
  const third = writtenRange(log, { ...question, after: second.through })
  expect(third).toEqual({ first: at(14), rows: 50, through: at(100_000), isWhole: true })
})

test('a range has no rows of two periods, but may have transactions of others between them', () => {
  const log = logOf([
    [at(3599), 1, 1],
    [at(3600), 2, 1],
    [at(3700), 1, 1],
    [at(3701, 7), 1, 1],
  ])
  const first = writtenRange(log, question)
  expect(first).toEqual({ first: at(3599), rows: 1, through: at(3600), isWhole: true })
  const second = writtenRange(log, { ...question, after: first.through })
  expect(second).toMatchObject({ first: at(3700), rows: 2, isWhole: true })
})

test('what nobody wants is passed over, in several calls where it is long', () => {
  const log = logOf(
    Array.from({ length: 12_000 }, (_, i) => [at(1, i + 1), i === 11_000 ? 1 : 2, 1]),
  )
  let found = writtenRange(log, question)
  expect(found).toMatchObject({ first: undefined, isWhole: false })
  let calls = 1
  for (; !found.isWhole; calls++) {
    found = writtenRange(log, { ...question, after: found.through, found })
  }
  expect(calls).toBe(3)
  expect(found).toEqual({ first: at(1, 11_001), rows: 1, through: question.through, isWhole: true })
})
