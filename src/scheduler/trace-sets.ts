import { assert } from '../error.ts'
import type { Relation } from '../executor/relation.ts'
import { type TraceSet, type TraceTexts, traceBytes } from '../executor/trace-set.ts'
import { vectorOf } from '../executor/wire-values.ts'
import { GrowingTexts, TextIndex } from '../vector/text-index.ts'
import { valueReader } from '../vector/vector.ts'

/** The set of traces that a plan has found: its groups have the keys object and `root_span_id`. */
export function traceSetOf({ rowCount, groupColumns }: Relation): TraceSet {
  const [objects, traces] = groupColumns
  assert(objects && traces, 'a set of traces is made of groups by object and trace')
  const objectAt = valueReader(vectorOf(objects))
  const trace = vectorOf(traces)
  const traceAt = valueReader(trace)
  const found = new Map<number, Traces>()
  for (let row = 0; row < rowCount; row++) {
    const object = objectAt(row) as number
    let ofObject = found.get(object)
    if (!ofObject) {
      ofObject = new Traces()
      found.set(object, ofObject)
    }
    if (trace.kind === 'text') {
      const { texts, valid } = trace
      if (valid && valid[row] === 0) continue
      ofObject.add(texts.bytes, texts.offsets[row]!, texts.offsets[row + 1]!)
      continue
    }
    const value = traceAt(row)
    if (typeof value !== 'string') continue
    const bytes = traceBytes(value)
    ofObject.add(bytes, 0, bytes.length)
  }
  return { objects: [...found.keys()], traces: Array.from(found.values(), (t) => t.finish()) }
}

class Traces {
  readonly #texts = new GrowingTexts(64)
  readonly #index = new TextIndex()

  add(source: Buffer, start: number, end: number): void {
    this.#index.codeOf(this.#texts, source, start, end)
  }

  finish(): TraceTexts {
    const { bytes, offsets } = this.#texts.finish()
    const sharedBytes = new Uint8Array(new SharedArrayBuffer(bytes.length))
    sharedBytes.set(bytes)
    return { bytes: sharedBytes, offsets: shared(offsets), slots: shared(this.#index.slots) }
  }
}

function shared(numbers: Int32Array): Int32Array {
  const copy = new Int32Array(new SharedArrayBuffer(numbers.byteLength))
  copy.set(numbers)
  return copy
}
