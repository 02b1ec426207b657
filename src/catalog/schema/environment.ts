import { z } from 'zod'
import { identifier, name, shortText, slug, text, timestamp } from './field.ts'

/** A stage of a deployment, like production, that versions of prompts and datasets are assigned to. */
export const environmentSchema = z
  .object({
    id: identifier,
    org_id: identifier,
    name,
    slug,
    description: text.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
  })
  .meta({ id: 'Environment' })

export const newEnvironment = z.object({
  name,
  slug,
  description: text.nullish(),
  org_name: name.nullish(),
})

export const environmentPatch = z.object({
  name: name.nullish(),
  slug: slug.nullish(),
  description: text.nullish(),
})

/** The version of an object that an environment has. */
export const environmentObjectEntry = z.object({
  id: identifier,
  org_id: identifier,
  object_type: z.enum(['prompt', 'dataset']),
  object_id: identifier,
  object_version: shortText,
  environment_slug: slug,
  created: timestamp.nullable(),
})
