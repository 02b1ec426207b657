/** Asks sets of traces for whole batches: once per entry of a dictionary, and texts by their bytes. */
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import {
  type DictionaryVector,
  rowsOf,
  type Selection,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import type { Batch } from './batch.ts'
import type { TracesOfObject } from './semi-join-set.ts'

/** Whether the rows' traces are among those of their object that the set has. */
export function inTraces(
  traces: TracesOfObject,
  trace: Vector,
  rowCount: number,
  selection: Selection,
): Vector {
  const values = new Uint8Array(rowCount)
  switch (trace.kind) {
    case 'dictionary':
      askByCode(trace, traces, rowsOf(selection, rowCount), values)
      break
    case 'text': {
      const { texts, first, valid } = trace
      const { bytes, offsets } = texts
      for (const row of rowsOf(selection, rowCount)) {
        if (valid && valid[row] === 0) continue
        const at = first + row
        values[row] = +traces.holdsBytes(bytes, offsets[at]!, offsets[at + 1]!)
      }
      break
    }
    default: {
      const read = valueReader(trace)
      for (const row of rowsOf(selection, rowCount)) values[row] = +traces.holds(read(row))
    }
  }
  return { kind: 'boolean', values }
}

/** The same of traces that have codes of a shared dictionary. */
export function inSharedTraces(
  traces: TracesOfObject,
  { dictionary, codes, map }: SharedCodes,
  { rowCount }: Batch,
): Vector {
  const held = traces.heldCodes(dictionary)
  const values = new Uint8Array(rowCount)
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row]!
    if (code >= 0) values[row] = held[map ? map[code]! : code]!
  }
  return { kind: 'boolean', values }
}

/** Stands for a trace that was not asked about yet. */
const notAsked = 2

/** Asks about each entry once, when the first row has it: of many entries, a batch may have few. */
function askByCode(
  { codes, entries }: DictionaryVector,
  traces: TracesOfObject,
  rows: Int32Array,
  values: Uint8Array,
): void {
  const { texts } = entries
  let table = entries.memo.get(traces) as Uint8Array | undefined
  if (!table) {
    table = new Uint8Array(entries.size).fill(notAsked)
    entries.memo.set(traces, table)
  }
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const code = codes[row]!
    if (code < 0) continue
    if (table[code] === notAsked) {
      table[code] = +(texts
        ? traces.holdsBytes(texts.bytes, texts.offsets[code]!, texts.offsets[code + 1]!)
        : traces.holds(entries.valueAt(code)))
    }
    values[row] = table[code]!
  }
}
