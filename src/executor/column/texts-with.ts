/**
 * Calls `found` once for each of the texts, which lie end to end, that has some bytes: to search many texts at once takes
 * a fraction of what a search of each takes.
 *
 * @param next where the bytes are next from a place of the texts on, or -1
 * @param length how many bytes they are
 * @param ends where texts begin and end; the first begins at place 0, whatever its start
 */
export function forEachWith(
  next: (from: number) => number,
  length: number,
  ends: Int32Array,
  found: (text: number) => void,
): void {
  const start = ends[0]!
  let text = 0
  let at = next(0)
  while (at >= 0) {
    while (ends[text + 1]! - start <= at) text++
    const end = ends[text + 1]! - start
    const isWithin = at + length <= end
    if (isWithin) found(text)
    at = next(isWithin ? end : at + 1)
  }
}
