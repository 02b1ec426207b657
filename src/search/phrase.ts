/** What phrases of a search are read with, and what they are found to mean. */
import type { Vocabulary, VocabularyField } from './vocabulary.ts'
import type { Word } from './words.ts'

/** What a number counts. `seconds`, `dollars` and `tokens` are in these; `share`: a percentage, from 0 to 1. */
export type Unit = 'none' | 'seconds' | 'dollars' | 'tokens' | 'share'

/** A number that rows have, or that groups of rows come to. */
export interface Quantity {
  /** What a column of it is called. */
  readonly name: string
  /** Its value in one row; undefined where only groups have it, as a count of errors. */
  readonly row: string | undefined
  /** Its value in a group, unless the words ask for another aggregate. */
  readonly group: string
  /** What `group` is called in an explanation. */
  readonly told: string
  readonly unit: Unit
}

/** A field that rows can be grouped by. */
export interface Dimension {
  readonly text: string
  readonly alias: string
  readonly told: string
  /** Groups come in the order of times unless the words say otherwise. */
  readonly isTime: boolean
}

export interface Measure {
  readonly text: string
  readonly alias: string
  readonly told: string
}

/** What groups must come to for being wanted. */
export interface Having {
  readonly measure: Measure
  /** What follows the measure: `> 3`. */
  readonly test: string
  readonly told: string
}

/**
 * A part of what a search means. Texts of expressions are of the query language, made by its printer,
 * never what was typed.
 */
export type Meaning =
  /** Holds for the rows that are wanted. */
  | {
      readonly kind: 'condition'
      readonly text: string
      /** Its opposite, if that is not simply `not (…)`. */
      readonly negated?: string
      readonly told: string
      /** A field that was compared with a text, so that `or` may go on with another one. */
      readonly field?: VocabularyField
    }
  | { readonly kind: 'order'; readonly order: Order }
  | { readonly kind: 'limit'; readonly count: number }
  | { readonly kind: 'measure'; readonly measure: Measure }
  | { readonly kind: 'dimension'; readonly dimension: Dimension }
  | { readonly kind: 'having'; readonly having: Having }
  /** A field that was only mentioned: `users` of "top 5 users by cost". */
  | { readonly kind: 'mention'; readonly dimension: Dimension }
  /** A quantity that was only mentioned: `cost` of "cost per day". */
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'compare' | 'not' | 'or' | 'and' | 'nothing' }

export interface Order {
  readonly by: Quantity | 'created' | 'relevance'
  readonly direction: 'asc' | 'desc'
}

export interface Recognized {
  /** How many words it took. */
  readonly length: number
  readonly meanings: readonly Meaning[]
}

export interface Context {
  readonly vocabulary: Vocabulary
  /** Milliseconds since 1970. */
  readonly now: number
  /** Minutes behind UTC. */
  readonly tzOffset: number
  /** `summary`: a row is a trace. */
  readonly rows: 'records' | 'traces'
  /** Whether something is recognized from a word on. */
  begins(at: number): boolean
}

export type Recognizer = (reader: PhraseReader, context: Context) => Recognized | undefined

/** Reads on from one word; what does not fit is left where it was. */
export class PhraseReader {
  readonly words: readonly Word[]
  readonly start: number
  at: number

  constructor(words: readonly Word[], start: number) {
    this.words = words
    this.start = start
    this.at = start
  }

  get length(): number {
    return this.at - this.start
  }

  peek(ahead = 0): Word | undefined {
    return this.words[this.at + ahead]
  }

  /** The plain text of a word that was not quoted; empty at the end. */
  plain(ahead = 0): string {
    const word = this.peek(ahead)
    return word && (word.kind === 'text' || word.kind === 'symbol') ? word.plain : ''
  }

  /** Takes the first of the phrases that stands here; the longest should come first. */
  take(...phrases: readonly string[]): string | undefined {
    for (const phrase of phrases) {
      const parts = phrase.split(' ')
      if (parts.every((part, i) => this.plain(i) === part)) {
        this.at += parts.length
        return phrase
      }
    }
    return undefined
  }

  /** Takes a word that the test maps to something. */
  takeIf<Value>(read: (plain: string) => Value | undefined): Value | undefined {
    const word = this.plain()
    const value = word === '' ? undefined : read(word)
    if (value !== undefined) this.at++
    return value
  }

  /** Goes back when nothing was read. */
  attempt<Value>(read: () => Value | undefined): Value | undefined {
    const before = this.at
    const value = read()
    if (value === undefined) this.at = before
    return value
  }

  /** The longest run of words, of at most `longest`, that the test knows. */
  takeRun<Value>(longest: number, read: (words: string) => Value | undefined): Value | undefined {
    for (let count = Math.min(longest, this.words.length - this.at); count > 0; count--) {
      const run = this.words.slice(this.at, this.at + count)
      if (run.some(({ kind }) => kind === 'tag')) continue
      const value = read(run.map(({ plain }) => plain).join(' '))
      if (value !== undefined) {
        this.at += count
        return value
      }
    }
    return undefined
  }

  means(...meanings: readonly Meaning[]): Recognized {
    return { length: this.length, meanings }
  }
}
