/** Longer words are not compared: nobody mistypes them in a way that a distance would show. */
const longestWord = 64

/**
 * Finds the candidate that `word` was most likely meant to be: the nearest by edit distance (a swap
 * of two neighbours counts as one edit), case ignored, if it is near enough. The first of equals wins.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > longestWord) return undefined
  const wanted = word.toLowerCase()
  let nearest: string | undefined
  let smallest = allowedEdits(wanted.length) + 1
  for (const candidate of candidates) {
    if (candidate === word || Math.abs(candidate.length - word.length) >= smallest) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    // A word of which no letter stays is another word.
    if (distance >= smallest || distance >= Math.min(wanted.length, candidate.length)) continue
    nearest = candidate
    smallest = distance
  }
  return nearest
}

function allowedEdits(length: number): number {
  if (length <= 3) return 1
  return length <= 7 ? 2 : 3
}

/** The least number of insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let distance = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) distance = Math.min(distance, beforeLast[column - 2]! + 1)
      current.push(distance)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]!
}
