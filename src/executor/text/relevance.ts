/**
 * How well rows fit a full-text search (`function/relevance.ts`), field by field: indexes
 * tell which rows may have something of what is looked for; of the others' bytes, what is searched tells that,
 * and only such values are decoded. Those of a dictionary are scored once.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { relevanceIn } from '../../function/relevance.ts'
import { newBytes, newNumbers } from '../../kernel/arena.ts'
import { readSearchQuery, type SearchPhrase } from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { isInSet } from '../../vector/row-set.ts'
import {
  type DictionaryEntries,
  type LazySource,
  rowsOf,
  type Selection,
  type TextVector,
  valueReader,
} from '../../vector/vector.ts'
import {
  type FieldSource,
  type FieldVariant,
  VectorField,
  variantsOf,
} from '../expression/batch.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import type { FoundRows } from './found-rows.ts'
import { compilePhraseSearch, type PhraseSearch } from './json-search.ts'
import { rowsWithPhrase, type SoughtPhrases } from './text-candidates.ts'
import { selectedRanges } from './text-operators.ts'
import { soughtTerms } from './text-requirement.ts'
import { absent } from './text-search.ts'
import { TermNeedle } from './word-search.ts'

/** Undefined when the call is no `search_score` of words that are known. */
export function compileRelevance(
  node: Extract<BoundExpression, { kind: 'call' }>,
  operands: readonly Evaluator[],
  context: EvaluationContext,
): Evaluator | undefined {
  if (node.name !== 'search_score') return undefined
  const [asked, ...fields] = node.arguments
  const query = asked && constantValue(asked, context)
  if (query === undefined || query === null) return undefined
  const phrases = readSearchQuery(textOf(query))
  const scores = new Scores(phrases)
  const words = phrases.map(soughtTerms)
  // Indexes tell nothing of what has no words.
  const sought = words.every(({ length }) => length > 0) ? new PhraseRows(words) : undefined
  return (batch, selection) => {
    const out = newNumbers(batch.rowCount).fill(0)
    for (const [i, field] of fields.entries()) {
      const path = field.kind === 'field' ? field.path : undefined
      const known = path ? batch.field(path) : new VectorField(operands[i + 1]!(batch, selection))
      const { source } = known
      const rows = path && source && sought?.among(source, path, selection, batch.rowCount)
      // What an index has found is read by itself, so that no more than these rows is read.
      const parts = rows ? variantsOf(source.apart(), rows) : variantsOf(known, selection)
      for (const part of parts) scores.addTo(out, part, batch.rowCount, !rows)
    }
    return { kind: 'number', values: out }
  }
}

/** Where indexes say that one of the phrases may be. */
class PhraseRows {
  readonly #phrases: SoughtPhrases
  #set: ColumnSet | undefined
  readonly #ofPaths = new Map<Path, FoundRows['may'] | undefined>()

  constructor(phrases: SoughtPhrases) {
    this.#phrases = phrases
  }

  /** Those of the selected rows; undefined when no index tells. */
  among(
    { set, first }: FieldSource,
    path: Path,
    selection: Selection,
    rowCount: number,
  ): Int32Array | undefined {
    if (path.some((part) => typeof part === 'number')) return undefined
    if (this.#set !== set) this.#ofPaths.clear()
    this.#set = set
    if (!this.#ofPaths.has(path)) {
      this.#ofPaths.set(path, rowsWithPhrase(set, path as readonly string[], this.#phrases))
    }
    const found = this.#ofPaths.get(path)
    if (found === undefined || found === 'all') return undefined
    if (found === 'none') return new Int32Array(0)
    return rowsOf(selection, rowCount).filter((row) => isInSet(found, first + row))
  }
}

class Scores {
  readonly #phrases: readonly SearchPhrase[]
  readonly #inTexts: readonly TermNeedle[]
  readonly #inValues: readonly PhraseSearch[]
  /** By code, NaN before it is asked for. */
  readonly #ofEntries = new WeakMap<DictionaryEntries, Float64Array>()

  constructor(phrases: readonly SearchPhrase[]) {
    this.#phrases = phrases
    this.#inTexts = phrases.map(([first]) => new TermNeedle(first!))
    this.#inValues = phrases.map(compilePhraseSearch)
  }

  /**
   * Adds to `out`, row by row of the batch, what the values of a field add.
   *
   * @param areSearched whether bytes are searched first, for what no index has told
   */
  addTo(out: Float64Array, variant: FieldVariant, rowCount: number, areSearched: boolean): void {
    const { vector, isPacked } = variant
    const rows = rowsOf(variant.rows, rowCount)
    if (vector.kind === 'dictionary') {
      const known = this.#scoresOf(vector.entries)
      for (let i = 0; i < rows.length; i++) {
        const code = vector.codes[isPacked ? i : rows[i]!]!
        if (code < 0) continue
        if (Number.isNaN(known[code]!)) known[code] = this.#scoreOf(vector.entries.valueAt(code))
        out[rows[i]!]! += known[code]!
      }
      return
    }
    const read = valueReader(vector)
    if (isPacked) {
      for (let i = 0; i < rows.length; i++) out[rows[i]!]! += this.#scoreOf(read(i))
      return
    }
    const scored = areSearched ? this.#candidates(variant, rows, rowCount) : rows
    for (const row of scored) out[row]! += this.#scoreOf(read(row))
  }

  #scoreOf(value: Parameters<typeof relevanceIn>[0]): number {
    return relevanceIn(value, this.#phrases)
  }

  #scoresOf(entries: DictionaryEntries): Float64Array {
    const scores = this.#ofEntries.get(entries) ?? new Float64Array(entries.size).fill(Number.NaN)
    this.#ofEntries.set(entries, scores)
    return scores
  }

  /** The rows whose value may score more than 0. */
  #candidates({ vector }: FieldVariant, rows: Int32Array, rowCount: number): Iterable<number> {
    if (vector.kind === 'constant' && vector.value === null) return []
    if (vector.kind === 'text') return this.#inText(vector, rows, rowCount)
    if (vector.kind === 'lazy' && vector.source) return this.#inLazy(vector.source, rows, rowCount)
    return rows
  }

  #inText({ texts, first }: TextVector, rows: Int32Array, rowCount: number): Iterable<number> {
    const marks = newBytes(rowCount)
    const found = newBytes(rowCount).fill(0)
    for (const needle of this.#inTexts) {
      for (const { from, to } of selectedRanges(rows, rowCount)) {
        needle.search(texts, first + from, first + to, marks.subarray(from, to))
      }
      for (let i = 0; i < rows.length; i++) found[rows[i]!]! |= +(marks[rows[i]!] !== absent)
    }
    return rows.filter((row) => found[row] === 1)
  }

  #inLazy(source: LazySource, rows: Int32Array, rowCount: number): Iterable<number> {
    const found = newBytes(rowCount).fill(0)
    for (const search of this.#inValues) {
      for (const row of search(source, rowCount, rows)) found[row] = 1
    }
    return rows.filter((row) => found[row] === 1)
  }
}
