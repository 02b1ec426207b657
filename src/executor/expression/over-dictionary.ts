import { type BoundExpression, childrenOf, fieldsOf } from '../../binder/bound.ts'
import { noteLong } from '../../json/turn-limit.ts'
import { newBytes, newCodes, newNumbers } from '../../kernel/arena.ts'
import { gatherBytes, gatherCodes, gatherNumbers } from '../../kernel/gather.ts'
import { isTimeOfNumber, type Path, type Timestamp, type Value } from '../../type/value.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  rowsOf,
  type Selection,
  unknown,
  type Vector,
  valueEntries,
  valueReader,
} from '../../vector/vector.ts'
import { type Batch, batchOf } from './batch.ts'
import type { Evaluator } from './evaluator.ts'

/** What an expression gives for each entry of a dictionary, and at the end for null. */
type Table =
  | { readonly kind: 'boolean'; readonly values: Uint8Array }
  | { readonly kind: 'number' | 'timestamp'; readonly values: Float64Array }
  | { readonly kind: 'dictionary'; readonly codes: Int32Array; readonly entries: DictionaryEntries }

/**
 * The one field that an expression depends on, when its values may be in a dictionary; undefined when
 * it depends on more, on whether it is null alone, or on what a value does not tell: the object of a row, its keys, a group.
 */
export function dictionaryField(node: BoundExpression): Path | undefined {
  if (node.kind === 'field' || !isOfValues(node) || !readsValues(node)) return undefined
  const fields = fieldsOf([node])
  return fields.length === 1 ? fields[0] : undefined
}

/** Whether it asks for more of its fields than whether they are null. */
function readsValues(node: BoundExpression): boolean {
  if (node.kind === 'field') return true
  if (node.kind === 'is_null' && node.operand.kind === 'field') return false
  return childrenOf(node).some(readsValues)
}

function isOfValues(node: BoundExpression): boolean {
  if (node.kind === 'group_column' || node.kind === 'in_traces') return false
  // Made row by row of numbers: texts that are needed less often than they look to be.
  if (node.kind === 'field' && node.path[0] === '_pagination_key') return false
  return childrenOf(node).every(isOfValues)
}

/**
 * Evaluates an expression of one field on the distinct values of the field, when they are in a
 * dictionary, and maps the codes: 17 evaluations for 17 models, however many rows there are.
 */
export function overDictionary(node: BoundExpression, path: Path, evaluate: Evaluator): Evaluator {
  return (batch, selection) => {
    const field = batch.field(path).read(selection)
    if (field.kind !== 'dictionary') return evaluate(batch, selection)
    if (isOfFewRows(node, field.entries, batch.rowCount, selection)) {
      return evaluate(selectedValues(field, batch.rowCount, selection), selection)
    }
    return applyTable(tableFor(node, field.entries, evaluate), field, batch.rowCount)
  }
}

/** Of a dictionary with this many times as many entries, selected rows are evaluated by themselves. */
const entriesPerFewRows = 16

/** Whether there are so few selected rows that a table of all entries would be more work. */
export function isOfFewRows(
  node: BoundExpression,
  entries: DictionaryEntries,
  rowCount: number,
  selection: Selection,
): boolean {
  return areFewRows(node, entries, selection ? selection.length : rowCount)
}

/** The same of so many rows that are alive. */
export function areFewRows(
  node: BoundExpression,
  entries: DictionaryEntries,
  alive: number,
): boolean {
  if (alive * entriesPerFewRows > entries.size) return false
  return !entries.memo.has(node)
}

/** The rows with their values in place of codes; those that are not selected hold nothing. */
function selectedValues(
  { codes, entries }: DictionaryVector,
  rowCount: number,
  selection: Selection,
): Batch {
  const values = new Array<Value>(rowCount)
  for (const row of rowsOf(selection, rowCount))
    values[row] = codes[row]! < 0 ? null : entries.valueAt(codes[row]!)
  return batchOf({ kind: 'values', values }, rowCount)
}

/** What the expression gives for each entry; worked out once per dictionary. */
export function tableFor(
  node: BoundExpression,
  entries: DictionaryEntries,
  evaluate: Evaluator,
): Table {
  let table = entries.memo.get(node) as Table | undefined
  if (!table) {
    noteLong(entries.texts?.bytes.length ?? 0)
    table = evaluateEntries(entries, evaluate)
    entries.memo.set(node, table)
  }
  return table
}

function evaluateEntries(entries: DictionaryEntries, evaluate: Evaluator): Table {
  const evaluated = evaluate(batchOf(entries.vector, entries.size), undefined)
  const forNull = valueReader(evaluate(batchOf({ kind: 'constant', value: null }, 1), undefined))(0)
  if (evaluated.kind === 'boolean' && (forNull === null || typeof forNull === 'boolean')) {
    const truths = new Uint8Array(entries.size + 1)
    truths.set(evaluated.values.subarray(0, entries.size))
    truths[entries.size] = forNull === null ? unknown : +forNull
    return { kind: 'boolean', values: truths }
  }
  const results = valueReader(evaluated)
  const values = Array.from({ length: entries.size }, (_, code) => results(code))
  return tableOf([...values, forNull])
}

/** The last value is that of null. */
function tableOf(values: readonly Value[]): Table {
  const present = values.filter((value) => value !== null)
  if (present.every((value) => typeof value === 'boolean')) {
    const bytes = values.map((value) => (value === null ? unknown : value ? 1 : 0))
    return { kind: 'boolean', values: Uint8Array.from(bytes) }
  }
  if (present.every((value) => typeof value === 'number')) {
    const numbers = Float64Array.from(values, (value) => (value as number | null) ?? Number.NaN)
    return { kind: 'number', values: numbers }
  }
  if (present.every(isTimeOfNumber)) {
    const times = Float64Array.from(
      values,
      (value) => (value as Timestamp | null)?.ms ?? Number.NaN,
    )
    return { kind: 'timestamp', values: times }
  }
  let next = 0
  const codes = Int32Array.from(values, (value) => (value === null ? -1 : next++))
  return { kind: 'dictionary', codes, entries: valueEntries(present) }
}

function applyTable(table: Table, { codes }: DictionaryVector, rowCount: number): Vector {
  switch (table.kind) {
    case 'boolean': {
      const values = newBytes(rowCount)
      gatherBytes(table.values, codes, rowCount, values)
      return { kind: 'boolean', values }
    }
    case 'dictionary': {
      const mapped = newCodes(rowCount)
      gatherCodes(table.codes, codes, rowCount, mapped)
      return { kind: 'dictionary', codes: mapped, entries: table.entries }
    }
    default: {
      const values = newNumbers(rowCount)
      gatherNumbers(table.values, codes, rowCount, values)
      return { kind: table.kind, values }
    }
  }
}
