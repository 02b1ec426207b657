import { z } from 'zod'
import { aclObjectType } from './access.ts'
import { identifier, name, shortText, timestamp } from './field.ts'

const viewTypes = [
  'projects',
  'experiments',
  'experiment',
  'playgrounds',
  'playground',
  'datasets',
  'dataset',
  'prompts',
  'parameters',
  'tools',
  'scorers',
  'classifiers',
  'logs',
  'monitor',
  'for_review_project_log',
  'for_review_experiments',
  'for_review_datasets',
] as const

export const viewType = z.enum(viewTypes)

const conditions = z.array(z.unknown()).max(10_000).nullish()

export const viewData = z
  .strictObject({
    search: z
      .strictObject({ filter: conditions, tag: conditions, match: conditions, sort: conditions })
      .nullish(),
    custom_charts: z.unknown().optional(),
  })
  .meta({ id: 'ViewData' })

const measure = z.strictObject({
  type: z.enum(['none', 'score', 'metric', 'metadata']),
  value: shortText,
})

const monitorOptions = z.strictObject({
  viewType: z.literal('monitor'),
  options: z.strictObject({
    spanType: z.enum(['range', 'frame']).nullish(),
    rangeValue: shortText.nullish(),
    frameStart: shortText.nullish(),
    frameEnd: shortText.nullish(),
    tzUTC: z.boolean().nullish(),
    chartVisibility: z.record(shortText, z.boolean()).nullish(),
    projectId: shortText.nullish(),
    type: z.enum(['project', 'experiment']).nullish(),
    groupBy: shortText.nullish(),
  }),
  freezeColumns: z.boolean().nullish(),
})

const tableOptions = z.strictObject({
  columnVisibility: z.record(shortText, z.boolean()).nullish(),
  columnOrder: z.array(shortText).max(10_000).nullish(),
  columnSizing: z.record(shortText, z.number()).nullish(),
  grouping: shortText.nullish(),
  rowHeight: shortText.nullish(),
  tallGroupRows: z.boolean().nullish(),
  layout: shortText.nullish(),
  topicMapReportKey: shortText.nullish(),
  chartHeight: z.number().nullish(),
  excludedMeasures: z.array(measure).max(1000).nullish(),
  yMetric: measure.nullish(),
  xAxis: measure.nullish(),
  symbolGrouping: measure.nullish(),
  xAxisAggregation: shortText.nullish(),
  chartAnnotations: z
    .array(z.strictObject({ id: shortText, text: shortText }))
    .max(1000)
    .nullish(),
  timeRangeFilter: z
    .union([shortText, z.strictObject({ from: shortText, to: shortText })])
    .nullish(),
  queryShape: z.enum(['traces', 'spans', 'topics']).nullish(),
  cluster: shortText.nullish(),
  freezeColumns: z.boolean().nullish(),
})

export const viewOptions = z.union([monitorOptions, tableOptions]).meta({ id: 'ViewOptions' })

/** How a page of the user interface shows an object, under a name. */
export const viewSchema = z
  .object({
    id: identifier,
    object_type: aclObjectType,
    object_id: identifier,
    view_type: viewType,
    name,
    created: timestamp.nullable(),
    view_data: viewData.nullable(),
    options: viewOptions.nullable(),
    user_id: identifier.nullable(),
    deleted_at: timestamp.nullable(),
  })
  .meta({ id: 'View' })

export const viewEntry = viewSchema.extend({ org_id: identifier })

export const newView = z.strictObject({
  object_type: aclObjectType,
  object_id: identifier,
  view_type: viewType,
  name,
  view_data: viewData.nullish(),
  options: viewOptions.nullish(),
  user_id: identifier.nullish(),
})

export const viewPatch = z.strictObject({
  object_type: aclObjectType,
  object_id: identifier,
  view_type: viewType.nullish(),
  name: name.nullish(),
  view_data: viewData.nullish(),
  options: viewOptions.nullish(),
  user_id: identifier.nullish(),
})

export const viewOwner = z.strictObject({ object_type: aclObjectType, object_id: identifier })
