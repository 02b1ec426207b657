import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { structuralKey } from '../../binder/rewrite.ts'
import { assert } from '../../error.ts'
import { onlyGroup } from '../../kernel/aggregate.ts'
import { forgetCopy } from '../../kernel/arena.ts'
import { granuleRows } from '../../vector/column.ts'
import type { Selection } from '../../vector/vector.ts'
import type { Batch, Field as BatchField, StoredField } from '../expression/batch.ts'
import { compile, compilePresence } from '../expression/compile.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import { compileFilter, type Filter } from '../filter/filter.ts'
import {
  asMask,
  asSelection,
  countFiltered,
  type FilteredRows,
  type RowCount,
  selectedCount,
} from '../filter/filtered-rows.ts'
import type { TaskDictionaries } from '../task/task-dictionaries.ts'
import { CountState } from './count.ts'
import { createAggregateState, distinctArgument } from './create.ts'
import { PercentileState } from './percentile.ts'
import { type AggregateState, type AliveRows, storedIn } from './state.ts'

type Field = Extract<BoundExpression, { kind: 'field' }>

interface Input {
  readonly state: AggregateState
  readonly arguments: readonly Evaluator[]
  /** The argument, if it is a field that the state may take as it is encoded. */
  readonly field: Field | undefined
  /** Place of its condition among `#filters`. */
  readonly filter: number | undefined
}

function countsPresent(state: AggregateState): boolean {
  return state instanceof CountState && state.counted === 'present'
}

/** Alike for percentiles of the same rows; others have no use for it. */
function rowsKey({ name, arguments: given, filter }: BoundAggregate): string {
  if (name !== 'percentile' && name !== 'median') return ''
  return [...given, ...(filter ? [filter] : [])].map(structuralKey).join()
}

/** Of a group, for most aggregates. */
const groupBytes = 32

/** For when there are no keys: all rows are in the first group. */
export const oneGroup = new Int32Array(granuleRows)

/** Whether all that it takes in is how many rows there are. */
function countsRows({ state, arguments: evaluators, filter }: Input): boolean {
  return state instanceof CountState && evaluators.length === 0 && filter === undefined
}

/** The argument as it is stored, if the state takes rows of it by a mask or a range. */
function whereIn(batch: Batch, { state, field, filter }: Input): StoredField | undefined {
  if (!field || filter !== undefined || !state.takesWhere) return undefined
  const stored = storedIn(batch.field(field.path))
  return stored && state.takesWhere(stored) ? stored : undefined
}

function rowsOfOneGroup(selection: Selection, rowCount: number): AliveRows {
  const count = selectedCount(selection, rowCount)
  return { rowCount, selection, groups: oneGroup, only: 0, count }
}

/** Of so many rows one that is kept is worth a look at all of them, which goes row after row. */
const maskedOf = 16

/** The aggregates of a grouping, and what they take in of each batch. */
export class AggregateInputs {
  readonly #inputs: readonly Input[]
  /** Those of them that only count rows, and the others. */
  readonly #rowCounts: readonly Input[]
  readonly #others: readonly Input[]
  /** Different conditions of aggregates, with room for the groups of the rows that they leave. */
  readonly #filters: readonly { readonly filter: Filter; readonly groups: Int32Array }[]

