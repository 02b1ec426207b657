import type { Gate } from '../access/gate.ts'
import type { Attachments } from '../attachment/attachments.ts'
import type { Engine, InsertRequest, InsertResult } from '../engine.ts'

/** What an insert takes from whoever asks for it. */
export function writtenBy(gate: Gate): Pick<InsertRequest, 'view' | 'userId'> {
  const { userId } = gate.principal
  return { view: gate, ...(userId !== null && { userId }) }
}

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
