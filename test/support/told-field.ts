import { type Encoding, Field } from '../../src/executor/expression/batch.ts'
import type { SharedCodes } from '../../src/vector/shared-dictionary.ts'
import type { Vector } from '../../src/vector/vector.ts'

interface Told {
  readonly encoding?: Encoding
  readonly shared?: SharedCodes
}

/** A field of which only is known how it is encoded. */
export class ToldField extends Field {
  readonly #told: Told

  constructor(told: Told) {
    super()
    this.#told = told
  }

  override get encoding(): Encoding {
    return this.#told.encoding ?? super.encoding
  }

  override get shared(): SharedCodes | undefined {
    return this.#told.shared
  }

  read(): Vector {
    throw new Error('the field is not to be read')
  }

  apart(): Field {
    return this
  }
}
