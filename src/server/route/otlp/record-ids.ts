/**
 * The ids of the records that spans become. A span's record has the id of the span, which clients name when
 * they give feedback. Only where a record of that id is a span of another trace, the trace's id is put
 * before it, so that one span id in two traces is two records, whichever came first and however often.
 */
import type { Engine } from '../../../engine.ts'

/** A span that is to be written. */
export interface PlacedSpan {
  /** The number of the object that it goes into. */
  readonly object: number
  readonly spanId: string
  /** Undefined where that is not known. */
  readonly rootSpanId: string | undefined
}

export class RecordIds {
  readonly #engine: Engine
  /** Traces of spans that are being written, by object and span id. */
  readonly #claims = new Map<string, { readonly rootSpanId: string; holders: number }>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * One id for each span; spans of one request that are the same one have the same. `release` must be
   * called once they are written.
   */
  claim(spans: readonly PlacedSpan[]): { readonly ids: string[]; readonly release: () => void } {
    const stored = this.#stored(spans)
    const held: string[] = []
    const ids = spans.map(({ object, spanId, rootSpanId }) => {
      if (rootSpanId === undefined) return spanId
      const key = `${object} ${spanId}`
      const holder = stored.get(key) ?? this.#claims.get(key)?.rootSpanId
      if (holder !== undefined && holder !== rootSpanId) return `${rootSpanId}-${spanId}`
      const claim = this.#claims.get(key) ?? { rootSpanId, holders: 0 }
      claim.holders++
      this.#claims.set(key, claim)
      held.push(key)
      return spanId
    })
    return { ids, release: () => this.#release(held) }
  }

  /** The traces of the spans that are written already. */
  #stored(spans: readonly PlacedSpan[]): Map<string, string> {
    const byObject = new Map<number, Set<string>>()
    for (const { object, spanId, rootSpanId } of spans) {
      if (rootSpanId === undefined) continue
      const known = byObject.get(object)
      if (known) known.add(spanId)
      else byObject.set(object, new Set([spanId]))
    }
    const found = new Map<string, string>()
    for (const [object, spanIds] of byObject) {
      for (const [id, { spanId, rootSpanId }] of this.#engine.placesOf(object, [...spanIds])) {
        // Where the ids differ, it is no span yet: what came before it, as feedback does.
        if (id === spanId) found.set(`${object} ${spanId}`, rootSpanId)
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
