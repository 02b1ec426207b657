/** The parts of a run that are read as batches, and what need not be asked of their rows. */
import type { BoundExpression } from '../binder/bound.ts'
import { granuleRows } from '../vector/column.ts'
import { isCertain, mayBeCertain } from './certain.ts'
import type { Filter } from './filter.ts'
import type { RowRun } from './row-run.ts'

/** Rows `from … to` of a run, all in one granule of its column set. */
export interface RunPart {
  readonly from: number
  readonly to: number
}

/** The parts of a run, the newest rows first. */
export function newestFirst({ firstRow, rowCount }: RowRun): RunPart[] {
  const parts: RunPart[] = []
  for (let to = rowCount; to > 0; ) {
    const last = firstRow + to - 1
    const from = Math.max(0, last - (last % granuleRows) - firstRow)
    parts.push({ from, to })
    to = from
  }
  return parts
}

/** Makes the filter of a part: predicates that all rows of its granule pass are not asked. */
export class GranuleFilters {
  readonly #predicates: readonly BoundExpression[]
  readonly #mayBeCertain: readonly boolean[]
  readonly #compile: (asked: readonly boolean[]) => Filter
  readonly #filters = new Map<string, Filter>()

  /** @param compile makes a filter of some of the predicates */
  constructor(
    predicates: readonly BoundExpression[],
    compile: (asked: readonly boolean[]) => Filter,
  ) {
    this.#predicates = predicates
    this.#mayBeCertain = predicates.map(mayBeCertain)
    this.#compile = compile
  }

  of({ firstRow, zones }: RowRun, part: RunPart): Filter {
    if (zones) zones.granule = Math.floor((firstRow + part.from) / granuleRows)
    const asked = this.#predicates.map((predicate, i) => {
      return !zones || !this.#mayBeCertain[i] || !isCertain(predicate, zones)
    })
    const key = asked.join()
    const filter = this.#filters.get(key) ?? this.#compile(asked)
    this.#filters.set(key, filter)
    return filter
  }
}
