/** What sources look like to searches: fields and frequent values of their newest records, kept for a while. */
import { LRUCache } from 'lru-cache'
import type { Gate } from '../access/gate.ts'
import type { Engine } from '../engine.ts'
import { type InferredField, Vocabulary } from '../search/vocabulary.ts'

/** The newest records, which tell what fields there are and what is often in them. */
const describedRecords = 2000

/** Bytes of descriptions that are kept, of all sources together. */
const keptBytes = 16 * 2 ** 20

/** How long a description is taken for true while records are written, and while none are. */
const freshMs = 5000
const unchangedMs = 60_000

interface Described {
  readonly vocabulary: Vocabulary
  readonly bytes: number
  /** By the clock of the process. */
  readonly at: number
  readonly transactionId: string
}

export interface DescribedSource {
  readonly from: string
  readonly view: Gate
}

export class Vocabularies {
  readonly #engine: Engine
  readonly #kept = new LRUCache<string, Described>({
    maxSize: keptBytes,
    // The maps of a vocabulary take some times what it is made of.
    sizeCalculation: ({ bytes }) => 1024 + bytes * 4,
  })
  readonly #underWay = new Map<string, Promise<Described>>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Throws for a source that is not there or may not be read, whatever is known of it. */
  async of({ from, view }: DescribedSource): Promise<Vocabulary> {
    const source = from.replace(/\)\s*\w+\s*$/, ')')
    const { organizationId, userId, keyId } = view.principal
    const key = JSON.stringify([organizationId, userId, keyId, source])
    const kept = this.#kept.get(key)
    if (kept && this.#isFresh(kept)) {
      // Rights may have been taken away since.
      await this.#engine.explain({ query: 'select: id', from: source, view })
      return kept.vocabulary
    }
    let described = this.#underWay.get(key)
    if (!described) {
      described = this.#describe(source, view).finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, described)
    }
    const result = await described
    this.#kept.set(key, result)
    return result.vocabulary
  }

  #isFresh({ at, transactionId }: Described): boolean {
    const age = performance.now() - at
    if (age < freshMs) return true
    return age < unchangedMs && transactionId === this.#engine.lastTransactionId()
  }

  /** Not cancelled with a request, as others may wait for the same. */
  async #describe(source: string, view: Gate): Promise<Described> {
    const at = performance.now()
    const transactionId = this.#engine.lastTransactionId()
    const query = `infer: *\ninference_budget: ${describedRecords}`
    const { rows, finish } = await this.#engine.query({ query, from: source, view })
    const fields: InferredField[] = []
    let read = 0
    for await (const { rowCount, bytes } of rows) {
      if (rowCount === 0) continue
      read += bytes.length
      fields.push(...(JSON.parse(`[${Buffer.from(bytes).toString()}]`) as InferredField[]))
    }
    finish()
    return { vocabulary: new Vocabulary(fields), bytes: read, at, transactionId }
  }
}
