/**
 * Makes rows of the elements of arrays and the entries of objects, batch by batch. Of an object whose
 * members are columns, each column becomes a batch as it is: nothing is gathered.
 */
import { type BoundExpression, type BoundUnpivot, hiddenField } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { AssayError } from '../../error.ts'
import { pickBytes, pickNumbers } from '../../kernel/gather.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { isObject, type Path, type Value } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import {
  compactValues,
  type DictionaryEntries,
  rowsOf,
  type Selection,
  type Vector,
  valueEntries,
} from '../../vector/vector.ts'
import {
  type GatherableVector,
  gatherable,
  gatherVector,
  presentRows,
} from '../column/gather-vector.ts'
import { gatherRows, type RowList } from '../column/row-list.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { type Batch, Field, type ObjectMember, VectorField } from '../expression/batch.ts'
import { compile } from '../expression/compile.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import { compileFilter } from '../filter/filter.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { asksElementsAlone, CountedLists } from './counted-lists.ts'

export interface SelectedBatch {
  readonly batch: Batch
  readonly selection: Selection
}

export interface Unpivots {
  /**
   * Makes of a batch's selected rows what the plan's unpivots and their predicates leave of them; no
   * batch comes without rows. For a plan of rows, what is to come first comes last: batches are given,
   * and rows stand in them, as in a run that is read backwards.
   */
  of(batch: Batch, selection: Selection): Iterable<SelectedBatch>
  /** What was not given yet, when there are no further batches. */
  rest(): Iterable<SelectedBatch>
}

export function compileUnpivots(plan: PhysicalPlan, context: EvaluationContext): Unpivots {
  const { unpivots, unpivotedPredicates, stage } = plan
  const isCounted = asksElementsAlone(plan)
  const steps = unpivots.map((unpivot, i) => {
    return new Unpivot(unpivot, stage.kind === 'rows', isCounted && i === 0, context)
  })
  const filter = compileFilter(unpivotedPredicates, context)
  function* apply(from: number, batch: Batch, selection: Selection): Iterable<SelectedBatch> {
    if (selection?.length === 0 || batch.rowCount === 0) return
    // Of one batch of rows there may be thousands, none of whose rows pass.
    checkCancelled()
    const step = steps[from]
    if (step) {
      for (const made of step.apply(batch, selection)) {
        yield* apply(from + 1, made.batch, made.selection)
      }
      return
    }
    const kept = filter.keep(batch, selection)
    if (kept?.length !== 0) yield { batch, selection: kept }
  }
  return {
    of: (batch, selection) => apply(0, batch, selection),
    *rest() {
      for (const made of steps[0]?.rest() ?? []) yield* apply(1, made.batch, made.selection)
    },
  }
}

/**
 * The elements of an array with their indexes, or the values of an object with their keys, in the
 * order of the keys. Nulls are left out; other values have none.
 */
export function elementsOf(value: Value): (readonly [name: Value, value: Value])[] {
  if (Array.isArray(value)) {
    const elements = (value as readonly Value[]).map((element, i) => [i, element] as const)
    return elements.filter(([, element]) => element !== null)
  }
  if (!isObject(value)) return []
  const names = Object.keys(value).sort()
  return names.flatMap((name) => (value[name] === null ? [] : [[name, value[name]!] as const]))
}

/** The elements of several values: those of the i-th stand from `starts[i]` to `starts[i + 1]`. */
interface ElementTable {
  readonly starts: Int32Array
  readonly names: GatherableVector
  readonly values: GatherableVector
}

/** What the elements of entries are kept by, which are the same for all queries. */
const ofEntries = {}

class Unpivot {
  readonly name: string
  readonly value: string
  readonly #context: EvaluationContext
  readonly #evaluate: Evaluator
  /** Of a field whose members may be columns. */
  readonly #path: Path | undefined
  /** By path: what is inside of elements. */
  readonly #inside = new Map<string, Evaluator>()
  /** If rows of equal lists may come as one. */
  readonly #lists: CountedLists | undefined

  /** @param inOrder whether the rows of a batch must stay together */
  constructor(
    { expression, index }: BoundUnpivot,
    inOrder: boolean,
    isCounted: boolean,
    context: EvaluationContext,
  ) {
    this.#lists = isCounted ? new CountedLists() : undefined
    this.name = hiddenField.unpivotName(index)
    this.value = hiddenField.unpivotValue(index)
    this.#context = context
    this.#evaluate = compile(expression, context)
    this.#path = !inOrder && expression.kind === 'field' ? expression.path : undefined
  }

  *apply(batch: Batch, selection: Selection): Iterable<SelectedBatch> {
    const members = this.#path && batch.field(this.#path).members
    if (!members) {
      yield* this.#byElement(batch, selection)
      return
    }
    const source = new Source(batch, selection)
    for (const { name, field } of members) {
      const vector = field.read(selection)
      const rows = presentRows(vector, batch.rowCount, selection)
      const constant: Vector = { kind: 'constant', value: name }
      const made = new MadeBatch(this, source, undefined, {
        names: () => constant,
        values: () => vector,
      })
      yield { batch: made, selection: rows }
    }
  }

