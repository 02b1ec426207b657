/** Describes the fields that rows have: what kinds of values, how many, and which are frequent. */
import { createHash } from 'node:crypto'
import { printPath } from '../../parser/print.ts'
import type { RelationStage } from '../../planner/physical-plan.ts'
import { orderValues } from '../../type/compare.ts'
import { recordColumns } from '../../type/record.ts'
import { type JsonObject, kindOf, type Path, type Value, type ValueKind } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import { valueReader } from '../../vector/vector.ts'
import { columnOf } from '../column/relation-column.ts'
import { fieldOfRow } from '../scan/row-scan.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { checkLimit, maximumInferredFields } from '../thread/memory-limit.ts'
import type { Relation } from './relation.ts'
import type { RelationBatch } from './relation-batch.ts'
import type { StageContext } from './relation-stage.ts'

/** Different values of one field that are counted, and of all fields together. */
const maximumDistinct = 10_000
const maximumTracked = 1_000_000
/** A string of this length is not shown as a frequent value. */
const longString = 200
const topValues = 10

/** One row per field path, in their order, with the columns that `RelationStage` describes. */
export function inferFields(
  relation: Relation,
  { fields, depth }: Extract<RelationStage, { kind: 'infer' }>,
  { read }: StageContext,
): Relation {
  const reader = read(relation)
  const inference = new Inference(depth)
  const made = reader.shownFields()
  for (const { batch } of reader.batches()) {
    const columns = (fields.length > 0 ? fields : made.map((name) => [name])).map((path) => {
      return { path, valueAt: valueReader(batch.field(path).read(undefined)) }
    })
    for (let row = 0; row < batch.rowCount; row++) {
      for (const { path, valueAt } of columns) inference.add(path, valueAt(row))
      if (fields.length > 0) continue
      for (const [name, value] of storedFields(batch, row, made)) inference.add([name], value)
    }
  }
  return inference.toRelation(relation.rowCount)
}

/** All fields of the row's stored row, but for those that a field of the relation hides. */
function* storedFields(
  batch: RelationBatch,
  row: number,
  hidden: readonly string[],
): Generator<readonly [name: string, value: Value]> {
  const stored = batch.storedRow(row)
  if (!stored) return
  const names = new Set(Array.from(stored.view.fields(), ({ name }) => name))
  for (const column of recordColumns) {
    if (column.in.includes(stored.object.type)) names.add(column.name)
  }
  for (const name of hidden) names.delete(name)
  for (const name of names) yield [name, fieldOfRow(stored.view, [name], stored.object)]
}

interface Tally {
  readonly value: Value
  count: number
}

interface FieldTally {
  readonly path: Path
  readonly kinds: Map<ValueKind, number>
  /** By what tells values apart; objects are not among them. */
  readonly values: Map<string, Tally>
  /** Whether there were too many different values to count. */
  isFull: boolean
}

class Inference {
  /** By the path's JSON. */
  readonly #fields = new Map<string, FieldTally>()
  readonly #depth: number
  #tracked = 0

  /** @param depth how many levels of objects are entered */
  constructor(depth: number) {
    this.#depth = depth
  }

  add(path: Path, value: Value): void {
    // What a row does not have is null at its top.
    if (value !== null) this.#visit(path, value, 0)
  }

  toRelation(rowCount: number): Relation {
    const tallies = [...this.#fields.values()].sort((a, b) => comparePaths(a.path, b.path))
    const field = (name: string, valueAt: (tally: FieldTally) => Value) => {
      checkCancelled()
      return { name, values: columnOf(tallies.map(valueAt)) }
    }
    return {
      rowCount: tallies.length,
      rows: undefined,
      groupColumns: [],
      fields: [
        field('field', ({ path }) => printPath(path)),
        field('path', ({ path }) => path),
        field('types', typesOf),
        field('count', presentCount),
        field('share', (tally) => presentCount(tally) / rowCount),
        field('distinct', ({ values, kinds, isFull }) =>
          isFull || kinds.has('object') ? null : values.size,
        ),
        field('top_values', topValuesOf),
      ],
    }
  }

  #visit(path: Path, value: Value, depth: number): void {
    const tally = this.#tally(path)
    const kind = kindOf(value)
    tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1)
    if (kind === 'object') {
      // Deeper objects are values like any other.
      if (depth === this.#depth) return
      const object = value as JsonObject
      for (const key of Object.keys(object)) this.#visit([...path, key], object[key]!, depth + 1)
    } else if (value !== null) {
      this.#count(tally, value)
    }
  }

  #tally(path: Path): FieldTally {
    const key = JSON.stringify(path)
    let tally = this.#fields.get(key)
    if (!tally) {
      tally = { path, kinds: new Map(), values: new Map(), isFull: false }
      this.#fields.set(key, tally)
      const hint = 'name the fields to look into, for example infer: metadata'
      checkLimit(this.#fields.size, maximumInferredFields, 'fields of infer', hint)
    }
    return tally
  }

  #count(tally: FieldTally, value: Value): void {
    const key = identityOf(value)
    const known = tally.values.get(key)
    if (known) {
      known.count++
    } else if (tally.values.size >= maximumDistinct || this.#tracked >= maximumTracked) {
      tally.isFull = true
    } else {
      tally.values.set(key, { value: isShown(value) ? value : null, count: 1 })
      this.#tracked++
    }
  }
}

/** Equal for equal values; of long ones a digest. */
function identityOf(value: Value): string {
  const text = canonicalJson(value)
  if (text.length < longString) return text
  return createHash('sha256').update(text).digest('base64')
}

function isShown(value: Value): boolean {
  if (typeof value === 'string') return value.length < longString
  return !Array.isArray(value)
}

function typesOf({ kinds }: FieldTally): Value {
  const types: Record<string, Value> = Object.create(null)
  for (const kind of [...kinds.keys()].sort()) types[kind] = kinds.get(kind)!
  return types
}

function presentCount({ kinds }: FieldTally): number {
  let count = 0
  for (const [kind, found] of kinds) if (kind !== 'null') count += found
  return count
}

/** Of values that are as frequent, those that sort first. */
function topValuesOf({ values }: FieldTally): Value {
  return [...values.values()]
    .filter(({ value }) => value !== null)
    .sort((a, b) => b.count - a.count || orderValues(a.value, b.value))
    .slice(0, topValues)
    .map(({ value, count }) => ({ value, count }))
}

/** Part by part; keys by their text, which for shorter paths comes first. */
function comparePaths(a: Path, b: Path): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = orderValues(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return a.length - b.length
}
