import { z } from 'zod'
import { identifier, name, text, timestamp } from './field.ts'

/** A playground. Its runs are logged in it. */
export const promptSessionSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    name,
    description: text.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    user_id: identifier.nullable(),
  })
  .meta({ id: 'PromptSession' })

export const newPromptSession = z.object({
  project_id: identifier,
  name,
  description: text.nullish(),
})

export const promptSessionPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
})