  /** The field of an element that is at the longer path. */
  inside(path: Path): Evaluator {
    const key = JSON.stringify(path)
    let evaluate = this.#inside.get(key)
    if (!evaluate) {
      const operand: BoundExpression = { kind: 'field', path: path.slice(0, 1), type: 'json' }
      const access = { kind: 'access', operand, path: path.slice(1), type: 'json' } as const
      evaluate = compile(access, this.#context)
      this.#inside.set(key, evaluate)
    }
    return evaluate
  }

  *#byElement(batch: Batch, selection: Selection): Iterable<SelectedBatch> {
    const { rowCount } = batch
    if (!selection && (yield* this.#countStored(batch))) return
    const vector = this.#evaluate(batch, selection)
    if (this.#lists && vector.kind === 'dictionary') {
      if (this.#lists.entries !== vector.entries) yield* this.rest()
      this.#lists.add(vector, rowCount, selection)
      return
    }
    const table = this.#tableOf(vector, rowCount, selection)
    if (!table || table.starts.at(-1) === 0) return
    const { starts } = table
    const source = new Source(batch, selection)
    const rows = rowsOf(selection, rowCount)
    let at = granuleRows
    let sources = new Int32Array(granuleRows)
    let places = new Int32Array(granuleRows)
    const finish = (): SelectedBatch => {
      const [madeOf, elements] = [sources.subarray(at), places.subarray(at)]
      const made = new MadeBatch(this, source, madeOf, {
        names: () => gatherVector(table.names, elements),
        values: () => gatherVector(table.values, elements),
      })
      return { batch: made, selection: undefined }
    }
    for (let j = rows.length - 1; j >= 0; j--) {
      const row = rows[j]!
      const list = vector.kind === 'dictionary' ? vector.codes[row]! : isOne(vector) ? 0 : row
      if (list < 0) continue
      for (let element = starts[list]!; element < starts[list + 1]!; element++) {
        at--
        sources[at] = row
        places[at] = element
        if (at > 0) continue
        yield finish()
        at = granuleRows
        sources = new Int32Array(granuleRows)
        places = new Int32Array(granuleRows)
      }
    }
    if (at < granuleRows) yield finish()
  }

  /** Whether all lists of the batch were counted by their codes, as these are stored. */
  *#countStored(batch: Batch): Generator<SelectedBatch, boolean> {
    const lists = this.#lists
    const encoding = lists && this.#path && batch.field(this.#path).encoding
    const stored = encoding?.kind === 'narrow' ? encoding.stored : undefined
    if (!lists || stored?.kind !== 'dictionary') return false
    if (lists.entries !== stored.entries) yield* this.rest()
    return lists.addStored(stored, stored.entries)
  }

  /** The elements of the lists that were counted. */
  *rest(): Iterable<SelectedBatch> {
    const { entries, counts } = this.#lists ?? {}
    if (!entries || !counts) return
    const { starts, names, values } = this.#tableOfEntries(entries)
    const places: number[] = []
    const weights: number[] = []
    for (let list = 0; list < entries.size; list++) {
      if (counts[list] === 0) continue
      for (let element = starts[list]!; element < starts[list + 1]!; element++) {
        places.push(element)
        weights.push(counts[list]!)
      }
    }
    this.#lists!.clear()
    for (let from = 0; from < places.length; from += granuleRows) {
      const elements = Int32Array.from(places.slice(from, from + granuleRows))
      const source = new Source(weighedRows(weights.slice(from, from + granuleRows)), undefined)
      const made = new MadeBatch(this, source, undefined, {
        names: () => gatherVector(names, elements),
        values: () => gatherVector(values, elements),
      })
      yield { batch: made, selection: undefined }
    }
  }

  /** The elements of a constant, of each entry of a dictionary, or of each row. */
  #tableOf(vector: Vector, rowCount: number, selection: Selection): ElementTable | undefined {
    switch (vector.kind) {
      case 'constant':
        return tableOf([vector.value], false)
      case 'dictionary':
        return this.#tableOfEntries(vector.entries)
      case 'values': {
        const values = new Array<Value>(rowCount).fill(null)
        for (const row of rowsOf(selection, rowCount)) values[row] = vector.values[row]!
        return tableOf(values, false)
      }
      default:
        // Numbers, times, texts and booleans have no elements.
        return undefined
    }
  }

  #tableOfEntries({ memo, size, valueAt }: DictionaryEntries): ElementTable {
    let table = memo.get(ofEntries) as ElementTable | undefined
    if (!table) {
      table = tableOf(
        Array.from({ length: size }, (_, code) => valueAt(code)),
        true,
      )
      memo.set(ofEntries, table)
    }
    return table
  }
}

function isOne(vector: Vector): boolean {
  return vector.kind === 'constant'
}

