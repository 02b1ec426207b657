import type { Gate } from '../access/gate.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { LanguageModel } from '../search/ask-model.ts'

/** The AI secret that takes the place of the environment variable of that name, for its organization. */
const secretName = 'ASSAY_LLM_KEY'

/** Where the service has a language model, with the key of the caller's organization if it has one. */
export class LanguageModels {
  readonly #model: LanguageModel | undefined
  readonly #secrets: SecretBox

  constructor(model: LanguageModel | undefined, secrets: SecretBox) {
    this.#model = model
    this.#secrets = secrets
  }

  /** Throws STORAGE_CORRUPT when the secret was sealed with another key than that of this service. */
  of(gate: Gate): LanguageModel | undefined {
    if (!this.#model) return undefined
    const { organizationId } = gate.principal
    const sealed = gate.named('ai_secret', organizationId, secretName)?.sealed
    return sealed
      ? { ...this.#model, key: this.#secrets.unseal(sealed, organizationId) }
      : this.#model
  }
}
