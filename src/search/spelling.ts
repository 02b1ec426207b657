/** Mends words that are written nearly like those that mean something: `errros`, `yesteday`, `more then`. */
import { isFiller } from './filler.ts'
import { singular, type Vocabulary } from './vocabulary.ts'
import type { Word } from './words.ts'

/** Words that mean something to the translator, as far as they are long enough to be told apart. */
const meant = (
  'errors error failed failures request requests latency duration token tokens yesterday today model models ' +
  'users average median slowest fastest expensive cheapest newest oldest highest lowest largest smallest traces ' +
  'tagged between minute minutes second seconds hours environment percentile production responses average ' +
  'response answers monday tuesday wednesday thursday friday saturday sunday january february september october november december ' +
  'without except compare sorted number count exceptions timeout timeouts'
).split(' ')

/** Shorter words are too near to others. */
const shortest = 5
/** From so many letters on, one may be another. */
const shortestReplaced = 8

export interface Mended {
  readonly words: readonly Word[]
  /** What was read as something else, for the explanation. */
  readonly told: readonly string[]
}

export function mend(words: readonly Word[], vocabulary: Vocabulary): Mended {
  const known = new Set([...meant, ...vocabulary.knownWords])
  const candidates = [...known].filter((word) => /^[a-z]{5,}$/.test(word))
  const told: string[] = []
  const mended = words.map((word, i) => {
    if (word.kind !== 'text') return word
    const before = words[i - 1]?.plain ?? ''
    // "slower then 3 s", but "by user then by cost".
    if (word.plain === 'then' && /^(more|less|\w+er)$/.test(before) && !known.has(before)) {
      return { ...word, plain: 'than' }
    }
    if (word.plain.length < shortest || !/^[a-z]+$/.test(word.plain)) return word
    if (known.has(word.plain) || known.has(singular(word.plain)) || isFiller(word.plain))
      return word
    const all = candidates.filter((candidate) => isNear(word.plain, candidate))
    const swapped = all.filter(({ length }) => length === word.plain.length)
    const near = swapped.length > 0 ? swapped : all
    if (near.length !== 1 || singular(near[0]!) === singular(word.plain)) return word
    told.push(`"${word.text}" read as "${near[0]}"`)
    return { ...word, text: near[0]!, plain: near[0]! }
  })
  return { words: mended, told }
}

/** Whether a letter is missing, too many, in the place of its neighbour or, in long words, another. */
function isNear(written: string, word: string): boolean {
  if (written[0] !== word[0] || Math.abs(written.length - word.length) > 1) return false
  let start = 0
  while (start < written.length && written[start] === word[start]) start++
  const rest = (text: string, from: number) => text.slice(start + from)
  // An ending is no slip of the finger: `orders` is not `order`.
  if (start === word.length || (start === written.length && word.endsWith('s'))) return false
  if (written.length > word.length) return rest(written, 1) === rest(word, 0)
  if (written.length < word.length) return rest(written, 0) === rest(word, 1)
  const isSwapped =
    written[start] === word[start + 1] &&
    written[start + 1] === word[start] &&
    rest(written, 2) === rest(word, 2)
  return isSwapped || (word.length >= shortestReplaced && rest(written, 1) === rest(word, 1))
}
