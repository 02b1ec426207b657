/**
 * Searches for text in values that are JSON: only rows whose bytes may have what a predicate looks for
 * are parsed, or put together from columns.
 *
 * The fragments that are looked for lie within one string, name or other token of the JSON. In JSON as it
 * was stored they are the same bytes as in JSON as it is printed, but for numbers, which are not looked
 * for, and for escapes that a printer would not use, whose rows are always among the candidates.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { newBytes, newCodes } from '../../kernel/arena.ts'
import { foldedForSearch } from '../../type/fold-accents.ts'
import { foldText } from '../../type/fold-text.ts'
import { parseLike } from '../../type/like.ts'
import { readSearchQuery, type SearchPhrase, type SearchTerm } from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import { isObject, type Value } from '../../type/value.ts'
import type { PathColumns, TextColumn, Texts } from '../../vector/column.ts'
import { isSet, storedRows, textsBetween } from '../../vector/read-column.ts'
import { type LazySource, type LazyVector, rowsOf, type Selection } from '../../vector/vector.ts'
import { selectedRanges } from './text-operators.ts'
import { escapeEnd, isOfNull, withinTokens } from './text-requirement.ts'
import { absent, Needle, searchTexts, undecided } from './text-search.ts'
import { searchedSign, TermNeedle } from './word-search.ts'

/** The selected rows for which the predicate may be true; for all others it is false. */
export type JsonSearch = (
  values: LazyVector,
  constant: Value,
  rowCount: number,
  selection: Selection,
) => Int32Array | undefined

/** Undefined when the node is none that looks for text. */
export function compileJsonSearch(node: BoundExpression): JsonSearch | undefined {
  const prepare = needlesOf(node)
  if (!prepare) return undefined
  let last: { readonly constant: Value; readonly needles: readonly JsonSought[] } | undefined
  return ({ source }, constant, rowCount, selection) => {
    if (!source || constant === null) return undefined
    if (last?.constant !== constant) last = { constant, needles: prepare(constant) }
    const needles = last.needles.filter(({ isInObjects }) => isInObjects || source.kind === 'json')
    if (needles.length === 0) return undefined
    let rows = rowsOf(selection, rowCount)
    for (const needle of needles) rows = candidates(source, needle, rowCount, rows)
    return rows
  }
}

/** Gives what must all occur in a value for the predicate to be true, or null. */
function needlesOf(node: BoundExpression): ((constant: Value) => JsonSought[]) | undefined {
  switch (node.kind) {
    case 'like': {
      const { caseInsensitive } = node
      return (pattern) => {
        if (typeof pattern !== 'string') return []
        const { stretches } = parseLike(pattern, caseInsensitive)
        const texts = stretches.flatMap(({ parts }) => parts.map(({ text }) => text))
        return texts.flatMap((text) => needlesOfText(text, caseInsensitive))
      }
    }
    case 'match':
      return (query) => readSearchQuery(textOf(query)).flatMap(needlesOfPhrase)
    case 'includes':
      return needlesOfIncluded
    default:
      return undefined
  }
}

function needlesOfIncluded(value: Value): JsonNeedle[] {
  if (typeof value === 'string') return needlesOfText(value, false)
  if (Array.isArray(value)) return (value as readonly Value[]).flatMap(needlesOfIncluded)
  return isObject(value) ? Object.values(value).flatMap(needlesOfMember) : []
}

/** A member's value is in the text as a whole: a string with its quotes. */
function needlesOfMember(value: Value): JsonNeedle[] {
  if (typeof value === 'string') return [new JsonNeedle(JSON.stringify(value), false, false)]
  return Array.isArray(value) || isObject(value)
    ? Object.values(value as Record<string, Value>).flatMap(needlesOfMember)
    : []
}

/** Numbers are not always printed as they were written, and those beyond all doubles as null. */
export function mayBeOfNumber(text: string): boolean {
  return /^[-+.0-9e]*$/i.test(text) || isOfNull(text)
}

function needlesOfText(text: string, caseInsensitive: boolean): JsonNeedle[] {
  return withinTokens(text)
    .filter((fragment) => !mayBeOfNumber(fragment))
    .map((fragment) => new JsonNeedle(fragment, caseInsensitive, true))
}

/** What stands for a character that could stand there itself, or for one that UTF-8 cannot hold. */
const escapedCharacter = new Needle('\\u', false)
const unusualEscapes = [escapedCharacter, new Needle('\\/', false)]

/** What is looked for in a column, and remembered of its dictionary. */
abstract class JsonSought {
  /** Whether it can be looked for in columns of the members of objects. */
  abstract readonly isInObjects: boolean
  readonly #found = new WeakMap<Texts, Uint8Array>()

  /** Marks the texts `from … to` that may have it in `out`, which begins at `from`. */
  abstract find(
    texts: Texts,
    content: 'text' | 'json',
    from: number,
    to: number,
    out: Uint8Array,
  ): void

  /** Whether a name or another text that no column has may have it. */
  abstract mayBeIn(printed: string): boolean

  abstract mayBeTime(): boolean

  /** One byte per entry of a dictionary: 1 where it may be. */
  inEntries(dictionary: Texts, content: 'text' | 'json'): Uint8Array {
    let found = this.#found.get(dictionary)
    if (!found) {
      found = new Uint8Array(dictionary.offsets.length - 1)
      this.find(dictionary, content, 0, found.length, found)
      this.#found.set(dictionary, found)
    }
    return found
  }

  /** Whether the name of a member, or what has no text of its own, may have it. */
  mayBeBeside(name: string, { boolean, nulls, timestamp }: PathColumns): boolean {
    const printed = [
      JSON.stringify(name),
      ...(nulls ? ['null'] : []),
      ...(boolean ? ['true', 'false'] : []),
    ]
    return (
      (timestamp !== undefined && this.mayBeTime()) || printed.some((text) => this.mayBeIn(text))
    )
  }
}

