/** A set of traces: what a condition on whole traces is answered from, row by row. */
import type { EvaluationContext } from '../binder/evaluate.ts'
import type { Value } from '../type/value.ts'
import type { Texts } from '../vector/column.ts'
import type { SharedTexts } from '../vector/shared-dictionary.ts'
import { findText, type TextSlots } from '../vector/text-index.ts'

/** Shared memory, so that it is not copied for every task. */
export interface TraceSet {
  /** Numbers of the objects, each once. */
  readonly objects: readonly number[]
  /** The `root_span_id`s of each object. */
  readonly traces: readonly TraceTexts[]
}

/** Distinct texts as `traceBytes` gives them: the i-th from `offsets[i]` to `offsets[i + 1]`. */
export interface TraceTexts {
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
  /** The index over them, so that no task has to make it. */
  readonly slots: TextSlots
}

/** How a task evaluates: with the sets that conditions on whole traces ask. */
export interface TaskContext extends EvaluationContext {
  readonly traces?: readonly TraceLookup[]
}

export function withTraceSets(context: EvaluationContext, sets: readonly TraceSet[]): TaskContext {
  const traces = sets.map((set) => new TraceLookup(set))
  const inTraces = (set: number, object: Value, trace: Value) =>
    traces[set]!.of(object)?.holds(trace) ?? false
  return { ...context, traces, inTraces }
}

export class TraceLookup {
  readonly #byObject: ReadonlyMap<Value, TracesOfObject>

  constructor({ objects, traces }: TraceSet) {
    this.#byObject = new Map(objects.map((object, i) => [object, new TracesOfObject(traces[i]!)]))
  }

  /** Undefined when the set has none of the object's traces. */
  of(object: Value): TracesOfObject | undefined {
    return this.#byObject.get(object)
  }
}

export class TracesOfObject {
  readonly #texts: Texts
  readonly #slots: TextSlots
  readonly #heldCodes = new Map<SharedTexts, Uint8Array>()

  constructor({ bytes, offsets, slots }: TraceTexts) {
    // Between threads a Buffer becomes a plain Uint8Array.
    this.#texts = { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offsets }
    this.#slots = slots
  }

  /** One byte per code of the dictionary: 1 for traces of this set. */
  heldCodes(dictionary: SharedTexts): Uint8Array {
    let held = this.#heldCodes.get(dictionary)
    if (!held) {
      held = new Uint8Array(dictionary.count)
      const { bytes, offsets } = this.#texts
      for (let i = 0; i < offsets.length - 1; i++) {
        const code = dictionary.codeOf(bytes, offsets[i]!, offsets[i + 1]!)
        if (code >= 0) held[code] = 1
      }
      this.#heldCodes.set(dictionary, held)
    }
    return held
  }

  holds(trace: Value): boolean {
    if (typeof trace !== 'string') return false
    const bytes = traceBytes(trace)
    return this.holdsBytes(bytes, 0, bytes.length)
  }

  holdsBytes(bytes: Buffer, start: number, end: number): boolean {
    return findText(this.#slots, this.#texts, bytes, start, end) >= 0
  }
}

const loneSurrogate = /\p{Surrogate}/u

/** UTF-8; for a text that UTF-8 cannot hold, a byte that UTF-8 does not have, and its escapes. */
export function traceBytes(trace: string): Buffer {
  if (!loneSurrogate.test(trace)) return Buffer.from(trace)
  return Buffer.concat([Buffer.of(0xff), Buffer.from(JSON.stringify(trace))])
}
