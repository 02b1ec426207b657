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
import { countRows } from '../../kernel/bit-rows.ts'
import { expandBits } from '../../kernel/bitmap.ts'
import { newBytes, newCodes } from '../../kernel/memory.ts'
import { selectTrue } from '../../kernel/select.ts'
import { findPhrase, foldedForSearch } from '../../type/find-phrase.ts'
import { foldText } from '../../type/fold-text.ts'
import type { ColumnSet, PathColumns, TextColumn } from '../../vector/column.ts'
import { storedRows } from '../../vector/read-column.ts'
import {
  addBitmap,
  bitmapOf,
  isWithin,
  listRows,
  noRows,
  type RowBits,
} from '../../vector/row-bits.ts'
import type { Selection } from '../../vector/vector.ts'
import {
  anyRow,
  type FoundRows,
  foundInAll,
  foundInAny,
  intersection,
  mayBe,
  noRow,
  rowsOfBitmap,
  without,
} from './found-rows.ts'
import { TermSources } from './term-sources.ts'
import { rowsOfColumn } from './text-column-rows.ts'
import {
  type JsonPiece,
  type Part,
  type SoughtTerm,
  type TextRequirement,
  textRequirement,
} from './text-requirement.ts'

/** Rows of a column set that may pass, and for each predicate those that pass it for certain. */
export class TextCandidates {
  readonly #may: RowBits | 'none'
  /** By predicate; `all` of the rows that may pass them all. */
  readonly sure: readonly (RowBits | 'all' | 'none')[]
  readonly #found: readonly FoundRows['sure'][]

