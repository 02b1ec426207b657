import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { structuralKey } from '../../binder/rewrite.ts'
import { onlyGroup } from '../../kernel/aggregate.ts'
import { forgetCopy, newCodes } from '../../kernel/memory.ts'
import { selectTrue } from '../../kernel/select.ts'
import { granuleRows } from '../../vector/column.ts'
import type { Selection } from '../../vector/vector.ts'
import type { Batch, StoredField } from '../expression/batch.ts'
import { compile, compilePresence, type Evaluator } from '../expression/compile.ts'
import { compileFilter, type Filter, type RowsWithin } from '../filter/filter.ts'
import type { TaskDictionaries } from '../task/task-dictionaries.ts'
import { CountState } from './count.ts'
import { createAggregateState, distinctArgument } from './create.ts'
import { PercentileState } from './percentile.ts'
import type { AggregateState, AliveRows } from './state.ts'

type Field = Extract<BoundExpression, { kind: 'field' }>

interface Input {
  readonly state: AggregateState
  readonly arguments: readonly Evaluator[]
  /** The argument, if it is one field and the state can take its entries as columns. */
  readonly entriesOf: Field | undefined
  /** The argument, if it is a field of which the state asks only where it is not null. */
  readonly presenceOf: Field | undefined
  /** The argument, if it is one field and the state can take it as it is stored. */
  readonly storedOf: Field | undefined
  /** The argument, if it is a field that has a shared dictionary. */
  readonly sharedOf: Field | undefined
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

const noGroups = new Int32Array(0)

/** For what only counts them. */
function rowsOfOneGroup(count: number): AliveRows {
  return { rowCount: count, selection: undefined, groups: noGroups, only: 0, count }
}

/** For when there are no keys: all rows are in the first group. */
export const oneGroup = new Int32Array(granuleRows)

/** Whether all that it takes in is how many rows there are. */
function countsRows({ state, arguments: evaluators, filter }: Input): boolean {
  return state instanceof CountState && evaluators.length === 0 && filter === undefined
}

function takesMask({ state, storedOf, filter }: Input): boolean {
  return storedOf !== undefined && filter === undefined && 'updateStoredWhere' in state
}

function storedIn(batch: Batch, { path }: Field): StoredField | undefined {
  const { encoding } = batch.field(path)
  return encoding.kind === 'narrow' ? encoding.stored : undefined
}

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
        entriesOf: 'updateEntries' in state && first?.kind === 'field' ? first : undefined,
        presenceOf: countsPresent(state) && first?.kind === 'field' ? first : undefined,
        storedOf: 'takesStored' in state && first?.kind === 'field' ? first : undefined,
        sharedOf: dictionary && first?.kind === 'field' ? first : undefined,
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

  /** Whether some of them take the rows of a mask without that these are selected. */
  get takeMasks(): boolean {
    return this.#inputs.some(takesMask)
  }

  /**
   * Takes in the rows of a mask as those of the one group that there is.
   *
   * @param count how many they are
   */
  updateMasked(batch: Batch, mask: Uint8Array, count: number): void {
    const { rowCount } = batch
    let all: AliveRows | undefined
    const kept: (AliveRows | undefined)[] = []
    this.addCount(count)
    for (const input of this.#others) {
      const { state, storedOf } = input
      state.resize(1)
      const stored = takesMask(input) && storedOf && storedIn(batch, storedOf)
      if (stored && state.updateStoredWhere!(stored, mask) !== undefined) continue
      if (!all) {
        const selection = newCodes(count)
        selectTrue(mask, rowCount, selection)
        all = { rowCount, selection, groups: oneGroup, only: 0, count }
      }
      this.#updateOne(input, batch, all, kept)
    }
  }

  /** Whether they take in sums of one field, and nothing else but how many rows there are. */
  get takeRanges(): boolean {
    return this.#others.length > 0 && this.#others.every(takesMask)
  }

  /**
   * Takes in the rows of a range as those of the one group that there is, if they sum nothing but the field that it is of.
   *
   * @returns how many they are; undefined: nothing was taken in
   */
  updateWithin(batch: Batch, { stored, range }: RowsWithin): number | undefined {
    let count: number | undefined
    for (const { storedOf } of this.#others) {
      // A batch keeps what it has found of a field.
      if (storedIn(batch, storedOf!) !== stored) return undefined
    }
    for (const { state } of this.#others) {
      state.resize(1)
      count = state.updateStoredWhere!(stored, range)
      if (count === undefined) return undefined
    }
    if (count !== undefined) this.addCount(count)
    return count
  }

  /** @param kept the rows that conditions have left, by their places among `#filters` */
  #updateOne(
    { state, arguments: evaluators, entriesOf, presenceOf, storedOf, sharedOf, filter }: Input,
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
    const members = entriesOf && batch.field(entriesOf.path).members
    if (members) {
      const entries = members.map(({ name, field }) => ({ name, vector: field.read(selection) }))
      state.updateEntries!(entries, rows)
      return
    }
    const presence = presenceOf && !rows.weights && batch.field(presenceOf.path).presence
    if (presence) {
      state.updatePresence!(presence, rows)
      return
    }
    const stored = storedOf && state.takesStored!(rows) && storedIn(batch, storedOf)
    if (stored && state.updateStored!(stored, rows)) return
    const shared = sharedOf && batch.field(sharedOf.path).shared
    if (shared) {
      state.updateShared!(shared, rows)
      return
    }
    // All selected rows are read: a batch keeps a field's values for whoever asks next.
    state.update(
      evaluators.map((evaluate) => evaluate(batch, selection)),
      rows,
    )
  }

  /** Whether all that they take in is how many rows there are. */
  get countOnly(): boolean {
    return this.#others.length === 0
  }

  /** Takes in so many rows of the one group that there is, where nothing else is asked of them. */
  addCount(count: number): void {
    for (const { state } of this.#rowCounts) {
      state.resize(1)
      state.update([], rowsOfOneGroup(count))
    }
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
