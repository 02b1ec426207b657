import type { Catalog } from '../catalog/catalog.ts'
import type { Key } from './key-ring.ts'

/** How often what was used is written. A crash forgets at most this much. */
const writeEveryMs = 60_000

/**
 * Notes when keys were last used. A request only sets a time in memory; each key's newest is written
 * once a minute, many keys in one transaction.
 */
export class KeyUse {
  readonly #catalog: Catalog
  #used = nothingUsed()
  #timer: NodeJS.Timeout | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  note({ kind, id }: Key): void {
    this.#used[kind].set(id, Date.now())
    // What cannot be written now is written with the next.
    this.#timer ??= setTimeout(() => void this.write().catch(() => undefined), writeEveryMs).unref()
  }

  /** Resolves once everything that was noted is on disk. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const used = this.#used
    this.#used = nothingUsed()
    try {
      for (const kind of ['api_key', 'service_token'] as const) {
        if (used[kind].size > 0) await this.#catalog.noteUse(kind, timesOf(used[kind]))
      }
    } catch (error) {
      for (const kind of ['api_key', 'service_token'] as const) {
        this.#used[kind] = new Map([...used[kind], ...this.#used[kind]])
      }
      throw error
    }
  }
}

function timesOf(used: ReadonlyMap<string, number>): Map<string, string> {
  return new Map(Array.from(used, ([id, ms]) => [id, new Date(ms).toISOString()]))
}

/** By id, in ms since 1970. */
function nothingUsed(): Record<Key['kind'], Map<string, number>> {
  return { api_key: new Map(), service_token: new Map() }
}
