import type { Query } from './ast.ts'

/** Every clause by its name in texts and in JSON, and where `Query` keeps it, in canonical order. */
export const clauseProperties = {
  select: 'select',
  dimensions: 'dimensions',
  measures: 'measures',
  pivot: 'pivot',
  infer: 'infer',
  from: 'from',
  unpivot: 'unpivot',
  filter: 'filter',
  span_filter: 'spanFilter',
  trace_filter: 'traceFilter',
  sample: 'sample',
  final_filter: 'finalFilter',
  final_dimensions: 'finalDimensions',
  final_measures: 'finalMeasures',
  comparison_key: 'comparisonKey',
  weighted_scores: 'weightedScores',
  custom_columns: 'customColumns',
  sort: 'sort',
  limit: 'limit',
  offset: 'offset',
  cursor: 'cursor',
  preview_length: 'previewLength',
  inference_budget: 'inferenceBudget',
} as const satisfies Record<string, keyof Query>

export type ClauseName = keyof typeof clauseProperties

export const clauseNames = Object.keys(clauseProperties) as ClauseName[]

export function isClauseName(word: string): word is ClauseName {
  return Object.hasOwn(clauseProperties, word)
}

/** What users of SQL or of other tools may call a clause. */
export const clauseSynonyms: ReadonlyMap<string, ClauseName> = new Map([
  ['columns', 'select'],
  ['fields', 'select'],
  ['group', 'dimensions'],
  ['groupby', 'dimensions'],
  ['group_by', 'dimensions'],
  ['aggregates', 'measures'],
  ['source', 'from'],
  ['where', 'filter'],
  ['having', 'final_filter'],
  ['order', 'sort'],
  ['orderby', 'sort'],
  ['order_by', 'sort'],
  ['top', 'limit'],
  ['skip', 'offset'],
  ['page', 'cursor'],
  ['tablesample', 'sample'],
  ['schema', 'infer'],
  ['preview', 'preview_length'],
])
