/** What the query language has, found by words: its functions, and the words that are no functions. */
import { sourceTables } from '../../binder/source-table.ts'
import { aggregateFunctions } from '../../function/aggregate.ts'
import { scalarFunctions } from '../../function/scalar.ts'

interface Document {
  readonly name: string
  readonly kind: string
  readonly text: string
}

const mostFound = 15

const clauses: readonly (readonly [name: string, text: string])[] = [
  ['select', 'Columns of rows: select: id, input.question as q. * is the whole record'],
  [
    'dimensions',
    'What rows are grouped by, as GROUP BY: dimensions: metadata.model, day(created) as day',
  ],
  ['measures', 'Aggregates of groups: measures: count(1) as n, avg(scores.exact) as exact'],
  ['filter', 'Condition on records, as WHERE; any_span(condition) is one on their traces'],
  ['final_filter', 'Condition on groups, as HAVING'],
  ['sort', 'Order, as ORDER BY: sort: created desc. Without one the newest come first'],
  ['limit', 'How many rows; cursor continues after a page'],
  ['infer', 'Describes the fields that records have: infer: *'],
  ['pivot', 'Turns values of a column into columns: pivot: avg(x) for metadata.model'],
  ['unpivot', 'Turns entries of an object or an array into rows: unpivot: scores as (name, value)'],
  ['sample', 'A random part of the rows: sample: 10% seed 1'],
  [
    'match',
    "Full-text search in a field or in all of them: filter: input match 'refund'; search('refund')",
  ],
  [
    'traces',
    "Shape: all spans of traces that have a span which passes: from: project_logs('p') traces",
  ],
  [
    'summary',
    "Shape: a row for each trace, with its scores, metrics and costs: from: project_logs('p') summary",
  ],
  ['history', 'Shape: every version of every record'],
  ['project_id', 'project_logs() without an id is that of the project which the request names'],
]

const documents: readonly Document[] = [
  ...clauses.map(([name, text]) => ({ name, kind: 'clause', text })),
  ...Array.from(sourceTables.keys(), (name) => ({
    name: `${name}()`,
    kind: 'source',
    text: `Records to read: from: ${name}('<id or name>')`,
  })),
  ...[...aggregateFunctions, ...scalarFunctions].map(({ name, signature, description }) => ({
    name: `${name}(${signature})`,
    kind: 'function',
    text: description,
  })),
]

/** Those that have most of the words, in their names before their texts. */
export function searchDocuments(query: string) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const found = documents
    .map((document) => ({ document, score: scoreOf(document, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostFound)
    .map(({ document }) => document)
  if (found.length > 0) return { results: found }
  const why_empty =
    words.length === 0
      ? 'the search has no words'
      : 'nothing in the language has any of these words'
  return { results: found, why_empty }
}

function scoreOf({ name, text }: Document, words: readonly string[]): number {
  const [inName, inText] = [name.toLowerCase(), text.toLowerCase()]
  return words.reduce(
    (sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0),
    0,
  )
}
