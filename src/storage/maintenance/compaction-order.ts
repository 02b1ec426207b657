/** The order in which compaction takes the rows of several segments. */
import type { KeyColumns } from '../../vector/column.ts'

/**
 * Rows that are taken one after the other: run `i` is the rows `from[i]` to `to[i]` of the source
 * `source[i]`. Segments that do not overlap give few and long runs, which are copied as wholes.
 */
export class Runs {
  readonly source: number[] = []
  readonly from: number[] = []
  readonly to: number[] = []
  rowCount = 0

  get count(): number {
    return this.source.length
  }

  add(source: number, from: number, to: number): void {
    if (from === to) return
    const last = this.source.length - 1
    this.rowCount += to - from
    if (this.source[last] === source && this.to[last] === from) {
      this.to[last] = to
      return
    }
    this.source.push(source)
    this.from.push(from)
    this.to.push(to)
  }

  /** Takes row `i` of `source` in place of the `i`-th row of these, for all of the ascending `rows`. */
  replacedBy(source: number, rows: readonly number[]): Runs {
    if (rows.length === 0) return this
    const runs = new Runs()
    let next = 0
    let at = 0
    for (let run = 0; run < this.count; run++) {
      const shift = this.from[run]! - at
      const end = at + this.to[run]! - this.from[run]!
      while (next < rows.length && rows[next]! < end) {
        const row = rows[next++]!
        runs.add(this.source[run]!, at + shift, row + shift)
        runs.add(source, row, row + 1)
        at = row + 1
      }
      runs.add(this.source[run]!, at + shift, end + shift)
      at = end
    }
    return runs
  }
}

/** All rows of sources that are ordered by `compareKeys`, in that order. */
export function mergeOrder(sources: readonly KeyColumns[]): Runs {
  const runs = new Runs()
  const next = sources.map(() => 0)
  const before = (a: number, b: number) =>
    compareRows(sources[a]!, next[a]!, sources[b]!, next[b]!) < 0
  /** Sources that have rows left, by their next ones. */
  const waiting: number[] = []
  const wait = (source: number) => {
    let place = 0
    while (place < waiting.length && before(waiting[place]!, source)) place++
    waiting.splice(place, 0, source)
  }
  for (const [source, keys] of sources.entries()) if (keys.object.length > 0) wait(source)
  for (;;) {
    const first = waiting.shift()
    if (first === undefined) return runs
    const keys = sources[first]!
    const from = next[first]!
    const second = waiting[0]
    const to =
      second === undefined
        ? keys.object.length
        : firstAfter(keys, from, sources[second]!, next[second]!)
    runs.add(first, from, to)
    next[first] = to
    if (to < keys.object.length) wait(first)
  }
}

/** The first row after `from` that does not come before the row `limit` of `other`. */
function firstAfter(keys: KeyColumns, from: number, other: KeyColumns, limit: number): number {
  const count = keys.object.length
  let low = from + 1
  // Runs are short or very long: steps that double find the end of both quickly.
  let step = 1
  while (low + step <= count && compareRows(keys, low + step - 1, other, limit) < 0) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, count)
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareRows(keys, middle, other, limit) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compareRows(a: KeyColumns, rowA: number, b: KeyColumns, rowB: number): number {
  return (
    a.object[rowA]! - b.object[rowB]! ||
    a.paginationTransaction[rowA]! - b.paginationTransaction[rowB]! ||
    a.paginationIndex[rowA]! - b.paginationIndex[rowB]! ||
    a.transaction[rowA]! - b.transaction[rowB]! ||
    a.index[rowA]! - b.index[rowB]!
  )
}

/** The rows of `runs` for which `keep` holds. */
export function filterRuns(runs: Runs, keep: (source: number, row: number) => boolean): Runs {
  const kept = new Runs()
  for (let run = 0; run < runs.count; run++) {
    const source = runs.source[run]!
    for (let row = runs.from[run]!; row < runs.to[run]!; row++) {
      if (keep(source, row)) kept.add(source, row, row + 1)
    }
  }
  return kept
}

