/** What other threads encode ahead is what is encoded here, in the order in which it is sent. */
import { expect, onTestFinished, test } from 'vitest'
import {
  type BatchSource,
  type EncodedBatch,
  encodeBatch,
  firstBatch,
} from '../../src/clickhouse/batch-reader.ts'
import { EncodeAhead } from '../../src/clickhouse/encode-ahead.ts'
import { EncodeThreads } from '../../src/clickhouse/encode-threads.ts'
import type { Batch } from '../../src/clickhouse/export-state.ts'
import { sourceOf } from '../../src/clickhouse/read-records.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const requests = 6
const unknown = 2

/** Some requests to two objects, in ranges of one each. */
function begin() {
  const records = new TemporaryRecords()
  const transactions: number[] = []
  for (let i = 0; i < requests; i++) {
    records.insert([
      { id: 'same', input: `input ${i}` },
      { id: `new ${i}`, output: { i } },
    ])
    records.insert([{ id: 'of another', input: i }], unknown)
    transactions.push(records.reader.lastTransaction())
  }
  const threads = new EncodeThreads(records.directory, 2)
  const ahead = new EncodeAhead(threads)
  onTestFinished(() => ahead.close())
  const within = sourceOf(records.environment, (object) => object !== unknown)
  const run = { from: 0, through: transactions.at(-1)! }
  const batchAt = (place: number) => firstBatch(transactions[place - 1] ?? 0, transactions[place]!)
  const here = (batch: Batch) => within((source) => copyOf(encodeBatch(source, batch, run)))
  const next = async (batch: Batch, atRun = run) => {
    within((source: BatchSource) => ahead.begin(source, batch, atRun))
    const encoded = await ahead.take(batch)
    return encoded && copyOf(encoded)
  }
  return { ahead, run, within, batchAt, here, next }
}

function copyOf({ bytes, ...rest }: EncodedBatch) {
  return { ...rest, bytes: Buffer.from(bytes).toString('latin1') }
}

test('batches of threads are those of this one, in the order in which they are sent', async () => {
  const { ahead, run, within, batchAt, here, next } = begin()
  const memory = new SharedArrayBuffer(2 ** 16)
  ahead.giveBack({ batch: batchAt(0), rowCount: 1, bytes: Buffer.from(memory), marks: [] })
  within((source) => ahead.begin(source, batchAt(0), run))
  const first = await ahead.take(batchAt(0))
  expect(first!.rowCount).toBe(2)
  expect(first!.bytes.buffer.byteLength, 'in memory of one that was sent').toBe(memory.byteLength)
  expect(copyOf(first!)).toEqual(here(batchAt(0)))

  const whole = batchAt(1)
  expect(await next(whole)).toEqual(here(whole))
  const rest = { ...whole, begin: { object: 1, version: { transaction: whole.to, index: 0 } } }
  expect(await next(rest), 'what is left of a range').toEqual(here(rest))
  for (let place = 2; place < requests - 1; place++) {
    expect(await next(batchAt(place)), `range ${place}`).toEqual(here(batchAt(place)))
  }

  const broken = { ...batchAt(2), begin: undefined } as unknown as Batch
  expect(await next(broken), 'what cannot be encoded').toBeUndefined()
  ahead.clear()
  expect(await next(batchAt(requests - 1)), 'the last range').toBeUndefined()
})
