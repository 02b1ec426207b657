/** What is done with rows before and after a masker of the operator is asked: of long bodies in the threads of inserts. */
import {
  type JoinedRows,
  joinRows,
  type MaskerAnswer,
  type MaskerRow,
  readAnswer,
  type SplitBody,
  splitRows,
} from '../../storage/prepare/masker-rows.ts'
import { type IngestPool, inlineBytes } from './ingest-pool.ts'

export class MaskerWork {
  readonly #ingest: Pick<IngestPool, 'splitRows' | 'joinRows' | 'readAnswer'> | undefined

  /** @param ingest undefined: all is done in this thread */
  constructor(ingest: Pick<IngestPool, 'splitRows' | 'joinRows' | 'readAnswer'> | undefined) {
    this.#ingest = ingest
  }

  /** See `splitRows`. */
  async split(given: SplitBody): Promise<readonly MaskerRow[]> {
    return this.#threadsFor(given.body)?.splitRows(given) ?? splitRows(given)
  }

  /** See `joinRows`. */
  async join(given: JoinedRows): Promise<Uint8Array> {
    return this.#threadsFor(given.body)?.joinRows(given) ?? joinRows(given)
  }

  /** See `readAnswer`. */
  async readAnswer(answer: Uint8Array): Promise<MaskerAnswer> {
    return this.#threadsFor(answer)?.readAnswer(answer) ?? readAnswer(answer)
  }

  #threadsFor({ length }: Uint8Array) {
    return length > inlineBytes ? this.#ingest : undefined
  }
}