  constructor(
    aggregates: readonly BoundAggregate[],
    context: EvaluationContext,
    dictionaries: TaskDictionaries,
  ) {
    const places = new Map<string, number>()
    const filters: { filter: Filter; groups: Int32Array }[] = []
    const placeOf = (filter: BoundExpression): number => {
      const key = structuralKey(filter)
      let place = places.get(key)
      if (place === undefined) {
        const groups = new Int32Array(granuleRows)
        place = filters.push({ filter: compileFilter([filter], context), groups }) - 1
        places.set(key, place)
      }
      return place
    }
    const percentiles = new Map<string, PercentileState>()
    this.#inputs = aggregates.map((aggregate) => {
      const distinct = distinctArgument(aggregate)
      const dictionary = distinct && dictionaries.of(distinct)
      const key = rowsKey(aggregate)
      const twin = percentiles.get(key)
      const state: AggregateState = createAggregateState(aggregate, dictionary, twin)
      if (state instanceof PercentileState) percentiles.set(key, twin ?? state)
      const [first] = aggregate.arguments
      return {
        state,
        arguments: aggregate.arguments.map((argument) =>
          countsPresent(state) ? compilePresence(argument, context) : compile(argument, context),
        ),
        field: state.updateField && first?.kind === 'field' ? first : undefined,
        filter: aggregate.filter && placeOf(aggregate.filter),
      }
    })
    this.#filters = filters
    this.#rowCounts = this.#inputs.filter(countsRows)
    this.#others = this.#inputs.filter((input) => !countsRows(input))
  }

  /** @param groups the group of each selected row, one after the other */
  update(batch: Batch, selection: Selection, groups: Int32Array, groupCount: number): void {
    const { rowCount, weights } = batch
    forgetCopy(groups)
    const count = selection ? selection.length : rowCount
    const only = groupCount === 1 ? 0 : onlyGroup(groups, count)
    const all = { rowCount, selection, groups, only, count, weights }
    const kept: (AliveRows | undefined)[] = []
    for (const input of this.#inputs) {
      input.state.resize(groupCount)
      this.#updateOne(input, batch, all, kept)
    }
  }

  /** Whether they take in rows of a batch of any length that are told by a range of a field, or are only counted. */
  takes(batch: Batch, range: BatchField | undefined): boolean {
    return this.#others.every((input) => {
      const isOfRange = range && input.field && batch.field(input.field.path) === range
      return isOfRange && whereIn(batch, input) !== undefined
    })
  }

  /** Takes in rows, each for itself, as those of the one group that there is. Returns how many they are. */
  updateOneGroup(batch: Batch, kept: FilteredRows | RowCount): number {
    const { rowCount } = batch
    let count: number | undefined
    let form = kept
    let all: AliveRows | undefined
    const narrowed: (AliveRows | undefined)[] = []
    for (const input of this.#others) {
      const { state } = input
      state.resize(1)
      const where = whereIn(batch, input)
      if (where && form.kind === 'range' && where === form.stored) {
        // What is in a range of the field is a number.
        count = state.updateStoredWhere!(where, form.range)
        continue
      }
      assert(form.kind !== 'count', 'rows that were only counted are asked for more')
      if (where) form = asMask(form, rowCount)
      if (where && form.kind === 'mask' && form.count * maskedOf >= rowCount) {
        state.updateStoredWhere!(where, form.mask)
        continue
      }
      all ??= rowsOfOneGroup(asSelection(form, rowCount), rowCount)
      this.#updateOne(input, batch, all, narrowed)
    }
    count ??= all?.count ?? countFiltered(form, rowCount)
    for (const { state } of this.#rowCounts) {
      state.resize(1)
      state.update([], { rowCount, selection: undefined, groups: oneGroup, only: 0, count })
    }
    return count
  }

  /** @param kept the rows that conditions have left, by their places among `#filters` */
  #updateOne(
    { state, arguments: evaluators, field, filter }: Input,
    batch: Batch,
    all: AliveRows,
    kept: (AliveRows | undefined)[],
  ): void {
    const { selection } = all
    let rows = all
    if (filter !== undefined) {
      kept[filter] ??= this.#narrow(filter, batch, all)
      rows = kept[filter]
    }
    if (field && state.updateField!(batch.field(field.path), rows, selection)) return
    // All selected rows are read: a batch keeps a field's values for whoever asks next.
    state.update(
      evaluators.map((evaluate) => evaluate(batch, selection)),
      rows,
    )
  }

  /** About as many bytes as the states of so many groups take. */
  heldBytes(groupCount: number): number {
    let bytes = groupCount * groupBytes * this.#inputs.length
    for (const { state } of this.#inputs) bytes += state.heldBytes ?? 0
    return bytes
  }

  /** The state of each aggregate, with room for this many groups. */
  states(groupCount: number): AggregateState[] {
    return this.#inputs.map(({ state }) => {
      state.resize(groupCount)
      return state
    })
  }

  #narrow(place: number, batch: Batch, all: AliveRows): AliveRows {
    const { filter, groups } = this.#filters[place]!
    const { selection } = all
    const rows = filter.keep(batch, selection)
    if (rows === selection || rows === undefined) return all
    let at = 0
    for (let j = 0; j < rows.length; j++) {
      const row = rows[j]!
      if (selection) while (selection[at]! < row) at++
      else at = row
      groups[j] = all.groups[at]!
    }
    forgetCopy(groups)
    const { rowCount, only, weights } = all
    return { rowCount, selection: rows, groups, only, count: rows.length, weights }
  }
}
