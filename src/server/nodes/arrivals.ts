/** What a query node waits for before it answers: what the client has seen elsewhere, and a key that is newer than the node. */
import type { Credentials } from '../../access/access.ts'
import { AssayError } from '../../error.ts'
import { hasCredentials } from '../credentials.ts'
import type { RequestHead } from '../http/http-server.ts'
import type { Home } from './home.ts'
import { seenBy } from './seen.ts'

export class Arrivals {
  readonly #home: Home | undefined

  /** @param home undefined at the home node itself, which waits for nothing */
  constructor(home: Home | undefined) {
    this.#home = home
  }

  /**
   * Resolves once all that the client has seen is here; undefined when it is. Throws REQUEST_INVALID, and rejects with
   * HOME_AHEAD when it does not come soon.
   */
  ofSeen(request: RequestHead): Promise<void> | undefined {
    const seen = seenBy(request)
    return seen && this.#home && !this.#home.has(seen) ? this.#home.seen(seen) : undefined
  }

  /**
   * Resolves once the node knows the keys and sessions that its home knows now; undefined when waiting for them is of no
   * use.
   *
   * @param thrown why the credentials were refused
   */
  ofUnknown(thrown: unknown, credentials: Credentials): Promise<void> | undefined {
    const isUnknown = thrown instanceof AssayError && thrown.code === 'ACCESS_UNAUTHENTICATED'
    if (!isUnknown || !this.#home?.status.isConnected || !hasCredentials(credentials)) return
    return this.#home.heardAnew()
  }
}
