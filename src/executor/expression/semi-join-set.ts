/** A set of traces: what a condition on whole traces is answered from, row by row. */
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { Value } from '../../type/value.ts'
import type { Texts } from '../../vector/column.ts'
import { type SharedDictionary, SharedTexts } from '../../vector/shared-dictionary.ts'
import { findText, type TextSlots } from '../../vector/text-index.ts'

/** Shared memory, so that it is not copied for every task. */
export interface SemiJoinSet {
  /** Numbers of the objects, each once. */
  readonly objects: readonly number[]
  /** The `root_span_id`s of each object, but for those that are numbered. */
  readonly traces: readonly TraceTexts[]
  /** Of a large set. */
  readonly numbered?: NumberedTraces | undefined
}

/** Traces that a shared dictionary has. */
export interface NumberedTraces {
  readonly dictionary: SharedDictionary
  /** For each object, one byte per code: 1 for its traces of the set. */
  readonly held: readonly Uint8Array[]
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

export function withSemiJoinSets(
  context: EvaluationContext,
  sets: readonly SemiJoinSet[],
): TaskContext {
  if (sets.length === 0) return context
  const traces = sets.map((set) => new TraceLookup(set))
  const inTraces = (set: number, object: Value, trace: Value) =>
    traces[set]!.of(object)?.holds(trace) ?? false
  return { ...context, traces, inTraces }
}

export class TraceLookup {
  readonly #byObject: ReadonlyMap<Value, TracesOfObject>

  constructor({ objects, traces, numbered }: SemiJoinSet) {
    const dictionary = numbered && new SharedTexts(numbered.dictionary)
    this.#byObject = new Map(
      objects.map((object, i) => {
        const codes = dictionary && { dictionary, held: numbered.held[i]! }
        return [object, new TracesOfObject(traces[i]!, codes)]
      }),
    )
  }

  /** Undefined when the set has none of the object's traces. */
  of(object: Value): TracesOfObject | undefined {
    return this.#byObject.get(object)
  }
}

export class TracesOfObject {
  readonly #texts: Texts
  readonly #slots: TextSlots
  readonly #numbered: { readonly dictionary: SharedTexts; readonly held: Uint8Array } | undefined
  readonly #heldCodes = new Map<SharedTexts, Uint8Array>()

  /** @param numbered those that are not among the texts */
  constructor(
    { bytes, offsets, slots }: TraceTexts,
    numbered?: { readonly dictionary: SharedTexts; readonly held: Uint8Array },
  ) {
    this.#numbered = numbered
    // Between threads a Buffer becomes a plain Uint8Array.
    this.#texts = { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offsets }
    this.#slots = slots
  }

  /** One byte per code of the dictionary: 1 for traces of this set. */
  heldCodes(dictionary: SharedTexts): Uint8Array {
    let held = this.#heldCodes.get(dictionary)
    if (!held) {
      held = this.#findHeld(dictionary)
      this.#heldCodes.set(dictionary, held)
    }
    return held
  }

  #findHeld(dictionary: SharedTexts): Uint8Array {
    const { offsets } = this.#texts
    const numbered = this.#numbered
    const isNumberedAlike = numbered?.dictionary.id === dictionary.id
    // Codes stay when texts are added; those of the set may be among the new ones.
    const isKnown = isNumberedAlike && numbered.held.length >= dictionary.count
    if (isKnown && offsets.length === 1) return numbered.held
    const held = new Uint8Array(dictionary.count)
    const mark = (texts: Texts, i: number) => {
      const code = dictionary.codeOf(texts.bytes, texts.offsets[i]!, texts.offsets[i + 1]!)
      if (code >= 0) held[code] = 1
    }
    if (isNumberedAlike) held.set(numbered.held.subarray(0, dictionary.count))
    else {
      for (const [code, isHeld] of numbered?.held.entries() ?? []) {
        if (isHeld === 1) mark(numbered!.dictionary.texts, code)
      }
    }
    for (let i = 0; i < offsets.length - 1; i++) mark(this.#texts, i)
    return held
  }

  holds(trace: Value): boolean {
    if (typeof trace !== 'string') return false
    const bytes = traceBytes(trace)
    return this.holdsBytes(bytes, 0, bytes.length)
  }

  holdsBytes(bytes: Buffer, start: number, end: number): boolean {
    if (this.#numbered) {
      const code = this.#numbered.dictionary.codeOf(bytes, start, end)
      if (code >= 0 && this.#numbered.held[code] === 1) return true
    }
    return findText(this.#slots, this.#texts, bytes, start, end) >= 0
  }
}

const loneSurrogate = /\p{Surrogate}/u

/** UTF-8; for a text that UTF-8 cannot hold, a byte that UTF-8 does not have, and its escapes. */
export function traceBytes(trace: string): Buffer {
  if (!loneSurrogate.test(trace)) return Buffer.from(trace)
  return Buffer.concat([Buffer.of(0xff), Buffer.from(JSON.stringify(trace))])
}
