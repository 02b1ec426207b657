/**
 * Finds the rows of a column set that may pass predicates on text, by the indexes of its columns.
 *
 * The one law: leave out only rows that cannot pass. Whatever is not in indexed columns may: rows left
 * to the row store, columns without an index, numbers that could be printed as what is looked for.
 *
 * | the value at the path is | its text may have a part when                                        |
 * | ------------------------ | -------------------------------------------------------------------- |
 * | a text                   | the text's block has it                                              |
 * | JSON in a column         | the block has what of it lies within one string or number            |
 * | an object                | a column below, the residual or the name of a member has that         |
 */
import type { BoundExpression } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { newCodes } from '../kernel/memory.ts'
import { foldText } from '../type/fold-text.ts'
import { textOf } from '../type/text.ts'
import type { ColumnSet, PathColumns, TextColumn, Texts } from '../vector/column.ts'
import { unitsWithGrams, unitTexts } from '../vector/gram-index.ts'
import { isSet, storedRows } from '../vector/read-column.ts'
import { decodeText, type Selection } from '../vector/vector.ts'
import {
  type JsonPiece,
  type Piece,
  type TextRequirement,
  textRequirement,
} from './text-requirement.ts'

/** One byte per `unitTexts` rows: 0 where none can pass. */
type Units = Uint8Array

/** Rows of a column set that may pass. */
export class TextCandidates {
  readonly #units: Units

  constructor(units: Units) {
    this.#units = units
  }

  /** Those of the rows `from … to` of the set, as rows of a batch that begins at `from`. */
  between(from: number, to: number): Selection {
    const first = Math.floor(from / unitTexts)
    const last = Math.floor((to - 1) / unitTexts)
    const next = this.#units.indexOf(1, first)
    if (next < 0 || next > last) return none
    const rows = newCodes(to - from)
    let count = 0
    for (let row = from; row < to; ) {
      const unit = Math.floor(row / unitTexts)
      const end = Math.min(to, (unit + 1) * unitTexts)
      if (this.#units[unit] === 0) row = end
      else for (; row < end; row++) rows[count++] = row - from
    }
    return count === rows.length ? undefined : rows.subarray(0, count)
  }
}

const none = new Int32Array(0)

/** Undefined when no index tells anything of the rows. */
export type FindCandidates = (set: ColumnSet) => TextCandidates | undefined

/** Undefined when the predicates ask nothing of texts. */
export function compileCandidates(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): FindCandidates | undefined {
  const of = predicates.flatMap((predicate) => textRequirement(predicate, context) ?? [])
  if (of.length === 0) return undefined
  const paths = of.flatMap(pathsOf)
  return (set) => {
    if (!paths.some((path) => hasIndex(set, path))) return undefined
    const units = unitsOf({ kind: 'all', of }, set)
    return units && new TextCandidates(units)
  }
}

function pathsOf(requirement: TextRequirement): readonly (readonly string[])[] {
  return requirement.kind === 'parts' ? [requirement.path] : requirement.of.flatMap(pathsOf)
}

/** Dictionaries are searched once anyway, for all rows. */
function isIndexed(column: TextColumn | undefined): boolean {
  return column !== undefined && column.encoding !== 'dictionary' && column.grams !== undefined
}

function hasIndex(set: ColumnSet, path: readonly string[]): boolean {
  const columns = [path, ...set.pathsBelow(path)].map((place) => set.columns(place))
  if (columns.some((at) => isIndexed(at?.text) || isIndexed(at?.json))) return true
  return set.residualMayHold(path) && isIndexed(set.residual)
}

/** Undefined: any row may pass. */
function unitsOf(requirement: TextRequirement, set: ColumnSet): Units | undefined {
  switch (requirement.kind) {
    case 'all':
      return intersection(requirement.of.map((inner) => unitsOf(inner, set)))
    case 'any':
      return union(
        set,
        requirement.of.map((inner) => unitsOf(inner, set)),
      )
    case 'parts':
      return unitsWithParts(requirement, set)
  }
}

function unitsWithParts(
  { path, parts, onlyText }: Extract<TextRequirement, { kind: 'parts' }>,
  set: ColumnSet,
): Units | undefined {
  const { text, number, timestamp, boolean } = set.columns(path) ?? {}
  if (onlyText && (number || timestamp || boolean)) return undefined
  const pieces = parts.flatMap(({ inText }) => inText)
  const inText =
    text && intersection(pieces.map((piece) => unitsOfColumn(text, 'text', piece, set)))
  const sources = jsonSources(set, path)
  const jsonPieces = parts.flatMap(({ inJson }) => inJson)
  const inJson = intersection(
    jsonPieces.map((piece) =>
      union(
        set,
        sources.map((source) => source(piece)),
      ),
    ),
  )
  return union(set, [
    ...(text ? [inText] : []),
    ...(sources.length > 0 ? [inJson] : []),
    storedUnits(set, path),
  ])
}

/** Finds where a piece may be in one of the columns that the JSON of a value is made of. */
type JsonSource = (piece: JsonPiece) => Units | undefined

function jsonSources(set: ColumnSet, path: readonly string[]): JsonSource[] {
  const own = set.columns(path) ?? {}
  const sources = scalarSources(own, set)
  const { json } = own
  if (json) sources.push((piece) => unitsOfColumn(json, 'json', piece, set))
  for (const below of set.pathsBelow(path)) {
    const columns = set.columns(below) ?? {}
    const names = below.slice(path.length).map((name) => foldText(JSON.stringify(name)))
    sources.push(...scalarSources(columns, set), ({ folded }) =>
      names.some((name) => name.includes(folded)) || 'null'.includes(folded)
        ? undefined
        : noUnits(set),
    )
    const { text, json: list } = columns
    if (text) sources.push(({ unescaped }) => unitsOfColumn(text, 'text', unescaped, set))
    if (list) sources.push((piece) => unitsOfColumn(list, 'json', piece, set))
  }
  const residual = set.residualMayHold(path) ? set.residual : undefined
  if (residual) sources.push((piece) => unitsOfColumn(residual, 'json', piece, set))
  return sources
}

/** Numbers, times and truths are printed: what looks like one may be anywhere. */
function scalarSources({ number, timestamp, boolean }: PathColumns, set: ColumnSet): JsonSource[] {
  if (!number && !timestamp && !boolean) return []
  return [
    ({ folded }) => {
      const isPossible =
        (number && /^[-+.0-9e]*$/.test(folded)) ||
        (timestamp && /^[-+.:0-9tz]*$/.test(folded)) ||
        (boolean && ('true'.includes(folded) || 'false'.includes(folded)))
      return isPossible ? undefined : noUnits(set)
    },
  ]
}

function unitsOfColumn(
  column: TextColumn,
  content: 'text' | 'json',
  piece: Piece,
  set: ColumnSet,
): Units | undefined {
  if (column.encoding === 'dictionary') return unitsOfDictionary(column, content, piece, set)
  const { grams } = column
  if (grams) return piece.grams.length > 0 ? unitsWithGrams(grams, piece.grams) : undefined
  if (column.encoding === 'compressed') return undefined
  // Without an index it is short.
  return foldedTexts(column.texts, content).includes(piece.folded) ? undefined : noUnits(set)
}

function unitsOfDictionary(
  { codes, dictionary, grams }: Extract<TextColumn, { encoding: 'dictionary' }>,
  content: 'text' | 'json',
  piece: Piece,
  set: ColumnSet,
): Units | undefined {
  const blocks = grams && piece.grams.length > 0 ? unitsWithGrams(grams, piece.grams) : undefined
  if (blocks ? !blocks.includes(1) : !foldedTexts(dictionary, content).includes(piece.folded)) {
    return noUnits(set)
  }
  const found = Uint8Array.from({ length: dictionary.offsets.length - 1 }, (_, code) => {
    if (blocks && blocks[Math.floor(code / unitTexts)] === 0) return 0
    return +foldText(printed(dictionary, content, code)).includes(piece.folded)
  })
  const units = noUnits(set)
  if (!found.includes(1)) return units
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!
    if (code >= 0 && found[code] === 1) units[Math.floor(row / unitTexts)] = 1
  }
  return units
}

