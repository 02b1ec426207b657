import type { Attachments } from '../attachment/attachments.ts'
import type { Engine, InsertRequest, InsertResult } from '../engine.ts'

/** Writes rows, and notes which files they name, before the request is answered. */
export class RecordInserter {
  readonly #engine: Engine
  readonly #attachments: Attachments

  constructor(engine: Engine, attachments: Attachments) {
    this.#engine = engine
    this.#attachments = attachments
  }

  async insert(request: InsertRequest): Promise<InsertResult> {
    const result = await this.#engine.insert(request)
    await this.#attachments.noteNamed(result.attachments, request.view)
    return result
  }
}
