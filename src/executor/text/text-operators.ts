/** Comparisons of texts with constants, without decoding the texts. */
import type { BoundExpression } from '../../binder/bound.ts'
import { decodeUtf8, encodeUtf8 } from '../../json/utf8.ts'
import { newBytes } from '../../kernel/arena.ts'
import { textEquals } from '../../kernel/text.ts'
import { hasPart } from '../../type/find-part.ts'
import { compileLike, parseLike } from '../../type/like.ts'
import { readSearchQuery } from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import { setOf } from '../../type/value-set.ts'
import type { Texts } from '../../vector/column.ts'
import { type Selection, type TextVector, unknown, type Vector } from '../../vector/vector.ts'
import type { Batch } from '../expression/batch.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import {
  absent,
  Needle,
  present,
  type Searched,
  searchTexts,
  undecided,
  type Verdict,
} from './text-search.ts'
import { TextSet } from './text-set.ts'
import { WordSearch } from './word-search.ts'

export type TextOperator = (
  left: Vector,
  right: Vector,
  batch: Batch,
  selection: Selection,
) => Vector | undefined

/** Undefined when the node is none that texts have a faster way for. */
export function compileText(node: BoundExpression): TextOperator | undefined {
  switch (node.kind) {
    case 'comparison': {
      if (node.operator !== 'eq' && node.operator !== 'ne') return undefined
      const negate = node.operator === 'ne'
      return (left, right, { rowCount }) => {
        const [text, constant] = left.kind === 'text' ? [left, right] : [right, left]
        if (text.kind !== 'text' || constant.kind !== 'constant') return undefined
        if (typeof constant.value !== 'string') return undefined
        const out = newBytes(rowCount)
        textEquals(text.texts, text.first, rowCount, encodeUtf8(constant.value), out)
        if (negate) for (let i = 0; i < rowCount; i++) out[i] = 1 - out[i]!
        return withNulls(text, out)
      }
    }
    case 'like':
      return searching((pattern) =>
        typeof pattern === 'string' ? likeSearch(pattern, node.caseInsensitive) : undefined,
      )
    case 'includes':
      return searching((needle) =>
        typeof needle === 'string' ? includesSearch(needle) : undefined,
      )
    case 'match':
      return searching(
        (query) => (query === null ? undefined : matchSearch(query)),
        node.isSearch ? absent : unknown,
      )
    case 'in': {
      let last: { readonly list: Value; readonly search: TextSet | undefined } | undefined
      return (left, right, { rowCount }) => {
        if (left.kind !== 'text' || right.kind !== 'constant') return undefined
        const { value } = right
        if (!Array.isArray(value)) return undefined
        const set = setOf(value)
        if (last?.list !== value) {
          last = { list: value, search: set.hasTimes ? undefined : new TextSet(set) }
        }
        if (!last.search) return undefined
        const out = newBytes(rowCount)
        last.search.search(left.texts, left.first, rowCount, set.hasNull ? unknown : 0, out)
        return withNulls(left, out)
      }
    }
    default:
      return undefined
  }
}

function withNulls({ valid }: TextVector, values: Uint8Array, ofNull: number = unknown): Vector {
  if (valid) {
    for (let i = 0; i < values.length; i++) if (valid[i] === 0) values[i] = ofNull
  }
  return { kind: 'boolean', values }
}

/** Writes 1 for each of the texts `from … to` that a predicate holds for, else 0. */
export type TextSearch = (texts: Texts, from: number, to: number, out: Uint8Array) => void

/**
 * @param prepare is called once per constant; undefined when there is nothing to search for
 * @param ofNull what holds for rows without a text
 */
function searching(
  prepare: (constant: Value) => TextSearch | undefined,
  ofNull: number = unknown,
): TextOperator {
  let last: { readonly constant: Value; readonly search: TextSearch | undefined } | undefined
  return (left, right, { rowCount }, selection) => {
    if (left.kind !== 'text' || right.kind !== 'constant') return undefined
    if (last?.constant !== right.value) {
      last = { constant: right.value, search: prepare(right.value) }
    }
    return last.search && searchVector(last.search, left, rowCount, selection, ofNull)
  }
}

/** What a search says of the selected rows. */
export function searchVector(
  search: TextSearch,
  vector: TextVector,
  rowCount: number,
  selection: Selection,
  ofNull: number = unknown,
): Vector {
  const out = newBytes(rowCount).fill(0)
  const { texts, first } = vector
  for (const { from, to } of selectedRanges(selection, rowCount)) {
    search(texts, first + from, first + to, out.subarray(from, to))
  }
  return withNulls(vector, out, ofNull)
}

/** @param matches decides what the bytes have left undecided */
export function needleSearch(
  needle: Searched,
  judge: (bytes: Buffer, at: number, start: number, end: number) => Verdict,
  matches: (text: string) => boolean,
): TextSearch {
  return (texts, from, to, out) => {
    searchTexts(texts, from, to, needle, judge, out)
    for (let i = 0; i < to - from; i++) {
      if (out[i] !== undecided) continue
      // Texts may be long, and patterns slow.
      checkCancelled()
      const text = decodeUtf8(texts.bytes, texts.offsets[from + i]!, texts.offsets[from + i + 1]!)
      out[i] = matches(text) ? present : absent
    }
  }
}

/** Unselected rows between selected ones that are searched with them, to search more at once. */
const searchedGap = 4

/** The selected rows as ranges, with few others between them. */
export function selectedRanges(
  selection: Selection,
  rowCount: number,
): readonly { readonly from: number; readonly to: number }[] {
  if (!selection) return [{ from: 0, to: rowCount }]
  const ranges: { from: number; to: number }[] = []
  for (const row of selection) {
    const last = ranges.at(-1)
    if (last && row - last.to <= searchedGap) last.to = row + 1
    else ranges.push({ from: row, to: row + 1 })
  }
  return ranges
}

function likeSearch(text: string, caseInsensitive: boolean): TextSearch {
  const pattern = parseLike(text, caseInsensitive)
  const needle = new Needle(pattern.needle, caseInsensitive)
  const verdict = pattern.kind === 'contains' && needle.isWhole ? present : undecided
  return needleSearch(needle, () => verdict, compileLike(text, caseInsensitive))
}

function includesSearch(text: string): TextSearch {
  if (text === '') return (_texts, from, to, out) => out.fill(present, 0, to - from)
  return needleSearch(
    new Needle(text, false),
    () => present,
    (other) => hasPart(other, text),
  )
}

function matchSearch(query: Value): TextSearch {
  const phrases = readSearchQuery(textOf(query))
  if (phrases.length === 0) return (_texts, from, to, out) => out.fill(absent, 0, to - from)
  const words = new WordSearch(phrases)
  return (texts, from, to, out) => words.search(texts, from, to, out)
}
