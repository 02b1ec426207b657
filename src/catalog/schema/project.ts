import { z } from 'zod'
import { identifier, identifiers, name, shortText, text, timestamp, word } from './field.ts'
import { savedFunction } from './prompt.ts'

const spanFieldOrder = z.looseObject({
  object_type: shortText,
  column_id: shortText,
  position: shortText,
  layout: word.nullish(),
})

const remoteEvaluation = z.looseObject({
  url: shortText,
  name,
  description: text.nullish(),
})

export const projectSettings = z
  .looseObject({
    comparison_key: shortText.nullish(),
    baseline_experiment_id: identifier.nullish(),
    spanFieldOrder: z.array(spanFieldOrder).max(1000).nullish(),
    remote_eval_sources: z.array(remoteEvaluation).max(1000).nullish(),
    disable_realtime_queries: z.boolean().nullish(),
    default_preprocessor: savedFunction.nullish(),
  })
  .meta({ id: 'ProjectSettings' })

export const projectSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    name,
    description: text.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    user_id: identifier.nullable(),
    settings: projectSettings.nullable(),
  })
  .meta({ id: 'Project' })

export const newProject = z.object({
  name,
  description: text.nullish(),
  org_name: name.nullish(),
  settings: projectSettings.nullish(),
})

export const projectPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  user_id: identifier.nullish(),
  settings: projectSettings.nullish(),
})

/** Projects under one name. */
export const projectGroupSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    user_id: identifier.nullable(),
    created: timestamp.nullable(),
    name,
    description: text.nullable(),
    deleted_at: timestamp.nullable(),
    member_projects: identifiers.nullable(),
  })
  .meta({ id: 'ProjectGroup' })

export const newProjectGroup = z.object({
  name,
  description: text.nullish(),
  member_projects: identifiers.nullish(),
  org_name: name.nullish(),
})

export const projectGroupPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
  add_member_projects: identifiers.nullish(),
  remove_member_projects: identifiers.nullish(),
})