/** Texts up to this long are kept folded, as long as their segment is open. */
const keptBytes = 2 ** 19

const keptTexts = new WeakMap<Texts, string>()

/** All the texts as one, folded: what is in none of them is not in it. */
function foldedTexts(texts: Texts, content: 'text' | 'json'): string {
  let folded = keptTexts.get(texts)
  if (folded !== undefined) return folded
  const { bytes, offsets } = texts
  const all =
    content === 'text'
      ? decodeUtf8(bytes, offsets[0]!, offsets.at(-1)!)
      : Array.from({ length: offsets.length - 1 }, (_, at) => printed(texts, content, at)).join()
  folded = foldText(all)
  if (bytes.length <= keptBytes) keptTexts.set(texts, folded)
  return folded
}

/** The text that predicates search; JSON may be written in another way than it is printed. */
function printed(texts: Texts, content: 'text' | 'json', at: number): string {
  const isAbsent = texts.offsets[at] === texts.offsets[at + 1]
  return isAbsent ? '' : textOf(decodeText(texts, content, at))
}

/** Rows of which only the row store has something at the path, below it or around it. */
function storedUnits(set: ColumnSet, path: readonly string[]): Units {
  const units = noUnits(set)
  const below = set.pathsBelow(path).flatMap((place) => set.columns(place)?.stored ?? [])
  for (const bits of [...storedRows(set, path), ...below]) {
    for (let row = 0; row < set.rowCount; row++) {
      if (isSet(bits, row)) units[Math.floor(row / unitTexts)] = 1
    }
  }
  return units
}

function noUnits(set: ColumnSet): Units {
  return new Uint8Array(Math.ceil(set.rowCount / unitTexts))
}

function intersection(lists: readonly (Units | undefined)[]): Units | undefined {
  let all: Units | undefined
  for (const units of lists) {
    if (!all) all = units
    else if (units) for (let i = 0; i < all.length; i++) all[i]! &= units[i]!
  }
  return all
}

function union(set: ColumnSet, lists: readonly (Units | undefined)[]): Units | undefined {
  const any = noUnits(set)
  for (const units of lists) {
    if (!units) return undefined
    for (let i = 0; i < any.length; i++) any[i]! |= units[i]!
  }
  return any
}
