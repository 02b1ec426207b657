/** Files that are not what they say: what is told of them, and how much may come of them. */
import { reasonOf } from './file-record.ts'

/** Lists may refer to the same values again and again, so a small file can have records without end. */
const longestLists = 128 * 2 ** 20

/** How much the lists of one record may still take. */
export class ListRoom {
  #left = longestLists

  /** To be called before each record. */
  reset(): void {
    this.#left = longestLists
  }

  /** Throws when all lists of the record together are too long. */
  take(length: number): void {
    this.#left -= length
    if (this.#left < 0) throw new Error('longer than 128 MiB with its lists')
  }
}

/** What an error says of a file. Those of the language itself are of code that met what nobody writes. */
export function damageOf(error: unknown): string {
  const isOfLanguage = error instanceof TypeError || error instanceof RangeError
  return isOfLanguage ? 'damaged' : reasonOf(error)
}
