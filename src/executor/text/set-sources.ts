/** What a column set has of the text of its fields, and finds what is looked for in. */
import { makeToKeep, newRows } from '../../kernel/row-sets.ts'
import { findPhrase } from '../../type/find-phrase.ts'
import { foldedForSearch } from '../../type/fold-accents.ts'
import { foldText } from '../../type/fold-text.ts'
import type { ColumnSet, PathColumns, TextColumn } from '../../vector/column.ts'
import { storedRows } from '../../vector/read-column.ts'
import { addBitmap } from '../../vector/row-bits.ts'
import type { RowSet } from '../../vector/row-set.ts'
import { type FoundRows, foundInAny, mayBe, noRow, rowsOfBitmap } from './found-rows.ts'
import { FilteredTexts, TermSources } from './term-sources.ts'
import { rowsOfColumn } from './text-column-rows.ts'
import type { JsonFragment } from './text-requirement.ts'

/** What a set has of the text of a field. */
export interface FieldSources {
  /** Whether an index tells of some of it. */
  readonly isIndexed: boolean
  readonly inStore: FoundRows
  readonly json: readonly JsonSource[]
  readonly terms: TermSources
}

/** Made once for a set, as long as a thread keeps it open. */
export class SetSources {
  static readonly #ofSets = new WeakMap<ColumnSet, SetSources>()
  readonly set: ColumnSet
  readonly #fields = new Map<string, FieldSources>()
  readonly #filtered = new FilteredTexts()

  private constructor(set: ColumnSet) {
    this.set = set
  }

  static of(set: ColumnSet): SetSources {
    let sources = SetSources.#ofSets.get(set)
    if (!sources) {
      sources = new SetSources(set)
      SetSources.#ofSets.set(set, sources)
    }
    return sources
  }

  at(path: readonly string[]): FieldSources {
    const key = path.length === 1 ? path[0]! : JSON.stringify(path)
    let field = this.#fields.get(key)
    if (!field) {
      field = makeToKeep(() => this.#open(path))
      this.#fields.set(key, field)
    }
    return field
  }

  #open(path: readonly string[]): FieldSources {
    const { set } = this
    const inStore = rowsInStore(set, path)
    return {
      isIndexed: hasIndex(set, path),
      inStore,
      json: jsonSources(set, path),
      terms: termSources(set, path, new TermSources(inStore, this.#filtered)),
    }
  }
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

/** Finds where a fragment may be in one of the columns that the JSON of a value is made of. */
type JsonSource = (fragment: JsonFragment, isTold: boolean) => FoundRows

function jsonSources(set: ColumnSet, path: readonly string[]): JsonSource[] {
  const { rowCount } = set
  const own = set.columns(path) ?? {}
  const sources: JsonSource[] = [...scalarSources(own, set)]
  const { json } = own
  if (json)
    sources.push((fragment, isTold) => rowsOfColumn(json, 'json', fragment, isTold, rowCount))
  for (const below of set.pathsBelow(path)) {
    const columns = set.columns(below) ?? {}
    const { text, json: list, nulls } = columns
    const names = below.slice(path.length).map((name) => foldText(JSON.stringify(name)))
    sources.push(...scalarSources(columns, set), (fragment, isTold) => {
      if (!names.some((name) => name.includes(fragment.folded))) return noRow
      const rows = rowsThatName(columns, rowCount)
      return { may: rows, sure: isTold ? rows : 'none' }
    })
    if (nulls) {
      sources.push(({ folded }) =>
        'null'.includes(folded) ? mayBe(rowsOfBitmap(nulls, rowCount)) : noRow,
      )
    }
    if (text)
      sources.push((fragment, isTold) => rowsOfColumn(text, 'member', fragment, isTold, rowCount))
    if (list)
      sources.push((fragment, isTold) => rowsOfColumn(list, 'json', fragment, isTold, rowCount))
  }
  const residual = set.residualMayHold(path) ? set.residual : undefined
  // It has other fields as well.
  if (residual)
    sources.push((fragment) => rowsOfColumn(residual, 'json', fragment, false, rowCount))
  return sources
}

function termSources(set: ColumnSet, path: readonly string[], sources: TermSources): TermSources {
  const { rowCount } = set
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
function rowsThatName(columns: PathColumns, rowCount: number): RowSet {
  const rows = newRows(rowCount)
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
): ((fragment: { readonly folded: string }) => FoundRows)[] {
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
