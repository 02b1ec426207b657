/**
 * The ids of the records that spans become. A span's record has the id of the span, which clients name when
 * they give feedback. Only where a record of that id is a span of another trace, the trace's id is put
 * before it, so that one span id in two traces is two records, whichever came first and however often.
 */
import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../../engine.ts'

/** A span that is to be written. */
export interface PlacedSpan {
  /** The number of the object that it goes into. */
  readonly object: number
  readonly spanId: string
  /** Undefined where that is not known. */
  readonly rootSpanId: string | undefined
}

/** Looked up before others have their turn: some ten milliseconds. */
const idsPerTurn = 1000

export class RecordIds {
  readonly #engine: Engine
  /** Traces of spans that are being written, by object and span id. */
  readonly #claims = new Map<string, { readonly rootSpanId: string; holders: number }>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * One id for each span; spans of one request that are the same one have the same. `release` must be
   * called once they are written: until then no span of another trace gets their ids.
   */
  async claim(
    spans: readonly PlacedSpan[],
  ): Promise<{ readonly ids: string[]; readonly release: () => void }> {
    const held = spans.filter((span) => this.#hold(span)).map(keyOf)
    const release = () => this.#release(held)
    try {
      const stored = await this.#stored(spans)
      const ids = spans.map((span) => {
        const { spanId, rootSpanId } = span
        if (rootSpanId === undefined) return spanId
        const holder = stored.get(keyOf(span)) ?? this.#claims.get(keyOf(span))?.rootSpanId
        const isFree = holder === undefined || holder === rootSpanId
        return isFree ? spanId : `${rootSpanId}-${spanId}`
      })
      return { ids, release }
    } catch (thrown) {
      release()
      throw thrown
    }
  }

  /** False where a span of another trace is being written under its id, or nothing is known of its trace. */
  #hold(span: PlacedSpan): boolean {
    const { rootSpanId } = span
    if (rootSpanId === undefined) return false
    const claim = this.#claims.get(keyOf(span)) ?? { rootSpanId, holders: 0 }
    if (claim.rootSpanId !== rootSpanId) return false
    claim.holders++
    this.#claims.set(keyOf(span), claim)
    return true
  }

  /** The traces of the spans that are written already. */
  async #stored(spans: readonly PlacedSpan[]): Promise<Map<string, string>> {
    const byObject = new Map<number, Set<string>>()
    for (const { object, spanId, rootSpanId } of spans) {
      if (rootSpanId === undefined) continue
      const known = byObject.get(object)
      if (known) known.add(spanId)
      else byObject.set(object, new Set([spanId]))
    }
    const found = new Map<string, string>()
    for (const [object, spanIds] of byObject) {
      const ids = [...spanIds]
      for (let from = 0; from < ids.length; from += idsPerTurn) {
        if (from > 0) await setImmediate()
        const places = await this.#engine.placesOf(object, ids.slice(from, from + idsPerTurn))
        for (const [id, { spanId, rootSpanId }] of places) {
          // Where the ids differ, it is no span yet: what came before it, as feedback does.
          if (id === spanId) found.set(keyOf({ object, spanId }), rootSpanId)
        }
      }
    }
    return found
  }

  #release(keys: readonly string[]): void {
    for (const key of keys) {
      const claim = this.#claims.get(key)
      if (claim && --claim.holders === 0) this.#claims.delete(key)
    }
  }
}

function keyOf({ object, spanId }: Pick<PlacedSpan, 'object' | 'spanId'>): string {
  return `${object} ${spanId}`
}
