import { z } from 'zod'
import { fields, identifier, name, shortText, tags, text, timestamp } from './field.ts'

/** The state of the repository that an experiment was run from. */
export const repositoryState = z.looseObject({
  commit: shortText.nullish(),
  branch: shortText.nullish(),
  tag: shortText.nullish(),
  dirty: z.boolean().nullish(),
  author_name: shortText.nullish(),
  author_email: shortText.nullish(),
  commit_message: text.nullish(),
  commit_time: shortText.nullish(),
  git_diff: z.string().max(1_000_000).nullish(),
})

export const experimentSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    name,
    description: text.nullable(),
    created: timestamp.nullable(),
    repo_info: repositoryState.nullable(),
    commit: shortText.nullable(),
    base_exp_id: identifier.nullable(),
    deleted_at: timestamp.nullable(),
    dataset_id: identifier.nullable(),
    dataset_version: shortText.nullable(),
    internal_metadata: fields.nullable(),
    parameters_id: identifier.nullable(),
    parameters_version: shortText.nullable(),
    public: z.boolean(),
    user_id: identifier.nullable(),
    metadata: fields.nullable(),
    tags: tags.nullable(),
  })
  .meta({ id: 'Experiment' })

const given = {
  description: text.nullish(),
  repo_info: repositoryState.nullish(),
  base_exp_id: identifier.nullish(),
  dataset_id: identifier.nullish(),
  dataset_version: shortText.nullish(),
  internal_metadata: fields.nullish(),
  parameters_id: identifier.nullish(),
  parameters_version: shortText.nullish(),
  public: z.boolean().nullish(),
  metadata: fields.nullish(),
  tags: tags.nullish(),
}

/** Without a name, one is made up. */
export const newExperiment = z.object({
  project_id: identifier,
  name: name.nullish(),
  ...given,
  ensure_new: z.boolean().nullish(),
})

export const experimentPatch = z.object({ name: name.nullish(), ...given })