/** @param repeat whether elements are used often enough to number the distinct ones */
function tableOf(lists: readonly Value[], repeat: boolean): ElementTable {
  const starts = new Int32Array(lists.length + 1)
  const names: Value[] = []
  const values: Value[] = []
  for (const [i, list] of lists.entries()) {
    checkAtTimes()
    for (const [name, value] of elementsOf(list)) {
      checkAtTimes()
      names.push(name)
      values.push(value)
    }
    starts[i + 1] = names.length
  }
  const vectorOf = (column: Value[]): GatherableVector => {
    const vector = gatherable(
      compactValues(column, rowsOf(undefined, column.length)),
      column.length,
    )
    return repeat && vector.kind === 'values' ? numbered(column) : vector
  }
  return { starts, names: vectorOf(names), values: vectorOf(values) }
}

function numbered(values: readonly Value[]): GatherableVector {
  const distinct = new ValueCodes()
  const codes = Int32Array.from(values, (value) => distinct.codeOf(value))
  const entries = Array.from({ length: distinct.count }, (_, code) => distinct.valueAt(code))
  return { kind: 'dictionary', codes, entries: valueEntries(entries) }
}

/** What rows are made of: the selected rows of a batch. */
class Source {
  readonly batch: Batch
  /** Asked for in full each time: a batch keeps its vectors, which must serve all rows. */
  readonly selection: Selection
  readonly #gatherable = new Map<Vector, GatherableVector>()

  constructor(batch: Batch, selection: Selection) {
    this.batch = batch
    this.selection = selection
  }

  gather(vector: Vector, rows: Int32Array | undefined): Vector {
    if (!rows) return vector
    let from = this.#gatherable.get(vector)
    if (!from) {
      from = gatherable(vector, this.batch.rowCount)
      this.#gatherable.set(vector, from)
    }
    return gatherVector(from, rows)
  }
}

/** Rows that each stand for several, of which nothing is asked but what is made of them. */
function weighedRows(weights: readonly number[]): Batch {
  const isAsked = (): never => {
    throw new AssayError('INTERNAL', 'a query that asks for elements alone asks for more')
  }
  return {
    rowCount: weights.length,
    weights: Float64Array.from(weights),
    field: isAsked,
  }
}

function gatherWeights(weights: Float64Array, rows: Int32Array): Float64Array {
  const gathered = new Float64Array(rows.length)
  pickNumbers(weights, rows, gathered)
  return gathered
}

/** Rows that are made of others: with two fields of their own, and those of the source. */
class MadeBatch implements Batch {
  readonly rowCount: number
  readonly weights: Float64Array | undefined
  readonly #unpivot: Unpivot
  readonly #source: Source
  /** The source's row of each row; undefined: the rows are the source's. */
  readonly #rows: Int32Array | undefined
  readonly #own: { names(): Vector; values(): Vector }
  readonly #fields = new Map<string, Field>()
  #keys: RowList | undefined

  constructor(
    unpivot: Unpivot,
    source: Source,
    rows: Int32Array | undefined,
    own: { names(): Vector; values(): Vector },
  ) {
    this.rowCount = rows ? rows.length : source.batch.rowCount
    const { weights } = source.batch
    this.weights = weights && rows ? gatherWeights(weights, rows) : weights
    this.#unpivot = unpivot
    this.#source = source
    this.#rows = rows
    this.#own = own
  }

  get keys(): RowList | undefined {
    const { keys } = this.#source.batch
    this.#keys ??= keys && (this.#rows ? gatherRows(keys, this.#rows) : keys)
    return this.#keys
  }

  field(path: Path): Field {
    const key = JSON.stringify(path)
    let field = this.#fields.get(key)
    if (!field) {
      field =
        this.#made(path) ?? new MadeField(this.#source, this.#source.batch.field(path), this.#rows)
      this.#fields.set(key, field)
    }
    return field
  }

  /** Undefined for a field of the source. */
  #made(path: Path): Field | undefined {
    const isName = path[0] === this.#unpivot.name
    if (!isName && path[0] !== this.#unpivot.value) return undefined
    if (path.length === 1) return new VectorField(isName ? this.#own.names() : this.#own.values())
    return new VectorField((selection) => this.#unpivot.inside(path)(this, selection))
  }
}

/** A field of rows that are made of others, for those that are made of them. */
class MadeField extends Field {
  readonly #source: Source
  readonly #field: Field
  readonly #rows: Int32Array | undefined
  #vector: Vector | undefined

  /** @param rows see `MadeBatch` */
  constructor(source: Source, field: Field, rows: Int32Array | undefined) {
    super()
    this.#source = source
    this.#field = field
    this.#rows = rows
  }

  read(): Vector {
    this.#vector ??= this.#source.gather(this.#field.read(this.#source.selection), this.#rows)
    return this.#vector
  }

  override nulls(): Uint8Array {
    const { batch, selection } = this.#source
    const nulls = this.#field.nulls(batch.rowCount, selection)
    if (!this.#rows) return nulls
    const gathered = new Uint8Array(this.#rows.length)
    pickBytes(nulls, this.#rows, gathered)
    return gathered
  }

  override get members(): readonly ObjectMember[] | undefined {
    return this.#field.members?.map(({ name, field }) => {
      return { name, field: new MadeField(this.#source, field, this.#rows) }
    })
  }
}
