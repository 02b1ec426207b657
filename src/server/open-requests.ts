import { networkOf } from '../access/guess-limits.ts'
import { AssayError } from '../error.ts'

/** Requests with a body, of an address that has not said who asks. */
const mostPerAddress = 64

/** A body that says who asks is no longer. */
export const longestCredentials = 64 * 1024

/** Requests whose bodies are taken from whoever sends them, since they are what signs in: few of each address. */
export class OpenRequests {
  readonly #byNetwork = new Map<string, number>()

  /** Counts a request until what is returned is called. Throws LIMIT_OVERLOADED when there are too many. */
  begin(address: string): () => void {
    const network = networkOf(address)
    const open = this.#byNetwork.get(network) ?? 0
    if (open >= mostPerAddress) {
      throw new AssayError('LIMIT_OVERLOADED', 'too many sign-ins from one address at once', {
        hint: 'try again in a moment',
      })
    }
    this.#byNetwork.set(network, open + 1)
    return () => {
      const left = (this.#byNetwork.get(network) ?? 1) - 1
      if (left === 0) this.#byNetwork.delete(network)
      else this.#byNetwork.set(network, left)
    }
  }
}
