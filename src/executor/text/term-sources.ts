/**
 * Where a term of full-text search may be in a field. Most of a field's columns are dictionaries of some
 * kilobytes, numbers and names: what is in none of them is told by a filter of all their parts, which a
 * thread keeps, so that these are not asked one by one.
 */
import type { TextColumn } from '../../vector/column.ts'
import { ValueCache } from '../thread/value-cache.ts'
import { type FoundRows, foundInAny } from './found-rows.ts'
import { NgramFilter } from './ngram-filter.ts'
import { cachedText, rowsOfTerm } from './term-rows.ts'
import type { SoughtTerm } from './text-requirement.ts'

/** Finds where a term may be in one of the columns of a value. */
export type TermSource = (term: SoughtTerm, isTold: boolean) => FoundRows

/** What numbers and times may be printed with; truths are texts of the filter. */
const printedCharacters = /^[-+.:0-9etz]*$/

const filters = new ValueCache<NgramFilter>()

/** Texts of all fields of a set that were asked for, and a filter of them all. */
export class FilteredTexts {
  readonly #texts: (() => string)[] = [() => 'true false']

  add(read: () => string): void {
    this.#texts.push(read)
    filters.delete(this)
  }

  /** Whether one of the texts may have the term. */
  mayHave({ text, grams }: SoughtTerm): boolean {
    if (grams.length === 0 || printedCharacters.test(text)) return true
    let filter = filters.get(this)
    if (!filter) {
      filter = NgramFilter.of(this.#texts.map((read) => read()).join('\n'))
      filters.set(this, filter, filter.byteLength)
    }
    return filter.mayHaveAll(grams)
  }
}

export class TermSources {
  readonly #inStore: FoundRows
  /** Those that are always asked. */
  readonly #others: TermSource[] = []
  /** Those of which the filter tells. */
  readonly #filtered: TermSource[] = []
  /** Texts of these, and of others. */
  readonly #texts: FilteredTexts

  constructor(inStore: FoundRows, texts: FilteredTexts) {
    this.#inStore = inStore
    this.#texts = texts
  }

  /** @param source gives rows for a term only if it is in one of the folded texts */
  addTexts(texts: readonly string[], source: TermSource): void {
    this.#filtered.push(source)
    this.#texts.add(() => texts.join('\n'))
  }

  /** @param source gives rows for a term only if a number, time or truth may be printed with it */
  addPrinted(source: TermSource): void {
    this.#filtered.push(source)
  }

  /** @param isAll whether the column has nothing of other fields */
  addColumn(column: TextColumn, content: 'text' | 'json', rowCount: number, isAll = true): void {
    const source: TermSource = (term, isTold) => {
      return rowsOfTerm(column, content, term, isTold && isAll, rowCount)
    }
    const text = cachedText(column, content)
    if (!text) {
      this.#others.push(source)
      return
    }
    this.#filtered.push(source)
    this.#texts.add(text)
  }

  /** Rows that may have the term. */
  rowsWith(term: SoughtTerm, isTold: boolean): FoundRows {
    const found = [this.#inStore]
    for (const source of this.#others) found.push(source(term, isTold))
    if (this.#texts.mayHave(term)) {
      for (const source of this.#filtered) found.push(source(term, isTold))
    }
    return foundInAny(found)
  }
}
