/**
 * Finds the rows of a column set that may pass predicates on text, by the indexes of its columns; and of
 * those, rows that pass for certain.
 *
 * The one law: leave out only rows that cannot pass. Whatever is not in indexed columns may: rows left
 * to the row store, columns without an index, numbers that could be printed as what is looked for.
 *
 * | the value at the path is | its text may have a part, or a word, when                            |
 * | ------------------------ | -------------------------------------------------------------------- |
 * | a text                   | the row's words fit, or the text's block has it                      |
 * | JSON in a column         | the same holds for what of it lies within one string or number       |
 * | an object                | a column below, the residual or the name of a member has that        |
 */
import type { BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { newBytes, newCodes } from '../../kernel/arena.ts'
import { countRows } from '../../kernel/bit-rows.ts'
import { expandBits } from '../../kernel/bitmap.ts'
import { isWithin, makeBriefly, without } from '../../kernel/row-sets.ts'
import { selectTrue } from '../../kernel/select.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { bitmapOf, listRows } from '../../vector/row-bits.ts'
import { FewRows, type RowSet } from '../../vector/row-set.ts'
import type { Selection } from '../../vector/vector.ts'
import {
  anyRow,
  type FoundRows,
  foundInAll,
  foundInAny,
  foundInOthers,
  intersection,
  mayBe,
  rowsOfBitmap,
} from './found-rows.ts'
import { SetSources } from './set-sources.ts'
import { rowsOfColumn } from './text-column-rows.ts'
import {
  type RequiredText,
  type SoughtTerm,
  type TextRequirement,
  textRequirement,
} from './text-requirement.ts'

/** Rows of a column set that may pass, and for each predicate those that pass it for certain. */
export class TextCandidates {
  readonly #may: RowSet | 'none'
  /** By predicate; `all` of the rows that may pass them all. */
  readonly sure: readonly (RowSet | 'all' | 'none')[]
  readonly #found: readonly FoundRows['sure'][]

  constructor(may: RowSet | 'none', sure: readonly FoundRows['sure'][]) {
    this.#may = may
    this.#found = sure
    this.sure = sure.map((rows) => {
      if (rows === 'none' || may === 'none') return rows
      return rows === may || isWithin(may, rows) ? 'all' : rows
    })
  }

  /** Those of the rows that pass all predicates for certain, and those of the others that may. */
  divided(): { readonly sure: TextCandidates; readonly others: TextCandidates } {
    const may = this.#may
    const known = this.sure.filter((rows) => rows !== 'all')
    if (known.length === 0) return { sure: this, others: new TextCandidates('none', []) }
    const passing = known.includes('none') ? 'none' : intersection([may, ...(known as RowSet[])])
    const others = passing === 'none' || may === 'none' ? may : without(may, passing as RowSet)
    return {
      sure: new TextCandidates(passing as RowSet | 'none', []),
      others: new TextCandidates(others, this.#found),
    }
  }

  /** How many of the rows `from … to` of the set may pass. */
  countBetween(from: number, to: number): number {
    const may = this.#may
    if (may === 'none') return 0
    return may instanceof FewRows ? may.between(from, to).length : countRows(may, from, to)
  }

  /** Those of the rows `from … to` of the set, as rows of a batch that begins at `from`. */
  between(from: number, to: number): Selection {
    const may = this.#may
    if (may === 'none') return none
    if (may instanceof FewRows) return may.between(from, to).map((row) => row - from)
    const count = to - from
    const found = countRows(may, from, to)
    if (found === 0) return none
    if (found < count * listedShare) {
      const rows = newCodes(found)
      listRows(may, from, to, rows)
      return rows
    }
    const truths = newBytes(count)
    expandBits(bitmapOf(may), from, count, truths)
    const rows = newCodes(count)
    const selected = selectTrue(truths, count, rows)
    return selected === count ? undefined : rows.subarray(0, selected)
  }
}

const none = new Int32Array(0)

/** Of the rows of a batch: fewer are sooner listed bit by bit than by kernels that look at all. */
const listedShare = 1 / 16

/** Undefined when no index tells anything of the rows. What is found must not be used once it is called again. */
export type FindCandidates = (set: ColumnSet) => TextCandidates | undefined

/** Undefined when the predicates ask nothing of texts. */
export function compileCandidates(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): FindCandidates | undefined {
  const requirements = predicates.map((predicate) => textRequirement(predicate, context))
  const paths = requirements.flatMap((requirement) => (requirement ? pathsOf(requirement) : []))
  if (paths.length === 0) return undefined
  return (set) => {
    const sources = SetSources.of(set)
    if (!paths.some((path) => sources.at(path).isIndexed)) return undefined
    return makeBriefly(() => {
      const found = requirements.map((each) => (each ? rowsThatFit(each, sources) : anyRow))
      const { may } = foundInAll(found)
      if (may === 'all') return undefined
      return new TextCandidates(
        may,
        found.map(({ sure }) => sure),
      )
    })
  }
}

function pathsOf(requirement: TextRequirement): readonly (readonly string[])[] {
  return 'path' in requirement ? [requirement.path] : requirement.of.flatMap(pathsOf)
}

function rowsThatFit(requirement: TextRequirement, sources: SetSources): FoundRows {
  switch (requirement.kind) {
    case 'all': {
      const found = foundInAll(requirement.of.map((inner) => rowsThatFit(inner, sources)))
      return requirement.isAll ? found : { ...found, sure: 'none' }
    }
    case 'not': {
      const { set } = sources
      const { text } = set.columns(requirement.path) ?? {}
      const texts = text ? rowsOfBitmap(text.validity, set.rowCount) : 'none'
      return foundInOthers(rowsThatFit(requirement.of, sources), texts, set.rowCount)
    }
    case 'any':
      return foundInAny(requirement.of.map((inner) => rowsThatFit(inner, sources)))
    case 'terms':
      return rowsWithTerms(sources, requirement.path, requirement.terms, requirement.isTold)
    case 'parts': {
      const { path, parts, onlyText, isTold } = requirement
      return foundInAll(parts.map((part) => rowsWithPart(sources, path, part, onlyText, isTold)))
    }
  }
}

/** Phrases that full-text search looks for, each all of its terms. */
export type SoughtPhrases = readonly (readonly SoughtTerm[])[]

/** Rows of the set of which a field may have one of the phrases; undefined when no index tells. */
export function rowsWithPhrase(
  set: ColumnSet,
  path: readonly string[],
  phrases: SoughtPhrases,
): FoundRows['may'] | undefined {
  const sources = SetSources.of(set)
  if (!sources.at(path).isIndexed) return undefined
  return foundInAny(phrases.map((terms) => rowsWithTerms(sources, path, terms, false))).may
}

/** Rows that have all of the terms. */
function rowsWithTerms(
  sources: SetSources,
  path: readonly string[],
  terms: readonly SoughtTerm[],
  isTold: boolean,
): FoundRows {
  const field = sources.at(path)
  return foundInAll(terms.map((term) => field.terms.rowsWith(term, isTold)))
}

function rowsWithPart(
  sources: SetSources,
  path: readonly string[],
  { inText, inJson }: RequiredText,
  onlyText: boolean,
  isTold: boolean,
): FoundRows {
  const { set } = sources
  const { rowCount } = set
  const { text, number, timestamp, boolean } = set.columns(path) ?? {}
  const { inStore, json } = sources.at(path)
  const found: FoundRows[] = [inStore]
  if (text) {
    found.push(
      foundInAll(inText.map((fragment) => rowsOfColumn(text, 'text', fragment, isTold, rowCount))),
    )
  }
  if (onlyText) {
    // What is no text is compared in other ways.
    for (const column of [number, timestamp, boolean]) {
      if (column) found.push(mayBe(rowsOfBitmap(column.validity, rowCount)))
    }
  }
  if (json.length > 0) {
    found.push(
      foundInAll(
        inJson.map((fragment) => foundInAny(json.map((source) => source(fragment, isTold)))),
      ),
    )
  }
  return foundInAny(found)
}
