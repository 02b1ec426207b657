/** The ranges of a run that are read as batches, and what need not be asked of their rows. */
import type { BoundExpression } from '../../binder/bound.ts'
import { newCodes } from '../../kernel/arena.ts'
import { granuleRows } from '../../vector/column.ts'
import { isInSet, type RowSet } from '../../vector/row-set.ts'
import { rowsOf, type Selection } from '../../vector/vector.ts'
import { type Filter, filterOf } from '../filter/filter.ts'
import type { TextCandidates } from '../text/text-candidates.ts'
import { isCertain, mayBeCertain } from './certain.ts'
import type { RowRun } from './row-run.ts'
import type { Zones } from './zones.ts'

/** Rows `from … to` of a run, all in one granule of its column set. */
export interface BatchRange {
  readonly from: number
  readonly to: number
}

/** The batches of a run, the newest rows first. */
export function newestFirst({ firstRow, rowCount }: RowRun): BatchRange[] {
  const parts: BatchRange[] = []
  for (let to = rowCount; to > 0; ) {
    const last = firstRow + to - 1
    const from = Math.max(0, last - (last % granuleRows) - firstRow)
    parts.push({ from, to })
    to = from
  }
  return parts
}

/** Whether a filter asks a predicate, knows that all rows pass it, or leaves it to another filter. */
export type Asked = boolean | 'elsewhere'

/**
 * Makes the filter of a part: predicates that all rows of its granule pass are not asked, nor are those
 * of which an index of texts has said that a row passes.
 */
export class GranuleFilters {
  readonly #predicates: readonly BoundExpression[]
  readonly #mayBeCertain: readonly boolean[]
  readonly #isNeverCertain: boolean
  readonly #all: readonly Asked[]
  readonly #compile: (asked: readonly Asked[]) => Filter
  readonly #filters = new Map<string, Filter>()
  /** Asks all. */
  #whole: Filter | undefined
  /** Of the last granule. */
  readonly #lastAsked: boolean[] = []
  #last: Filter | undefined

  /** @param compile makes a filter of some of the predicates */
  constructor(
    predicates: readonly BoundExpression[],
    compile: (asked: readonly Asked[]) => Filter,
  ) {
    this.#predicates = predicates
    this.#mayBeCertain = predicates.map(mayBeCertain)
    this.#isNeverCertain = !this.#mayBeCertain.includes(true)
    this.#compile = compile
    this.#all = predicates.map(() => true)
  }

  /** The filter that asks all, whatever is known of a granule. */
  get whole(): Filter {
    this.#whole ??= this.#filterOf(this.#all)
    return this.#whole
  }

  /** @param candidates those among which the filter is given rows */
  of(run: RowRun, part: BatchRange, candidates: TextCandidates | undefined): Filter {
    const { firstRow, zones } = run
    if (!candidates && (!zones || this.#isNeverCertain)) {
      return this.whole
    }
    if (zones) zones.granule = Math.floor((firstRow + part.from) / granuleRows)
    if (zones && !candidates) return this.#ofGranule(zones)
    const partlySure: { readonly at: number; readonly sure: RowSet }[] = []
    const asked = this.#predicates.map((_, at): Asked => {
      const sure = candidates?.sure[at]
      if (sure === 'all') return false
      if (zones && this.#isCertain(at, zones)) return false
      if (!sure || sure === 'none') return true
      partlySure.push({ at, sure })
      return 'elsewhere'
    })
    const filter = this.#filterOf(asked)
    if (partlySure.length === 0) return filter
    const first = firstRow + part.from
    // Texts are read last.
    return filterOf((batch, selection) =>
      partlySure.reduce(
        (rows, { at, sure }) => {
          const only = this.#filterOf(this.#predicates.map((_, i) => i === at || 'elsewhere'))
          const all = rowsOf(rows, batch.rowCount)
          // Of the batch that goes on, fields are not yet read: it would have those of few rows.
          return withSureRows(all, sure, first, (unsure) =>
            rowsOf(only.keep(run.batch(part.from, batch.rowCount), unsure), batch.rowCount),
          )
        },
        filter.keep(batch, selection),
      ),
    )
  }

  /** That of the granule before, where all is asked of both that is asked of one. */
  #ofGranule(zones: Zones): Filter {
    let isSame = this.#last !== undefined
    for (let at = 0; at < this.#predicates.length; at++) {
      const isAsked = !this.#isCertain(at, zones)
      isSame &&= this.#lastAsked[at] === isAsked
      this.#lastAsked[at] = isAsked
    }
    if (!this.#last || !isSame) this.#last = this.#filterOf([...this.#lastAsked])
    return this.#last
  }

  #isCertain(at: number, zones: Zones): boolean {
    return this.#mayBeCertain[at]! && isCertain(this.#predicates[at]!, zones)
  }

  #filterOf(asked: readonly Asked[]): Filter {
    const key = asked.join()
    const filter = this.#filters.get(key) ?? this.#compile(asked)
    this.#filters.set(key, filter)
    return filter
  }
}

/**
 * The rows that are sure to pass, and those of the others that do.
 *
 * @param sure by their places in the column set, in which row 0 of the batch is `first`
 */
function withSureRows(
  rows: Int32Array,
  sure: RowSet,
  first: number,
  filter: (unsure: Int32Array) => Int32Array,
): Selection {
  const unsure = newCodes(rows.length)
  let count = 0
  for (let i = 0; i < rows.length; i++) {
    if (!isInSet(sure, first + rows[i]!)) unsure[count++] = rows[i]!
  }
  if (count === 0) return rows
  const passing = filter(unsure.subarray(0, count))
  const kept = newCodes(rows.length)
  let keptCount = 0
  for (let i = 0, next = 0; i < rows.length; i++) {
    const row = rows[i]!
    const passes = passing[next] === row
    if (passes) next++
    if (passes || isInSet(sure, first + row)) kept[keptCount++] = row
  }
  return kept.subarray(0, keptCount)
}
