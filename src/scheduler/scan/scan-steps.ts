/**
 * The steps of a scan that gives rows newest first: clusters of pieces, one after the other. A piece
 * that is a cluster by itself is read from its newest rows on, in ranges, so that the first rows leave
 * soon and few keys of rows wait to be printed.
 */
import type { TaskInput } from '../../executor/task/task.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { granuleRows } from '../../vector/column.ts'
import type { Piece } from './split.ts'

export interface ScanStep {
  readonly inputs: readonly TaskInput[]
  /** All rows of later steps are older. Undefined: older than those that this one finds. */
  readonly oldest: RowKey | undefined
}

/** Rows of a step: at first, and at most, which are read where few of them match. */
const firstRows = granuleRows
const mostRows = 32 * granuleRows

/** Rows that a step should find: their keys take 28 bytes each, and some steps are read ahead. */
const foundRows = 32_768

export class ScanSteps implements Iterable<ScanStep> {
  readonly #clusters: readonly (readonly Piece[])[]
  #size = firstRows
  #read = 0
  #found = 0

  /** @param clusters newest first */
  constructor(clusters: readonly (readonly Piece[])[]) {
    this.#clusters = clusters
  }

  /** Each step is as long as those before it have told that it should be. */
  *[Symbol.iterator](): Generator<ScanStep> {
    for (const cluster of this.#clusters) {
      const oldest = cluster
        .map((piece) => piece.oldest)
        .reduce((a, b) => (compareRowKeys(a, b) < 0 ? a : b))
      if (cluster.length > 1) yield { inputs: cluster.map(({ input }) => input), oldest }
      else yield* this.#ranges(cluster[0]!, oldest)
    }
  }

  /** Tells how many rows a step has found. */
  note({ inputs }: ScanStep, found: number): void {
    for (const input of inputs) if (input.kind === 'segment') this.#read += input.to - input.from
    this.#found += found
    const fitting = (foundRows * this.#read) / Math.max(1, this.#found)
    this.#size = Math.max(firstRows, Math.min(mostRows, fitting, this.#size * 2))
  }

  *#ranges({ input }: Piece, oldest: RowKey): Generator<ScanStep> {
    for (let { to } = input; to > input.from; ) {
      // Whole granules, so that no two steps read one.
      const start = Math.floor((to - this.#size) / granuleRows) * granuleRows
      const from = Math.max(input.from, start)
      const inputs = [{ ...input, from, to }]
      yield { inputs, oldest: from === input.from ? oldest : undefined }
      to = from
    }
  }
}
