/** What a project has beside objects with records: scores, tags, automations, frames, servers, agents. */
import { z } from 'zod'
import {
  fields,
  identifier,
  name,
  openUnion,
  shortText,
  slug,
  text,
  timestamp,
  word,
} from './field.ts'
import { functionReference } from './prompt.ts'

/** `slider`, `categorical`, `weighted`, `online`, `free-form`, … */
export const scoreType = word

export const scoreCategories = z.union([
  z.array(z.looseObject({ name, value: z.number() })).max(1000),
  z.record(z.string().max(1000), z.number()),
  z.array(shortText).max(1000),
])

/** One span, one trace, or spans that agree in a field. */
const scope = openUnion('type', [
  z.looseObject({ type: z.literal('span') }),
  z.looseObject({ type: z.literal('trace'), idle_seconds: z.number().optional() }),
  z.looseObject({
    type: z.literal('group'),
    group_by: shortText,
    interval_seconds: z.number().optional(),
    max_traces: z.number().optional(),
    placement: z.unknown().optional(),
    idle_seconds: z.number().optional(),
  }),
])

const clauses = z.array(text).max(1000).nullish()

export const scoreConfiguration = z
  .looseObject({
    multi_select: z.boolean().nullish(),
    destination: shortText.nullish(),
    visibility: z
      .looseObject({
        users: z.array(shortText).max(10_000).nullish(),
        groups: z.array(shortText).max(10_000).nullish(),
      })
      .nullish(),
    online: z
      .looseObject({
        sampling_rate: z.number().min(0).max(1),
        scorers: z.array(functionReference).max(1000),
        btql_filter: text.nullish(),
        apply_to_root_span: z.boolean().nullish(),
        apply_to_span_names: z.array(shortText).max(1000).nullish(),
        skip_logging: z.boolean().nullish(),
        scope: scope.nullish(),
      })
      .nullish(),
    condition: z
      .looseObject({
        when: z.looseObject({ clauses, subspan_clauses: clauses, trace_clauses: clauses }),
        behavior: word.nullish(),
      })
      .nullish(),
    object_types: z.array(word).max(100).nullish(),
  })
  .meta({ id: 'ProjectScoreConfig' })

export const projectScoreSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier,
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    score_type: scoreType,
    categories: scoreCategories.nullable(),
    config: scoreConfiguration.nullable(),
    position: shortText.nullable(),
  })
  .meta({ id: 'ProjectScore' })

export const newProjectScore = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  score_type: scoreType,
  categories: scoreCategories.nullish(),
  config: scoreConfiguration.nullish(),
})

export const projectScorePatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  score_type: scoreType.nullish(),
  categories: scoreCategories.nullish(),
  config: scoreConfiguration.nullish(),
})

export const projectTagSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier,
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    color: shortText.nullable(),
    position: shortText.nullable(),
  })
  .meta({ id: 'ProjectTag' })

export const newProjectTag = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  color: shortText.nullish(),
})

export const projectTagPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  color: shortText.nullish(),
})

export const spanIframeSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    name,
    description: text.nullable(),
    url: text,
    post_message: z.boolean().nullable(),
  })
  .meta({ id: 'SpanIFrame' })

export const newSpanIframe = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  url: text,
  post_message: z.boolean().nullish(),
})

export const spanIframePatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  url: text.nullish(),
  post_message: z.boolean().nullish(),
})

export const mcpServerSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    name,
    description: text.nullable(),
    url: text,
  })
  .meta({ id: 'MCPServer' })

export const newMcpServer = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  url: text,
})

export const mcpServerPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  url: text.nullish(),
})

export const agentSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    user_id: identifier,
    created: timestamp.nullable(),
    name,
    slug,
    kind: shortText,
    description: text.nullable(),
    metadata: fields.nullable(),
  })
  .meta({ id: 'Agent' })

export const newAgent = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
  metadata: fields.nullish(),
})

export const agentPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  metadata: fields.nullish(),
})
