import { assert } from '../../error.ts'
import {
  type SharedValues,
  sharedNull,
  vectorOf,
  type WireValues,
} from '../../executor/column/wire-values.ts'
import {
  type SemiJoinSet,
  type TraceTexts,
  traceBytes,
} from '../../executor/expression/semi-join-set.ts'
import type { Relation } from '../../executor/relation/relation.ts'
import type { FinishTask } from '../../executor/task/task.ts'
import type { Texts } from '../../vector/column.ts'
import { type SharedDictionary, SharedTexts } from '../../vector/shared-dictionary.ts'
import { GrowingTexts, TextIndex } from '../../vector/text-index.ts'
import { valueReader } from '../../vector/vector.ts'

type ScannedGroups = Extract<FinishTask['input'], { kind: 'groups' }>

/** With fewer groups, their texts are looked at: that narrows what is read of a few traces. */
const fewestNumbered = 4096

export const noTraces: SemiJoinSet = { objects: [], traces: [] }

/** The set of traces that a plan has found: its groups have the keys object and `root_span_id`. */
export function traceSetOf({ rowCount, groupColumns }: Relation): SemiJoinSet {
  const [objects, traces] = groupColumns
  assert(objects && traces, 'a set of traces is made of groups by object and trace')
  const found = new FoundTraces()
  found.add(objects, traces, rowCount)
  return found.finish()
}

/** The same of groups that tasks have found, and that need not be merged first. */
export function traceSetOfGroups(groups: ScannedGroups): SemiJoinSet {
  const { partials, dictionaries } = groups
  const groupCount = partials.reduce((sum, partial) => sum + partial.groupCount, 0)
  const shared = partials.map(({ keys }) => keys[1]!).find((key) => key.kind === 'shared')
  const dictionary = dictionaries.find(({ id }) => id === shared?.dictionary)
  const found = new FoundTraces(dictionary, groupCount >= fewestNumbered)
  addGroups(found, groups)
  return found.finish()
}

/**
 * Of each object the traces that have codes in a dictionary, and those of groups that tasks have found.
 *
 * @param codes by number of the object
 */
export function traceSetOfCodes(
  dictionary: SharedDictionary,
  codes: ReadonlyMap<number, Int32Array>,
  groups: ScannedGroups | undefined,
): SemiJoinSet {
  const count = Math.max(...Array.from(codes.values(), ({ length }) => length))
  const found = new FoundTraces(dictionary, count >= fewestNumbered)
  for (const [object, ofObject] of codes) found.addCodes(object, ofObject)
  if (groups) addGroups(found, groups)
  return found.finish()
}

function addGroups(found: FoundTraces, { partials }: ScannedGroups): void {
  for (const { keys, groupCount } of partials) {
    const [objects, traces] = keys
    assert(objects && objects.kind !== 'shared' && traces, 'objects have numbers')
    if (traces.kind === 'shared') found.addShared(objects, traces)
    else found.add(objects, traces, groupCount)
  }
}

class FoundTraces {
  readonly #byObject = new Map<number, Traces>()
  readonly #dictionary: SharedDictionary | undefined
  readonly #shared: SharedTexts | undefined
  readonly #isNumbered: boolean

  constructor(dictionary?: SharedDictionary, isNumbered = false) {
    this.#dictionary = dictionary
    this.#shared = dictionary && new SharedTexts(dictionary)
    this.#isNumbered = dictionary !== undefined && isNumbered
  }

  add(objects: WireValues, traces: WireValues, count: number): void {
    const objectAt = valueReader(vectorOf(objects))
    const trace = vectorOf(traces)
    const traceAt = valueReader(trace)
    for (let row = 0; row < count; row++) {
      const ofObject = this.#of(objectAt(row) as number)
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
  }

  addShared(objects: WireValues, { codes, others }: SharedValues): void {
    const objectAt = valueReader(vectorOf(objects))
    const otherAt = valueReader(vectorOf(others))
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!
      if (code === sharedNull) continue
      const ofObject = this.#of(objectAt(row) as number)
      if (code >= 0) {
        ofObject.addCode(code, this.#shared!.texts)
        continue
      }
      const value = otherAt(sharedNull - code - 1)
      if (typeof value !== 'string') continue
      const own = traceBytes(value)
      ofObject.add(own, 0, own.length)
    }
  }

  addCodes(object: number, codes: Int32Array): void {
    const ofObject = this.#of(object)
    for (let i = 0; i < codes.length; i++) ofObject.addCode(codes[i]!, this.#shared!.texts)
  }

  finish(): SemiJoinSet {
    const all = [...this.#byObject.values()]
    return {
      objects: [...this.#byObject.keys()],
      traces: all.map((traces) => traces.finish()),
      numbered: this.#isNumbered
        ? { dictionary: this.#dictionary!, held: all.map(({ held }) => held!) }
        : undefined,
    }
  }

  #of(object: number): Traces {
    let traces = this.#byObject.get(object)
    if (!traces) {
      traces = new Traces(this.#isNumbered ? this.#dictionary!.count : undefined)
      this.#byObject.set(object, traces)
    }
    return traces
  }
}

class Traces {
  readonly #texts = GrowingTexts.of(64, 'shared')
  readonly #index = new TextIndex('shared')
  /** By code of the shared dictionary, of traces that are numbered. */
  readonly held: Uint8Array | undefined

  constructor(codeCount: number | undefined) {
    this.held =
      codeCount === undefined ? undefined : new Uint8Array(new SharedArrayBuffer(codeCount))
  }

  add(source: Buffer, start: number, end: number): void {
    this.#index.codeOf(this.#texts, source, start, end)
  }

  addCode(code: number, { bytes, offsets }: Texts): void {
    if (this.held) this.held[code] = 1
    else this.add(bytes, offsets[code]!, offsets[code + 1]!)
  }

  finish(): TraceTexts {
    return { ...this.#texts.finish(), slots: this.#index.slots }
  }
}