/** A text within one token of JSON. */
class JsonNeedle extends JsonSought {
  readonly #raw: Needle
  /** What of it is in a string's own text: it may begin with the end of an escape. */
  readonly #unescaped: Needle
  readonly #folded: string
  readonly isInObjects: boolean

  constructor(fragment: string, caseInsensitive: boolean, isInObjects: boolean) {
    super()
    this.#raw = new Needle(fragment, caseInsensitive)
    this.#folded = foldText(fragment)
    this.#unescaped = new Needle(fragment.slice(escapeEnd(this.#folded)), caseInsensitive)
    this.isInObjects = isInObjects
  }

  find(texts: Texts, content: 'text' | 'json', from: number, to: number, out: Uint8Array): void {
    const needles = content === 'text' ? [this.#unescaped] : [this.#raw, ...unusualEscapes]
    const marks = new Uint8Array(to - from)
    for (const needle of needles) {
      searchTexts(texts, from, to, needle, () => undecided, marks)
      addMarks(marks, out)
    }
  }

  mayBeIn(printed: string): boolean {
    return foldText(printed).includes(this.#folded)
  }

  mayBeTime(): boolean {
    return /^[-+.:0-9tz]*$/.test(this.#folded)
  }
}

/** A word, in whatever case and with whatever accents, or a sign of those that are looked for. */
export class JsonTerm extends JsonSought {
  readonly #text: string
  readonly #needle: TermNeedle
  readonly isInObjects = true

  constructor({ text, fits }: Pick<SearchTerm, 'text' | 'fits'>) {
    super()
    this.#text = fits === 'sign' ? searchedSign(text) : text
    // What stands before a word in JSON may be the end of an escape.
    this.#needle = new TermNeedle({ text, fits: fits === 'sign' ? fits : 'part' })
  }

  find(texts: Texts, content: 'text' | 'json', from: number, to: number, out: Uint8Array): void {
    const marks = new Uint8Array(to - from)
    this.#needle.search(texts, from, to, marks)
    addMarks(marks, out)
    if (content === 'text') return
    searchTexts(texts, from, to, escapedCharacter, () => undecided, marks)
    addMarks(marks, out)
  }

  mayBeIn(printed: string): boolean {
    return foldedForSearch(printed).includes(this.#text)
  }

  mayBeTime(): boolean {
    return /^[-+.:0-9tz]*$/.test(this.#text)
  }
}

function needlesOfPhrase(phrase: SearchPhrase): JsonTerm[] {
  return phrase.filter(({ text }) => !mayBeOfNumber(text)).map((term) => new JsonTerm(term))
}

/** Of some rows, those whose value may have the phrase in one of its texts. */
export type PhraseSearch = (source: LazySource, rowCount: number, rows: Int32Array) => Int32Array

export function compilePhraseSearch(phrase: SearchPhrase): PhraseSearch {
  const needles = needlesOfPhrase(phrase)
  return (source, rowCount, rows) =>
    needles.reduce((left, needle) => candidates(source, needle, rowCount, left), rows)
}

function addMarks(marks: Uint8Array, out: Uint8Array): void {
  for (let i = 0; i < marks.length; i++) out[i]! |= +(marks[i] !== absent)
}

function candidates(
  source: LazySource,
  needle: JsonSought,
  rowCount: number,
  rows: Int32Array,
): Int32Array {
  const found = newBytes(rowCount).fill(0)
  if (source.kind === 'json') {
    const { texts, first } = source
    for (const { from, to } of selectedRanges(rows, rowCount)) {
      needle.find(texts, 'json', first + from, first + to, found.subarray(from, to))
    }
  } else {
    const { set, path, first } = source
    const { residual } = set
    if (residual && set.residualMayHold(path)) {
      findInColumn(residual, 'json', needle, first, rowCount, rows, found)
    }
    for (const bits of storedRows(set, path)) markSet(bits, first, rows, found)
    for (const below of set.pathsBelow(path)) {
      const columns = set.columns(below)
      if (!columns) continue
      if (columns.stored) markSet(columns.stored, first, rows, found)
      if (below.slice(path.length).some((name) => needle.mayBeBeside(name, columns))) return rows
      if (columns.text) findInColumn(columns.text, 'text', needle, first, rowCount, rows, found)
      if (columns.json) findInColumn(columns.json, 'json', needle, first, rowCount, rows, found)
    }
  }
  const kept = newCodes(rows.length)
  let count = 0
  for (let i = 0; i < rows.length; i++) {
    kept[count] = rows[i]!
    count += found[rows[i]!]!
  }
  return kept.subarray(0, count)
}

function markSet(bits: Uint8Array, first: number, rows: Int32Array, found: Uint8Array): void {
  for (let i = 0; i < rows.length; i++) found[rows[i]!]! |= +isSet(bits, first + rows[i]!)
}

function findInColumn(
  column: TextColumn,
  content: 'text' | 'json',
  needle: JsonSought,
  first: number,
  rowCount: number,
  rows: Int32Array,
  found: Uint8Array,
): void {
  if (column.encoding !== 'dictionary') {
    const { texts, first: start } = textsBetween(column, first, rowCount, rows)
    for (const { from, to } of selectedRanges(rows, rowCount)) {
      needle.find(texts, content, start + from, start + to, found.subarray(from, to))
    }
    return
  }
  const { dictionary } = column
  const entries = needle.inEntries(dictionary, content)
  if (!entries.includes(1)) return
  const codes = column.codes.between(first, rowCount)
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const code = codes[row]!
    if (code >= 0) found[row]! |= entries[code]!
  }
}
