/** From a row of a table to a record: nested fields have columns of their own, or are JSON texts. */
import { parseJson } from '../type/parse-json.ts'
import { recordColumns } from '../type/record.ts'
import { isObject, type Value } from '../type/value.ts'

/** Columns that are JSON in every cell: objects and arrays. */
const structured: ReadonlySet<string> = new Set(
  recordColumns.filter(({ type }) => type === 'object' || type === 'array').map(({ name }) => name),
)

/** Whatever is in these is a number. */
const numeric: ReadonlySet<string> = new Set(['scores', 'metrics'])

/**
 * Puts a record together. `metadata.model` is a member of `metadata`; an empty cell is no field. Of
 * columns that hold objects or arrays, a text is read as JSON, and it is an error if it is none; of
 * others, a text that is an object, an array or in quotes is.
 */
export function recordOf(cells: Iterable<readonly [column: string, cell: Value]>): Value {
  const record: Record<string, Value> = Object.create(null)
  for (const [column, cell] of cells) {
    if (cell === null || cell === '') continue
    const [name, ...rest] = column.split('.')
    const key = rest.join('.')
    const isKnown = structured.has(name!)
    if (key === '' || !isKnown) {
      record[column] = isKnown ? structure(column, cell) : looseValue(cell)
      continue
    }
    const known = record[name!] ?? null
    const value = numeric.has(name!) ? numberOf(column, cell) : looseValue(cell)
    record[name!] = { ...(known !== null && isObject(known) ? known : {}), [key]: value }
  }
  return record
}

function structure(column: string, cell: Value): Value {
  if (typeof cell !== 'string') return cell
  try {
    return parseJson(cell)
  } catch {
    throw new Error(`its "${column}" is not JSON: ${cell.slice(0, 40)}`)
  }
}

function looseValue(cell: Value): Value {
  if (typeof cell !== 'string' || !/^\s*[[{"]/.test(cell)) return cell
  try {
    return parseJson(cell)
  } catch {
    return cell
  }
}

function numberOf(column: string, cell: Value): Value {
  if (typeof cell !== 'string') return cell
  const number = Number(cell)
  if (cell.trim() !== '' && Number.isFinite(number)) return number
  throw new Error(`its "${column}" is not a number: ${cell.slice(0, 40)}`)
}
