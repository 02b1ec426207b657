/** Cuts texts into folded words, many texts at once. */
import { dottedCapitalI, foldCodePoint } from '../type/fold-text.ts'
import { wordClass } from '../type/word-class.ts'
import { beginBatch, endBatches, kernels, newBytes, newCodes, place } from './arena.ts'

/** Bytes and texts that are cut at once. */
export const cutBytes = 2 ** 17
export const cutTexts = 2 ** 12

export const integersOfWord = 4

/** What characters below 2^16 fold to, and their classes. */
interface CharacterTables {
  readonly folds: Uint8Array
  readonly classes: Uint8Array
}

let characterTables: CharacterTables | undefined

function makeTables(): CharacterTables {
  const folds = Uint16Array.from({ length: 2 ** 16 }, (_, codePoint) => {
    // Halves of pairs are in no UTF-8, and that letter becomes two characters.
    const isLeft = codePoint === dottedCapitalI || (codePoint >= 0xd800 && codePoint < 0xe000)
    return isLeft ? codePoint : foldCodePoint(codePoint)
  })
  const classes = Uint8Array.from({ length: 2 ** 16 }, (_, codePoint) => wordClass(codePoint))
  return { folds: new Uint8Array(folds.buffer), classes }
}

/**
 * Words of the texts that were cut last. It works in the memory of the thread's kernels, so that nothing
 * else may use that before `close`.
 */
export class WordCutter {
  /** The texts to cut, end to end, and their ends. */
  readonly source: Uint8Array
  readonly ends: Int32Array
  /** Folded words. */
  readonly folded: Uint8Array
  /** Of each word: its begin and end in `folded`, its hash, and a bit for each class of its characters. */
  readonly words: Int32Array
  readonly #states: Int32Array
  readonly #places: readonly number[]

  constructor() {
    characterTables ??= makeTables()
    beginBatch()
    const folds = newBytes(characterTables.folds.length)
    folds.set(characterTables.folds)
    const classes = newBytes(characterTables.classes.length)
    classes.set(characterTables.classes)
    this.source = newBytes(cutBytes)
    this.ends = newCodes(cutTexts)
    // A character of two bytes may fold to one of three.
    this.folded = newBytes(cutBytes * 2)
    this.words = newCodes((cutBytes / 2 + cutTexts) * integersOfWord)
    this.#states = newCodes(cutTexts)
    this.#places = [folds, classes, this.folded, this.words, this.#states].map((array) =>
      place(array, array.length),
    )
    endBatches()
  }

  /** Cuts the first `textCount` texts of `source`. */
  cut(textCount: number): void {
    const [folds, classes, folded, words, states] = this.#places
    const source = place(this.source, cutBytes)
    const ends = place(this.ends, textCount)
    kernels.scanWords(source, ends, textCount, folds!, classes!, folded!, words!, states!)
  }

  /** Where among `words` those of a text end; those of the next follow. */
  wordsEnd(text: number): number {
    return (this.#states[text]! >> 3) * integersOfWord
  }

  /** Whether the text has characters that JSON escapes with letters. */
  hasEscapes(text: number): boolean {
    return (this.#states[text]! & 1) !== 0
  }

  /** Whether the text has a character that may be another one some day. */
  isDoubtful(text: number): boolean {
    return (this.#states[text]! & 2) !== 0
  }

  /** Whether the text has characters that are not cut here; it has no words then. */
  isLeft(text: number): boolean {
    return (this.#states[text]! & 4) !== 0
  }
}