  constructor(may: RowBits | 'none', sure: readonly FoundRows['sure'][]) {
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
    const passing = known.includes('none') ? 'none' : intersection([may, ...(known as RowBits[])])
    const others = passing === 'none' ? may : without(may, passing as RowBits)
    return {
      sure: new TextCandidates(passing as RowBits | 'none', []),
      others: new TextCandidates(others, this.#found),
    }
  }

  /** How many of the rows `from … to` of the set may pass. */
  countBetween(from: number, to: number): number {
    return this.#may === 'none' ? 0 : countRows(this.#may, from, to)
  }

  /** Those of the rows `from … to` of the set, as rows of a batch that begins at `from`. */
  between(from: number, to: number): Selection {
    const may = this.#may
    if (may === 'none') return none
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

/** Of the rows of a batch: fewer are sooner listed bit by bit than by loops that look at all. */
const listedShare = 1 / 16

/** Undefined when no index tells anything of the rows. */
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
    if (!paths.some((path) => sourcesOf(set, path).isIndexed)) return undefined
    const found = requirements.map((each) => (each ? rowsThatFit(each, set) : anyRow))
    const { may } = foundInAll(found)
    if (may === 'all') return undefined
    return new TextCandidates(
      may,
      found.map(({ sure }) => sure),
    )
  }
}

function pathsOf(requirement: TextRequirement): readonly (readonly string[])[] {
  return 'path' in requirement ? [requirement.path] : requirement.of.flatMap(pathsOf)
}

/** Dictionaries are searched once anyway, for all rows. */
function isIndexed(column: TextColumn | undefined): boolean {
  if (!column || column.encoding === 'dictionary') return false
  return column.grams !== undefined || column.terms !== undefined
}

function hasIndex(set: ColumnSet, path: readonly string[]): boolean {
  const columns = [path, ...set.pathsBelow(path)].map((place) => set.columns(place))
  if (columns.some((at) => isIndexed(at?.text) || isIndexed(at?.json))) return true
  return set.residualMayHold(path) && isIndexed(set.residual)
}

function rowsThatFit(requirement: TextRequirement, set: ColumnSet): FoundRows {
  switch (requirement.kind) {
    case 'all': {
      const found = foundInAll(requirement.of.map((inner) => rowsThatFit(inner, set)))
      return requirement.isAll ? found : { ...found, sure: 'none' }
    }
    case 'any':
      return foundInAny(requirement.of.map((inner) => rowsThatFit(inner, set)))
    case 'terms':
      return rowsWithTerms(set, requirement.path, requirement.terms, requirement.isTold)
    case 'parts': {
      const { path, parts, onlyText, isTold } = requirement
      return foundInAll(parts.map((part) => rowsWithPart(set, path, part, onlyText, isTold)))
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
  if (!sourcesOf(set, path).isIndexed) return undefined
  return foundInAny(phrases.map((terms) => rowsWithTerms(set, path, terms, false))).may
}

/** Rows that have all of the terms. */
function rowsWithTerms(
  set: ColumnSet,
  path: readonly string[],
  terms: readonly SoughtTerm[],
  isTold: boolean,
): FoundRows {
  const { terms: sources } = sourcesOf(set, path)
  return foundInAll(terms.map((term) => sources.rowsWith(term, isTold)))
}

function rowsWithPart(
  set: ColumnSet,
  path: readonly string[],
  { inText, inJson }: Part,
  onlyText: boolean,
  isTold: boolean,
): FoundRows {
  const { rowCount } = set
  const { text, number, timestamp, boolean } = set.columns(path) ?? {}
  const { inStore, json: sources } = sourcesOf(set, path)
  const found: FoundRows[] = [inStore]
  if (text) {
    found.push(
      foundInAll(inText.map((piece) => rowsOfColumn(text, 'text', piece, isTold, rowCount))),
    )
  }
  if (onlyText) {
    // What is no text is compared in other ways.
    for (const column of [number, timestamp, boolean]) {
      if (column) found.push(mayBe(rowsOfBitmap(column.validity, rowCount)))
    }
  }
  if (sources.length > 0) {
    found.push(
      foundInAll(inJson.map((piece) => foundInAny(sources.map((source) => source(piece, isTold))))),
    )
  }
  return foundInAny(found)
}

/** Finds where a piece may be in one of the columns that the JSON of a value is made of. */
type JsonSource = (piece: JsonPiece, isTold: boolean) => FoundRows

function jsonSources(set: ColumnSet, path: readonly string[]): JsonSource[] {
  const { rowCount } = set
  const own = set.columns(path) ?? {}
  const sources: JsonSource[] = [...scalarSources(own, set)]
  const { json } = own
  if (json) sources.push((piece, isTold) => rowsOfColumn(json, 'json', piece, isTold, rowCount))
  for (const below of set.pathsBelow(path)) {
    const columns = set.columns(below) ?? {}
    const { text, json: list, nulls } = columns
    const names = below.slice(path.length).map((name) => foldText(JSON.stringify(name)))
    sources.push(...scalarSources(columns, set), (piece, isTold) => {
      if (!names.some((name) => name.includes(piece.folded))) return noRow
      const rows = rowsThatName(columns, rowCount)
      return { may: rows, sure: isTold ? rows : 'none' }
    })
    if (nulls) {
      sources.push(({ folded }) =>
        'null'.includes(folded) ? mayBe(rowsOfBitmap(nulls, rowCount)) : noRow,
      )
    }
    if (text) sources.push((piece, isTold) => rowsOfColumn(text, 'member', piece, isTold, rowCount))
    if (list) sources.push((piece, isTold) => rowsOfColumn(list, 'json', piece, isTold, rowCount))
  }
  const residual = set.residualMayHold(path) ? set.residual : undefined
  // It has other fields as well.
  if (residual) sources.push((piece) => rowsOfColumn(residual, 'json', piece, false, rowCount))
  return sources
}

/** What a set has of the text of a field. */
interface FieldSources {
  /** Whether an index tells of some of it. */
  readonly isIndexed: boolean
  readonly inStore: FoundRows
  readonly json: readonly JsonSource[]
  readonly terms: TermSources
}

/** By set, which a thread keeps open, and path. */
const keptSources = new WeakMap<ColumnSet, Map<string, FieldSources>>()

function sourcesOf(set: ColumnSet, path: readonly string[]): FieldSources {
  let ofSet = keptSources.get(set)
  if (!ofSet) {
    ofSet = new Map()
    keptSources.set(set, ofSet)
  }
  const key = path.length === 1 ? path[0]! : JSON.stringify(path)
  let sources = ofSet.get(key)
  if (!sources) {
    const inStore = rowsInStore(set, path)
    sources = {
      isIndexed: hasIndex(set, path),
      inStore,
      json: jsonSources(set, path),
      terms: termSources(set, path, inStore),
    }
    ofSet.set(key, sources)
  }
  return sources
}

function termSources(set: ColumnSet, path: readonly string[], inStore: FoundRows): TermSources {
  const { rowCount } = set
  const sources = new TermSources(inStore)
  const addColumns = (columns: PathColumns): void => {
    for (const source of scalarSources(columns, set)) {
      sources.addPrinted(({ text: folded }) => source({ folded }))
    }
    for (const content of ['text', 'json'] as const) {
      const column = columns[content]
      if (column) sources.addColumn(column, content, rowCount)
    }
  }
  addColumns(set.columns(path) ?? {})
  for (const below of set.pathsBelow(path)) {
    const columns = set.columns(below) ?? {}
    const { nulls } = columns
    addColumns(columns)
    const names = below.slice(path.length).map(foldedForSearch)
    sources.addTexts(names, (term, isTold) => {
      if (!names.some((name) => findPhrase(name, [term], 0))) return noRow
      const rows = rowsThatName(columns, rowCount)
      return { may: rows, sure: isTold ? rows : 'none' }
    })
    if (nulls) {
      sources.addTexts(['null'], ({ text }) =>
        'null'.includes(text) ? mayBe(rowsOfBitmap(nulls, rowCount)) : noRow,
      )
    }
  }
  const residual = set.residualMayHold(path) ? set.residual : undefined
  // It has other fields as well.
  if (residual) sources.addColumn(residual, 'json', rowCount, false)
  return sources
}

/** Rows that have something at a path, even a null, and so its name in the object around it. */
function rowsThatName(columns: PathColumns, rowCount: number): RowBits {
  const rows = noRows(rowCount)
  const { number, timestamp, boolean, text, json, objects, nulls } = columns
  for (const column of [number, timestamp, boolean, text, json]) {
    if (column) addBitmap(rows, column.validity, rowCount)
  }
  if (objects) addBitmap(rows, objects, rowCount)
  if (nulls) addBitmap(rows, nulls, rowCount)
  return rows
}

/** Numbers, times and truths are printed: what looks like one may be anywhere. */
function scalarSources(
  { number, timestamp, boolean }: PathColumns,
  set: ColumnSet,
): ((piece: { readonly folded: string }) => FoundRows)[] {
  const { rowCount } = set
  return [
    { column: number, looksLike: (text: string) => /^[-+.0-9e]*$/.test(text) },
    { column: timestamp, looksLike: (text: string) => /^[-+.:0-9tz]*$/.test(text) },
    {
      column: boolean,
      looksLike: (text: string) => 'true'.includes(text) || 'false'.includes(text),
    },
  ].flatMap(({ column, looksLike }) => {
    if (!column) return []
    return [
      ({ folded }: { readonly folded: string }) =>
        looksLike(folded) ? mayBe(rowsOfBitmap(column.validity, rowCount)) : noRow,
    ]
  })
}

/** Rows of which only the row store has something at the path, below it or around it. */
function rowsInStore(set: ColumnSet, path: readonly string[]): FoundRows {
  const below = set.pathsBelow(path).flatMap((place) => set.columns(place)?.stored ?? [])
  const bitmaps = [...storedRows(set, path), ...below]
  return foundInAny(bitmaps.map((bits) => mayBe(rowsOfBitmap(bits, set.rowCount))))
}
