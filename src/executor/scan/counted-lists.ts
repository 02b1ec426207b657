/**
 * Counts the lists of rows, in place of making a row of each element: where a query asks for nothing but
 * elements, equal lists give equal rows, which come once, with a weight.
 */
import { type BoundAggregate, fieldsOf, hiddenField } from '../../binder/bound.ts'
import { countCodes } from '../../kernel/aggregate.ts'
import { newCodes, newState } from '../../kernel/arena.ts'
import { countStoredCodes } from '../../kernel/code-counts.ts'
import { pickCodes } from '../../kernel/gather.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { StoredIntegers } from '../../vector/elements.ts'
import type { DictionaryEntries, DictionaryVector, Selection } from '../../vector/vector.ts'

/** Whether no more is asked of rows than what the first unpivot, and those after it, make of them. */
export function asksElementsAlone({ unpivots, unpivotedPredicates, stage }: PhysicalPlan): boolean {
  if (stage.kind !== 'groups' || stage.row || !stage.aggregates.every(isWeighed)) return false
  const made = unpivots.flatMap(({ index }) => [
    hiddenField.unpivotName(index),
    hiddenField.unpivotValue(index),
  ])
  const asked = [
    ...unpivots.slice(1).map(({ expression }) => expression),
    ...unpivotedPredicates,
    ...stage.keys,
    ...stage.aggregates.flatMap(({ arguments: given, filter }) => [
      ...given,
      ...(filter ? [filter] : []),
    ]),
  ]
  return fieldsOf(asked).every(([name]) => made.includes(String(name)))
}

const repetitionIsNothing: ReadonlySet<BoundAggregate['name']> = new Set([
  ...(['count_distinct', 'min', 'max', 'bool_and', 'bool_or'] as const),
])

/** Whether it knows weights, or gives the same whatever they are. */
function isWeighed({ name, distinct }: BoundAggregate): boolean {
  return name === 'count' || name === 'count_if' || distinct || repetitionIsNothing.has(name)
}

/** How many rows have each of the lists of a dictionary. */
export class CountedLists {
  #entries: DictionaryEntries | undefined
  #counts: Float64Array = new Float64Array(0)

  /** The dictionary whose lists are counted. */
  get entries(): DictionaryEntries | undefined {
    return this.#entries
  }

  /** By code. */
  get counts(): Float64Array {
    return this.#counts
  }

  /** Of the same dictionary as rows before, unless all of those were taken. */
  add({ codes, entries }: DictionaryVector, rowCount: number, selection: Selection): void {
    this.#open(entries)
    let alive = codes
    if (selection) {
      alive = newCodes(selection.length)
      pickCodes(codes, selection, alive)
    }
    countCodes(alive, selection ? selection.length : rowCount, this.#counts)
  }

  /** The same of all rows of a batch as they are stored; false: nothing was counted. */
  addStored(stored: StoredIntegers, entries: DictionaryEntries): boolean {
    this.#open(entries)
    return countStoredCodes(stored, this.#counts.subarray(0, entries.size))
  }

  #open(entries: DictionaryEntries): void {
    if (this.#entries === entries) return
    if (this.#counts.length < entries.size) this.#counts = newState(entries.size, 0)
    else this.#counts.fill(0)
    this.#entries = entries
  }

  /** What was counted is not needed any more. */
  clear(): void {
    this.#entries = undefined
  }
}
