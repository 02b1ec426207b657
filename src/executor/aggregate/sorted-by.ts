/** Places by their codes, by counting how often each code occurs. */
import { checkAtTimes } from '../thread/cancelled.ts'

export interface Sorted {
  readonly places: Int32Array
  /** The places of code `i` end at `ends[i]`, where those of the next one begin. */
  readonly ends: Int32Array
}

/** Puts these places in the order of their codes; those of one code stay in theirs. */
export function sortedBy(codes: ArrayLike<number>, places: Int32Array, codeCount: number): Sorted {
  const ends = new Int32Array(codeCount)
  for (let i = 0; i < places.length; i++) {
    checkAtTimes()
    ends[codes[places[i]!]!]!++
  }
  let end = 0
  for (let code = 0; code < codeCount; code++) {
    const size = ends[code]!
    // For now where the code begins; filling moves it to the end.
    ends[code] = end
    end += size
  }
  const sorted = new Int32Array(places.length)
  for (let i = 0; i < places.length; i++) {
    checkAtTimes()
    sorted[ends[codes[places[i]!]!]!++] = places[i]!
  }
  return { places: sorted, ends }
}
