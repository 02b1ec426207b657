import type { Remark } from './any-value.ts'
import { type Attributes, Fields, reasonOf, type Scope } from './decode.ts'
import type { Message, SentItem } from './request.ts'

export interface Origin {
  readonly resource: Attributes
  readonly scope: Scope
}

/** Reads what made spans and log records, once for all that it made. */
export class OriginReader {
  readonly #remark: Remark
  readonly #resources = new Map<Message, Attributes>()
  readonly #scopes = new Map<Message, Scope>()

  constructor(remark: Remark) {
    this.#remark = remark
  }

  of({ resource, scope }: SentItem): Origin {
    return {
      resource: resource ? this.#resourceOf(resource) : new Map(),
      scope: scope ? this.#scopeOf(scope) : { name: '', version: '' },
    }
  }

  #resourceOf(message: Message): Attributes {
    const known = this.#resources.get(message)
    if (known) return known
    const tell: Remark = (text) => this.#remark(`a resource: ${text}`)
    const resource = this.#read(message, 'resource', (fields) => fields.attributes(tell))
    this.#resources.set(message, resource ?? new Map())
    return resource ?? new Map()
  }

  #scopeOf(message: Message): Scope {
    const known = this.#scopes.get(message)
    if (known) return known
    const scope = this.#read(message, 'scope', (fields) => ({
      name: fields.text('name'),
      version: fields.text('version'),
    })) ?? { name: '', version: '' }
    this.#scopes.set(message, scope)
    return scope
  }

  /** What cannot be read is told, and left out: the spans are there all the same. */
  #read<Result>(
    message: Message,
    what: string,
    read: (fields: Fields) => Result,
  ): Result | undefined {
    try {
      return read(new Fields(message.read()))
    } catch (thrown) {
      this.#remark(`a ${what} cannot be read: ${reasonOf(thrown)}`)
      return undefined
    }
  }
}
