/** How many rows of a search each value of a field has. */
import { joined, type Scalar, termsOf, valuesOfTerm } from './filter-terms.ts'
import { query } from './query.ts'
import { clauseOf } from './query-text.ts'

export interface FacetField {
  readonly id: string
  readonly title: string
  /** As the query language writes it. */
  readonly path: string
  /** Whether the field is a list, each item of which counts. */
  readonly isList?: boolean
}

export interface FacetValue {
  readonly value: Scalar
  /** Undefined where it cannot be told for this search. */
  readonly count: number | undefined
}

export interface FacetValues {
  /** The most frequent first. */
  readonly values: readonly FacetValue[]
  readonly hasMore: boolean
}

const mostValues = 12

/** Longer texts are no values to choose from. */
const longestValue = 200

/** Conditions on the row of a trace, which its spans do not meet by themselves. */
const ofTheRow =
  /\b(?:duration|errors|llm_calls|llm_duration|llm_errors|tool_calls|tool_errors|total_tokens)\b/

/**
 * Counts with all conditions of the search but those on the field itself, so that other values of it can be chosen.
 * Traces count where one of their spans meets the conditions and has the value, as they do once it is chosen.
 *
 * @param text as the service prints queries
 */
export async function loadFacet(
  text: string,
  { path, isList = false }: FacetField,
  signal: AbortSignal,
): Promise<FacetValues> {
  const from = clauseOf(text, 'from') ?? ''
  const isOfTraces = /\)\s*summary$/.test(from)
  const terms = termsOf(clauseOf(text, 'filter'))
  const others = isList ? terms : terms.filter((each) => valuesOfTerm(each, path) === undefined)
  const field = isList ? 'facet_item' : path
  const filter = joined([...others, `${field} is not null`])
  const measure = isOfTraces ? 'count_distinct(root_span_id)' : 'count(1)'
  const { data } = await query(
    [
      `dimensions: ${field} as facet_value`,
      `measures: ${measure} as facet_count`,
      `from: ${from.replace(/\)\s*\w+$/, ')')}`,
      ...(isList ? [`unpivot: ${path} as facet_item`] : []),
      `filter: ${filter}`,
      'sort: facet_count desc, facet_value',
      `limit: ${mostValues + 1}`,
    ].join('\n'),
    signal,
  )
  const isCounted = !(isOfTraces && others.some((each) => ofTheRow.test(each)))
  const values = data.flatMap(({ facet_value: value, facet_count: count }): FacetValue[] =>
    isScalar(value) ? [{ value, count: isCounted ? Number(count) : undefined }] : [],
  )
  return { values: values.slice(0, mostValues), hasMore: data.length > mostValues }
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value !== '' && value.length <= longestValue
  return typeof value === 'number' || typeof value === 'boolean'
}

/** Rows with an error, of those that the search finds. */
export async function loadErrors(text: string, signal: AbortSignal): Promise<number> {
  const from = clauseOf(text, 'from') ?? ''
  const isOfTraces = /\)\s*summary$/.test(from)
  const terms = termsOf(clauseOf(text, 'filter'))
  const measure = isOfTraces ? 'count_distinct(root_span_id)' : 'count(1)'
  const { data } = await query(
    `measures: ${measure} as n\nfrom: ${from.replace(/\)\s*\w+$/, ')')}\n` +
      `filter: ${joined([...terms, 'error is not null'])}`,
    signal,
  )
  return Number(data[0]?.n ?? 0)
}
