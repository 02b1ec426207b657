/** What texts a query looks for, and where: for marking them in the rows that it finds. */
import type { Expression, Query } from '../parser/ast.ts'
import { findParts, findRanges, type TextRange } from '../type/find-phrase.ts'
import { readSearchQuery, searchedFields } from '../type/search-query.ts'
import { isObject, type JsonObject, type Path, type Value, valueAt } from '../type/value.ts'

/** As answers tell it. Exactly one of `words` and `part` is there. */
export interface LookedFor {
  /** What `match` takes: words, phrases in quotes, beginnings with a star. */
  readonly words?: string
  /** A part of a text, in any case. */
  readonly part?: string
  /** Paths of the fields that are looked into. */
  readonly fields: readonly Path[]
}

/** What rows must have, not what they must not have. */
export function lookedFor({ filter, spanFilter, traceFilter }: Query): LookedFor[] {
  return [filter, spanFilter, traceFilter].flatMap((each) => (each ? lookedForIn(each) : []))
}

function lookedForIn(expression: Expression): LookedFor[] {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return expression.operands.flatMap(lookedForIn)
    case 'match':
      return expression.negated ? [] : ofField(expression.operand, 'words', expression.query)
    case 'like': {
      const part = partOf(expression.pattern)
      return expression.negated || part === undefined ? [] : told(expression.operand, { part })
    }
    case 'includes':
      return expression.negated ? [] : ofField(expression.haystack, 'part', expression.needle)
    case 'call': {
      const [argument] = expression.arguments
      if (!argument) return []
      if (expression.name === 'any_span' || expression.name === 'filter_spans') {
        return lookedForIn(argument)
      }
      const words = expression.name === 'search' ? textOf(argument) : undefined
      return words === undefined ? [] : [{ words, fields: searchedFields.map((name) => [name]) }]
    }
    default:
      return []
  }
}

function ofField(operand: Expression, kind: 'words' | 'part', sought: Expression): LookedFor[] {
  const text = textOf(sought)
  return text === undefined || text === '' ? [] : told(operand, { [kind]: text })
}

function told(operand: Expression, sought: { words?: string; part?: string }): LookedFor[] {
  return operand.kind === 'path' ? [{ ...sought, fields: [operand.parts] }] : []
}

function textOf(expression: Expression): string | undefined {
  const isText = expression.kind === 'literal' && typeof expression.value === 'string'
  return isText ? (expression.value as string) : undefined
}

/** The text between the wildcards of a pattern that has none within. */
function partOf(pattern: Expression): string | undefined {
  const text = textOf(pattern)?.replace(/^%+|(?<!\\)%+$/g, '')
  if (text === undefined || text === '' || /(?<!\\)(?:\\\\)*[%_]/.test(text)) return undefined
  return text.replace(/\\(.)/gs, '$1')
}

/** Stretches of one text of a row. */
export interface Highlight {
  /** The row's number in the answer. */
  readonly row: number
  readonly path: Path
  /** Begin and end of each, in UTF-16 units of the text. */
  readonly ranges: readonly (readonly [from: number, to: number])[]
}

/** Of one text, and of an answer: who reads them wants to see where, not how often. */
const mostRanges = 100
const mostHighlights = 10_000

/** Finds what is to be marked in rows, as they come. */
export class Highlighter {
  readonly found: Highlight[] = []
  readonly #lookedFor: readonly LookedFor[]
  #rowCount = 0

  constructor(sought: readonly LookedFor[]) {
    this.#lookedFor = sought
  }

  addRow(row: JsonObject): void {
    const number = this.#rowCount++
    const ranges = new Map<string, { path: Path; ranges: TextRange[] }>()
    for (const { words, part, fields } of this.#lookedFor) {
      const find = (text: string) =>
        words === undefined
          ? findParts(text, part!, mostRanges)
          : findRanges(text, readSearchQuery(words), mostRanges)
      for (const field of fields) {
        eachString(valueAt(row, field), field, (text, path) => {
          const found = find(text)
          if (found.length === 0) return
          const key = JSON.stringify(path)
          const all = ranges.get(key) ?? { path, ranges: [] }
          all.ranges.push(...found)
          ranges.set(key, all)
        })
      }
    }
    for (const { path, ranges: all } of ranges.values()) {
      if (this.found.length === mostHighlights) return
      const ordered = all.sort((a, b) => a.from - b.from)
      this.found.push({ row: number, path, ranges: ordered.map(({ from, to }) => [from, to]) })
    }
  }
}

function eachString(value: Value, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === 'string') visit(value, path)
  else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) eachString(item as Value, [...path, i], visit)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      eachString(member, [...path, name], visit)
    }
  }
}
