import { z } from 'zod'
import { aclObjectType } from './access.ts'
import { identifier, name, shortText, text, timestamp, word } from './field.ts'

/** `projects`, `experiments`, `logs`, `monitor`, `for_review_datasets`, … */
export const viewType = word

const conditions = z.array(z.unknown()).max(10_000).nullish()

export const viewData = z
  .looseObject({
    search: z
      .looseObject({ filter: conditions, tag: conditions, match: conditions, sort: conditions })
      .nullish(),
    custom_charts: z.unknown().optional(),
  })
  .meta({ id: 'ViewData' })

const measure = z.looseObject({
  type: word,
  value: shortText,
})

const monitorOptions = z.looseObject({
  viewType: z.literal('monitor'),
  options: z.looseObject({
    spanType: word.nullish(),
    rangeValue: shortText.nullish(),
    frameStart: shortText.nullish(),
    frameEnd: shortText.nullish(),
    tzUTC: z.boolean().nullish(),
    chartVisibility: z.record(shortText, z.boolean()).nullish(),
    projectId: shortText.nullish(),
    type: word.nullish(),
    groupBy: shortText.nullish(),
  }),
  freezeColumns: z.boolean().nullish(),
})

const tableOptions = z.looseObject({
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
    .array(z.looseObject({ id: shortText, text: shortText }))
    .max(1000)
    .nullish(),
  timeRangeFilter: z
    .union([shortText, z.looseObject({ from: shortText, to: shortText })])
    .nullish(),
  queryShape: word.nullish(),
  cluster: shortText.nullish(),
  freezeColumns: z.boolean().nullish(),
})

export const viewOptions = z
  .union([
    monitorOptions,
    tableOptions.refine(({ viewType }) => viewType !== 'monitor', { abort: true }),
  ])
  .meta({ id: 'ViewOptions' })

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
    description: text.nullable(),
    starred: z.boolean().nullable(),
    updated_at: timestamp.nullable(),
    user_id: identifier.nullable(),
    deleted_at: timestamp.nullable(),
  })
  .meta({ id: 'View' })

export const viewEntry = viewSchema.extend({ org_id: identifier })

export const newView = z.object({
  object_type: aclObjectType,
  object_id: identifier,
  view_type: viewType,
  name,
  view_data: viewData.nullish(),
  options: viewOptions.nullish(),
  description: text.nullish(),
  starred: z.boolean().nullish(),
  user_id: identifier.nullish(),
})

export const viewPatch = z.object({
  object_type: aclObjectType,
  object_id: identifier,
  view_type: viewType.nullish(),
  name: name.nullish(),
  view_data: viewData.nullish(),
  options: viewOptions.nullish(),
  description: text.nullish(),
  starred: z.boolean().nullish(),
  user_id: identifier.nullish(),
})

export const viewOwner = z.object({ object_type: aclObjectType, object_id: identifier })
