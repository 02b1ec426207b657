/**
 * Short answers to queries that come again. One is given again as long as nothing was written to what it
 * was made from, and its text has the same plan for whoever asks: planning asks for rights each time,
 * and plans that depend on the time or on chance are never the same (`planner/plan-cache.ts`).
 */
import { LRUCache } from 'lru-cache'
import { objectsOf } from '../binder/bound.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import type { RowChunk } from './answer/answer-frame.ts'
import type { QuerySummary } from './query-request.ts'

/** Rows of JSON, and what there is to say of them. */
export interface CachedAnswer {
  /** What the query saw. */
  readonly transaction: number
  readonly rows: RowChunk
  readonly summary: QuerySummary
}

export interface CacheStatistics {
  readonly kept: number
  /** How often one of them was given again. */
  readonly hits: number
}

/** Longer answers take longer to send than to make. */
const longestAnswer = 64 * 1024

/** What an answer takes besides its bytes, by estimate. */
const answerBytes = 1024

const comma = Buffer.from(',\n')

export class AnswerCache {
  readonly #answers: LRUCache<PlannedQuery, CachedAnswer>
  readonly #isOn: boolean
  /** Plans of what was asked before. */
  readonly #asked = new WeakSet<PlannedQuery>()
  /** By number of an object, the last transaction that wrote to it since the start. */
  readonly #written = new Map<number, number>()
  #hits = 0

  /** @param bytes of all answers together; 0 keeps none */
  constructor(bytes: number) {
    this.#isOn = bytes > 0
    this.#answers = new LRUCache({ maxSize: Math.max(1, bytes) })
  }

  get statistics(): CacheStatistics {
    return { kept: this.#answers.size, hits: this.#hits }
  }

  noteWrite(objects: readonly { readonly object: number }[], transaction: number): void {
    for (const { object } of objects) this.#written.set(object, transaction)
  }

  /** @param planned for who asks now */
  find(planned: PlannedQuery): CachedAnswer | undefined {
    const answer = this.#answers.get(planned)
    if (!answer) return undefined
    if (!this.#isFresh(planned, answer.transaction)) {
      this.#answers.delete(planned)
      return undefined
    }
    this.#hits++
    return answer
  }

  /** Whether the answer may be kept, and was asked for before: most are not asked for again. */
  isAskedAgain(planned: PlannedQuery): boolean {
    if (!this.#isOn || planned.physical.plan.access.kind === 'look_up') return false
    if (this.#asked.has(planned)) return true
    this.#asked.add(planned)
    return false
  }

  keep(planned: PlannedQuery, kept: CachedAnswer): void {
    const { length } = kept.rows.bytes
    if (length > longestAnswer || !this.#isFresh(planned, kept.transaction)) return
    this.#answers.set(planned, kept, { size: answerBytes + length })
  }

  /** Gives the chunks, and keeps them together once all were taken. */
  async *collecting(
    chunks: AsyncIterable<RowChunk>,
    keep: (rows: RowChunk) => void,
  ): AsyncGenerator<RowChunk> {
    const parts: Uint8Array[] = []
    let length = 0
    let rowCount = 0
    for await (const chunk of chunks) {
      length += chunk.bytes.length
      if (chunk.rowCount > 0 && length <= longestAnswer) {
        if (parts.length > 0) parts.push(comma)
        parts.push(chunk.bytes)
        rowCount += chunk.rowCount
      }
      yield chunk
    }
    if (length > longestAnswer) return
    keep({ rowCount, bytes: Buffer.concat(parts), last: undefined, lastSorted: undefined })
  }

  #isFresh({ bound }: PlannedQuery, transaction: number): boolean {
    return objectsOf(bound).every(({ number }) => (this.#written.get(number) ?? 0) <= transaction)
  }
}
