/** Comparisons of texts with constants, without decoding the texts. */
import type { BoundExpression } from '../binder/bound.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { newBytes } from '../kernel/memory.ts'
import { textEquals } from '../kernel/text.ts'
import { compileLike, parseLike } from '../type/like.ts'
import { textOf } from '../type/text.ts'
import { matchWords, wordsOf } from '../type/text-match.ts'
import type { Value } from '../type/value.ts'
import { type Selection, type TextVector, unknown, type Vector } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { absent, Needle, present, searchTexts, undecided, type Verdict } from './text-search.ts'

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
        textEquals(text.texts, text.first, rowCount, Buffer.from(constant.value), out)
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
      return searching((query) => (query === null ? undefined : matchSearch(query)))
    case 'in': {
      let sets = new Map<unknown, ReadonlySet<string>>()
      return (left, right, { rowCount }) => {
        if (left.kind !== 'text' || right.kind !== 'constant') return undefined
        const list = right.value
        if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
          return undefined
        let set = sets.get(list)
        if (!set) {
          set = new Set(list)
          sets = new Map([[list, set]])
        }
        const out = newBytes(rowCount)
        const { bytes, offsets } = left.texts
        for (let i = 0; i < rowCount; i++) {
          const at = left.first + i
          out[i] = set.has(decodeUtf8(bytes, offsets[at]!, offsets[at + 1]!)) ? 1 : 0
        }
        return withNulls(left, out)
      }
    }
    default:
      return undefined
  }
}

function withNulls({ valid }: TextVector, values: Uint8Array): Vector {
  if (valid) {
    for (let i = 0; i < values.length; i++) if (valid[i] === 0) values[i] = unknown
  }
  return { kind: 'boolean', values }
}

/** What a predicate looks for in a text: needles that must all be there, each where it counts. */
interface TextSearch {
  readonly needles: readonly {
    readonly needle: Needle
    judge(bytes: Buffer, at: number, start: number, end: number): Verdict
  }[]
  /** Decides what a search has left undecided. */
  matches(text: string): boolean
}

/** @param prepare is called once per constant; undefined when there is nothing to search for */
function searching(prepare: (constant: Value) => TextSearch | undefined): TextOperator {
  let last: { readonly constant: Value; readonly search: TextSearch | undefined } | undefined
  return (left, right, { rowCount }, selection) => {
    if (left.kind !== 'text' || right.kind !== 'constant') return undefined
    if (last?.constant !== right.value) {
      last = { constant: right.value, search: prepare(right.value) }
    }
    if (!last.search) return undefined
    const out = newBytes(rowCount).fill(0)
    for (const { from, to } of selectedRanges(selection, rowCount)) {
      searchRange(left, last.search, from, to, out.subarray(from, to))
    }
    return withNulls(left, out)
  }
}

function searchRange(
  { texts, first }: TextVector,
  { needles, matches }: TextSearch,
  from: number,
  to: number,
  out: Uint8Array,
): void {
  out.fill(needles.length === 0 ? undecided : present)
  for (const { needle, judge } of needles) {
    const found = new Uint8Array(to - from)
    // Only where all needles before were found.
    let start = 0
    while (start < found.length) {
      if (out[start] === absent) {
        start++
        continue
      }
      let end = start + 1
      while (end < found.length && out[end] !== absent) end++
      const part = found.subarray(start, end)
      searchTexts(texts, first + from + start, first + from + end, needle, judge, part)
      for (let i = start; i < end; i++) {
        out[i] = found[i] === absent ? absent : Math.max(out[i]!, found[i]!)
      }
      start = end
    }
  }
  for (let i = 0; i < out.length; i++) {
    if (out[i] !== undecided) continue
    const at = first + from + i
    out[i] = matches(decodeUtf8(texts.bytes, texts.offsets[at]!, texts.offsets[at + 1]!)) ? 1 : 0
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
  return {
    needles: [{ needle, judge: () => verdict }],
    matches: compileLike(text, caseInsensitive),
  }
}

function includesSearch(text: string): TextSearch {
  if (text === '') return { needles: [], matches: () => true }
  const needle = new Needle(text, false)
  return {
    needles: [{ needle, judge: () => present }],
    matches: (other) => other.includes(text),
  }
}

function matchSearch(query: Value): TextSearch {
  // The longer a word, the fewer rows are left for the others.
  const words = [...new Set(wordsOf(textOf(query)))].sort((a, b) => b.length - a.length)
  return {
    needles: words.map((word) => {
      const needle = new Needle(word, true)
      return { needle, judge: needle.isWhole ? judgeWord(needle.byteLength) : () => undecided }
    }),
    matches: (text) => matchWords(text, query) === true,
  }
}

/** Whether a hit is a whole word, as far as ASCII tells. */
function judgeWord(byteLength: number) {
  return (bytes: Buffer, at: number, start: number, end: number): Verdict => {
    const before = at === start ? space : bytes[at - 1]!
    const after = at + byteLength === end ? space : bytes[at + byteLength]!
    if (before >= 0x80 || after >= 0x80) return undecided
    return isLetterOrDigit[before] === 1 || isLetterOrDigit[after] === 1 ? absent : present
  }
}

const space = 0x20

const isLetterOrDigit = Uint8Array.from({ length: 128 }, (_, byte) =>
  /[a-z0-9]/i.test(String.fromCharCode(byte)) ? 1 : 0,
)
