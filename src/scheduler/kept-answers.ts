/**
 * Short answers to queries that come again. One is given again as long as nothing was written to what it
 * was made from, and its text has the same plan for whoever asks: planning asks for rights each time,
 * and plans that depend on the time or on chance are never the same (`planner/plan-cache.ts`).
 */
import { LRUCache } from 'lru-cache'
import { objectsOf } from '../binder/bound.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import { formatTransaction } from '../type/transaction.ts'
import type { RowChunk } from './answer/answer-frame.ts'
import type { AnswerNow } from './answer/direct-look-up.ts'
import type { QueryRequest, QuerySummary } from './query-request.ts'

export interface KeptAnswer {
  readonly planned: PlannedQuery
  /** What the query saw. */
  readonly transaction: number
  readonly bytes: Uint8Array
  readonly summary: QuerySummary
}

export interface KeptStatistics {
  readonly kept: number
  /** How often one of them was given again. */
  readonly hits: number
}

/** Longer answers take longer to send than to make. */
const longestAnswer = 64 * 1024

/** What an answer takes besides its bytes and its text, by estimate. */
const answerBytes = 1024

/** Texts that were asked once: answers are kept from the second time on. */
const askedTexts = 10_000

const comma = Buffer.from(',\n')

export class KeptAnswers {
  readonly #answers: LRUCache<string, KeptAnswer>
  readonly #isOn: boolean
  readonly #asked = new LRUCache<string, PlannedQuery>({ max: askedTexts })
  /** By number of an object, the last transaction that wrote to it since the start. */
  readonly #written = new Map<number, number>()
  #hits = 0

  /** @param bytes of all answers together; 0 keeps none */
  constructor(bytes: number) {
    this.#isOn = bytes > 0
    this.#answers = new LRUCache({ maxSize: Math.max(1, bytes) })
  }

  get statistics(): KeptStatistics {
    return { kept: this.#answers.size, hits: this.#hits }
  }

  noteWrite(objects: readonly { readonly object: number }[], transaction: number): void {
    for (const { object } of objects) this.#written.set(object, transaction)
  }

  /** @param plan plans the query for who asks; only called when there is an answer to its text */
  find(query: string, plan: () => PlannedQuery): KeptAnswer | undefined {
    const answer = this.#answers.get(query)
    if (!answer) return undefined
    if (!this.#isFresh(answer)) {
      this.#answers.delete(query)
      return undefined
    }
    if (plan() !== answer.planned) return undefined
    this.#hits++
    return answer
  }

  /** The rows, whose answer is kept once all of them were taken. */
  keeping(
    request: QueryRequest,
    planned: PlannedQuery,
    transaction: number,
    answer: { readonly rows: AsyncIterable<RowChunk>; finish(): QuerySummary },
  ): AsyncIterable<RowChunk> {
    if (!isPlain(request) || !this.#isAskedAgain(request.query, planned)) return answer.rows
    return this.#collect(request.query, planned, transaction, answer)
  }

  /** Keeps an answer that was made at once, for a query without any options. */
  keep(query: string, planned: PlannedQuery, transaction: number, answer: AnswerNow): void {
    if (!this.#isAskedAgain(query, planned)) return
    const { schema, rowCount, lastTransactionId, bytesRead, cursor } = answer
    this.#set(query, {
      planned,
      transaction,
      // A copy, which `slice` of a Buffer is not.
      bytes: new Uint8Array(answer.bytes),
      summary: {
        schema,
        rowCount,
        lastTransactionId,
        bytesRead,
        ...(cursor !== undefined && { cursor }),
      },
    })
  }

  /** Whether its answer may be kept, and the text was asked before. */
  #isAskedAgain(query: string, planned: PlannedQuery): boolean {
    if (!this.#isOn || planned.physical.plan.access.kind === 'look_up') return false
    if (this.#asked.get(query) === planned) return true
    this.#asked.set(query, planned)
    return false
  }

  #set(query: string, kept: KeptAnswer): void {
    const { length } = kept.bytes
    const size = answerBytes + query.length * 2 + length
    if (length <= longestAnswer && this.#isFresh(kept)) this.#answers.set(query, kept, { size })
  }

  async *#collect(
    query: string,
    planned: PlannedQuery,
    transaction: number,
    { rows, finish }: { readonly rows: AsyncIterable<RowChunk>; finish(): QuerySummary },
  ): AsyncGenerator<RowChunk> {
    const parts: Uint8Array[] = []
    let length = 0
    for await (const chunk of rows) {
      length += chunk.bytes.length
      if (chunk.rowCount > 0 && length <= longestAnswer) {
        if (parts.length > 0) parts.push(comma)
        parts.push(chunk.bytes)
      }
      yield chunk
    }
    if (length > longestAnswer) return
    this.#set(query, { planned, transaction, bytes: Buffer.concat(parts), summary: finish() })
  }

  #isFresh({ planned, transaction }: Pick<KeptAnswer, 'planned' | 'transaction'>): boolean {
    return objectsOf(planned.bound).every(
      ({ number }) => (this.#written.get(number) ?? 0) <= transaction,
    )
  }
}

/** @param transaction the newest one, which sees the same */
export function repeated(kept: KeptAnswer, transaction: number): AnswerNow {
  const { planned, bytes, summary } = kept
  return {
    rowCount: summary.rowCount,
    bytes,
    bytesRead: summary.bytesRead,
    rowsRead: 0,
    schema: summary.schema,
    warnings: planned.warnings,
    planSummary: planned.summary,
    cursor: summary.cursor,
    lastTransactionId: transaction === 0 ? null : formatTransaction(transaction),
  }
}

/** Whether the text alone says what is asked for, and JSON is wanted. */
function isPlain(request: QueryRequest): boolean {
  const { format = 'json', separator = ',\n', tzOffset = 0 } = request
  return (
    format === 'json' &&
    separator === ',\n' &&
    tzOffset === 0 &&
    request.from === undefined &&
    request.project === undefined &&
    request.version === undefined &&
    request.rootSpanId === undefined &&
    request.inferenceDepth === undefined &&
    request.useColumnstore !== true &&
    request.auditLog !== true &&
    request.since === undefined &&
    request.idsOf === undefined
  )
}
