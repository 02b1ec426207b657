/** Counts what is committed and has not arrived, without going over all of it again and again. */
import type { ReadTransaction } from '../storage/environment.ts'
import type { RecordReader } from '../storage/read/record-reader.ts'
import type { BacklogStatus } from './export-step.ts'

/** What a transaction's upper bits count: see `type/transaction.ts`. */
const perSecond = 0x10000
/** Entries that one update counts. */
const entriesAtOnce = 100_000

export class Backlog {
  readonly #reader: RecordReader
  /** Entries after `#from` and up to `#to` are counted. */
  #from: number
  #to: number
  #transactions = 0
  #rows = 0

  constructor(reader: RecordReader, through: number) {
    this.#reader = reader
    this.#from = through
    this.#to = through
  }

  update(through: number, transaction: ReadTransaction): BacklogStatus {
    if (through < this.#from) this.#reset(through)
    this.#leave(through, transaction)
    this.#count(transaction)
    const [oldest] = take(this.#reader.log(through, undefined, transaction), 1)
    const seconds = oldest ? Math.max(0, Date.now() / 1000 - oldest.transaction / perSecond) : 0
    return {
      transactions: this.#transactions,
      rows: this.#rows,
      seconds: Math.round(seconds),
      counted: this.#to,
    }
  }

  #reset(through: number): void {
    this.#from = through
    this.#to = through
    this.#transactions = 0
    this.#rows = 0
  }

  /** What has arrived. */
  #leave(through: number, transaction: ReadTransaction): void {
    if (through >= this.#to) this.#reset(through)
    if (through <= this.#from) return
    for (const { objects } of this.#reader.log(this.#from, through, transaction)) {
      this.#transactions--
      for (const { rows } of objects) this.#rows -= rows
    }
    this.#from = through
  }

  #count(transaction: ReadTransaction): void {
    for (const entry of take(this.#reader.log(this.#to, undefined, transaction), entriesAtOnce)) {
      this.#transactions++
      for (const { rows } of entry.objects) this.#rows += rows
      this.#to = entry.transaction
    }
  }
}

function* take<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count
  for (const item of items) {
    yield item
    if (--left === 0) return
  }
}
