/** Writes rows that came together, and leaves out those that cannot be written. */
import { setImmediate } from 'node:timers/promises'
import type { Gate } from '../../../access/gate.ts'
import { AssayError } from '../../../error.ts'
import { prepareRows } from '../../../storage/prepare/prepare.ts'
import type { RecordInserter } from '../../record-inserter.ts'

/** The JSON text of a row of `/logs3`. */
export type RowText = Uint8Array

export interface RefusedRow {
  readonly index: number
  readonly problem: string
}

/** Rows that are looked at one by one before others have their turn. */
const rowsPerTurn = 100

/** Throws what is no fault of the rows. */
export async function insertRows(
  writer: RecordInserter,
  rows: readonly RowText[],
  view: Gate,
): Promise<RefusedRow[]> {
  return await new RowInsert(writer, view).insert(rows.map((text, index) => ({ text, index })))
}

interface IndexedRow {
  readonly text: RowText
  readonly index: number
}

class RowInsert {
  readonly #writer: RecordInserter
  readonly #view: Gate

  constructor(writer: RecordInserter, view: Gate) {
    this.#writer = writer
    this.#view = view
  }

  /**
   * All of the rows in one transaction, if nothing is wrong with any. Otherwise each is looked at by
   * itself; where that finds nothing, the rows at fault are found by halving.
   */
  async insert(rows: readonly IndexedRow[]): Promise<RefusedRow[]> {
    if (rows.length === 0) return []
    const fault = await this.#write(rows)
    if (!fault) return []
    if (rows.length === 1) return [refused(rows[0]!, fault)]
    const found = await refusedOf(rows)
    if (found.length > 0) {
      const indices = new Set(found.map(({ index }) => index))
      const others = rows.filter(({ index }) => !indices.has(index))
      return [...found, ...(await this.insert(others))]
    }
    const half = rows.length >> 1
    return [...(await this.insert(rows.slice(0, half))), ...(await this.insert(rows.slice(half)))]
  }

  /** What is wrong with one of the rows; then none is written. */
  async #write(rows: readonly IndexedRow[]): Promise<AssayError | undefined> {
    try {
      await this.#writer.insert({ body: bodyOf(rows), form: 'logs3', view: this.#view })
      return undefined
    } catch (thrown) {
      if (thrown instanceof AssayError && thrown.family === 'user') return thrown
      throw thrown
    }
  }
}

async function refusedOf(rows: readonly IndexedRow[]): Promise<RefusedRow[]> {
  const found: RefusedRow[] = []
  for (const [place, row] of rows.entries()) {
    if (place % rowsPerTurn === rowsPerTurn - 1) await setImmediate()
    try {
      prepareRows(bodyOf([row]), { form: 'logs3', nowMs: 0 })
    } catch (thrown) {
      if (!(thrown instanceof AssayError) || thrown.family !== 'user') throw thrown
      found.push(refused(row, thrown))
    }
  }
  return found
}

/** Without the place in a request that nobody has sent so. */
function refused({ index }: IndexedRow, { message }: AssayError): RefusedRow {
  return { index, problem: message.replace(/^rows\[\d+\]\.?/, '').trim() }
}

const start = Buffer.from('[')
const separator = Buffer.from(',')
const end = Buffer.from(']')

function bodyOf(rows: readonly IndexedRow[]): Buffer {
  const parts = rows.flatMap(({ text }, place) => [place === 0 ? start : separator, text])
  return Buffer.concat([...parts, end])
}
