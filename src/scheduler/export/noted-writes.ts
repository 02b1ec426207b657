/** What was committed since the thread of the export has counted. */

interface NotedWrite {
  /** The last transaction. */
  transaction: number
  transactions: number
  rows: number
  readonly at: number
}

/** More are counted together. */
const mostNoted = 1024

export class NotedWrites {
  #writes: NotedWrite[] = []

  add(transaction: number, rows: number): void {
    const last = this.#writes.at(-1)
    if (last === undefined || this.#writes.length < mostNoted) {
      this.#writes.push({ transaction, transactions: 1, rows, at: performance.now() })
      return
    }
    last.transaction = transaction
    last.transactions++
    last.rows += rows
  }

  /** Forgets transactions up to this one, which are counted elsewhere. */
  counted(through: number): void {
    this.#writes = this.#writes.filter(({ transaction }) => transaction > through)
  }

  get sum(): { readonly transactions: number; readonly rows: number } {
    let [transactions, rows] = [0, 0]
    for (const write of this.#writes) {
      transactions += write.transactions
      rows += write.rows
    }
    return { transactions, rows }
  }

  /** How long the first of them waits. */
  get seconds(): number {
    const [first] = this.#writes
    return first ? (performance.now() - first.at) / 1000 : 0
  }
}
