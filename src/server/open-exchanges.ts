/** The exchanges with clients that have not ended, and whether those who have begun them are still let in. */
import type { Access } from '../access/access.ts'
import { type AssayError, toAssayError } from '../error.ts'
import type { Exchange } from './exchange.ts'

/** Changes of the catalog within this time are looked at together. */
const recheckMs = 50

export class OpenExchanges {
  readonly #open = new Set<Exchange>()
  readonly #stopListening: (() => void)[]
  #recheck: NodeJS.Timeout | undefined
  #emptied: (() => void) | undefined

  constructor(access: Access) {
    this.#stopListening = [
      access.catalog.onChange(() => {
        if (this.#open.size === 0) return
        this.#recheck ??= setTimeout(() => this.#recheckAll(), recheckMs).unref()
      }),
      access.onExpiry(() => this.#recheckAll()),
    ]
  }

  get size(): number {
    return this.#open.size
  }

  add(exchange: Exchange): void {
    this.#open.add(exchange)
  }

  remove(exchange: Exchange): void {
    this.#open.delete(exchange)
    if (this.#open.size === 0) this.#emptied?.()
  }

  abortAll(reason: AssayError): void {
    for (const exchange of this.#open) exchange.abort(reason)
  }

  /** Whether all have ended within the time. */
  async emptyWithin(ms: number): Promise<boolean> {
    if (this.#open.size === 0) return true
    const empty = new Promise<boolean>((resolve) => {
      this.#emptied = () => resolve(true)
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const result = await Promise.race([empty, late])
    clearTimeout(timer)
    return result
  }

  close(): void {
    for (const stop of this.#stopListening) stop()
    clearTimeout(this.#recheck)
  }

  /** Whoever is not let in any more gets no further byte, and is read no further. */
  #recheckAll(): void {
    clearTimeout(this.#recheck)
    this.#recheck = undefined
    for (const exchange of this.#open) {
      try {
        exchange.check?.()
      } catch (thrown) {
        const error = toAssayError(thrown)
        exchange.body?.refuse(error)
        exchange.cancel(error)
      }
    }
  }
}