/**
 * Cuts the rows into parts of up to `rows` rows whose bytes are `bytes` or less, or of one row. What has to
 * be cut by rows is cut evenly, so that no small part is left.
 */
export function* cutRuns(
  runs: Runs,
  rowBytes: readonly number[],
  limits: { readonly rows: number; readonly rowBytes: number },
): Generator<{ readonly runs: Runs; readonly bytes: number }, void> {
  const evenRows = Math.ceil(runs.rowCount / Math.ceil(runs.rowCount / limits.rows))
  let part = new Runs()
  let bytes = 0
  for (let run = 0; run < runs.count; run++) {
    const source = runs.source[run]!
    const each = rowBytes[source]!
    const to = runs.to[run]!
    for (let from = runs.from[run]!; from < to; ) {
      const room = Math.min(
        evenRows - part.rowCount,
        Math.floor((limits.rowBytes - bytes) / each),
        to - from,
      )
      if (room <= 0 && part.rowCount > 0) {
        yield { runs: part, bytes: Math.round(bytes) }
        part = new Runs()
        bytes = 0
        continue
      }
      const taken = Math.max(room, 1)
      part.add(source, from, from + taken)
      bytes += taken * each
      from += taken
    }
  }
  if (part.rowCount > 0) yield { runs: part, bytes: Math.round(bytes) }
}

/** The keys of the rows, with what superseded them where that is given, by source. */
export function gatherKeys(
  sources: readonly KeyColumns[],
  runs: Runs,
  supersededBy?: readonly (Float64Array | undefined)[],
): KeyColumns {
  const count = runs.rowCount
  const keys = {
    object: new Int32Array(count),
    paginationTransaction: new Float64Array(count),
    paginationIndex: new Int32Array(count),
    transaction: new Float64Array(count),
    index: new Int32Array(count),
  }
  const names = Object.keys(keys) as (keyof typeof keys)[]
  for (const name of names) {
    copyRuns(
      runs,
      sources.map((source) => source[name]),
      keys[name],
    )
  }
  return {
    ...keys,
    ...shownTransactions(sources, runs, keys.transaction),
    ...(supersededBy && { supersededBy: gather(runs, supersededBy) }),
  }
}

/** Nothing where all are those of the keys. */
function shownTransactions(
  sources: readonly KeyColumns[],
  runs: Runs,
  transactions: Float64Array,
): Pick<KeyColumns, 'shownTransaction'> {
  if (sources.every((source) => source.shownTransaction === undefined)) return {}
  const shownTransaction = gather(
    runs,
    sources.map((source) => source.shownTransaction ?? source.transaction),
  )
  const isSame = shownTransaction.every((shown, row) => shown === transactions[row])
  return isSame ? {} : { shownTransaction }
}

function gather(runs: Runs, sources: readonly (Float64Array | undefined)[]): Float64Array {
  const gathered = new Float64Array(runs.rowCount)
  copyRuns(runs, sources, gathered)
  return gathered
}

type Numbers = Int32Array | Float64Array | Uint8Array

/** Up to so many rows a loop is faster than the view that `set` needs. */
const nearRows = 32

/** Rows of sources that are undefined stay as they are in `out`. */
export function copyRuns(
  runs: Runs,
  sources: readonly (Numbers | undefined)[],
  out: Numbers,
): void {
  let at = 0
  for (let run = 0; run < runs.count; run++) {
    const values = sources[runs.source[run]!]
    const from = runs.from[run]!
    const to = runs.to[run]!
    if (values !== undefined) {
      if (to - from > nearRows) out.set(values.subarray(from, to), at)
      else for (let row = from, i = at; row < to; row++, i++) out[i] = values[row]!
    }
    at += to - from
  }
}

/** The order without the rows of these objects. */
export function withoutRowsOf(
  objects: ReadonlySet<number> | undefined,
  sources: readonly { readonly keys: KeyColumns }[],
  order: Runs,
): Runs {
  if (!objects || objects.size === 0) return order
  const numbers = sources.map(({ keys }) => keys.object)
  return filterRuns(order, (source, row) => !objects.has(numbers[source]![row]!))
}
