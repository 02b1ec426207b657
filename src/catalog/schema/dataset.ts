import { z } from 'zod'
import { fields, identifier, name, shortText, tags, text, timestamp, version } from './field.ts'

export const datasetSchema = z
  .object({
    id: identifier,
    project_id: identifier,
    name,
    description: text.nullable(),
    created: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    user_id: identifier.nullable(),
    tags: tags.nullable(),
    metadata: fields.nullable(),
    url_slug: shortText,
  })
  .meta({ id: 'Dataset' })

const given = {
  description: text.nullish(),
  tags: tags.nullish(),
  metadata: fields.nullish(),
}

export const newDataset = z.object({ project_id: identifier, name, ...given })

export const datasetPatch = z.object({ name: name.nullish(), ...given })

/** A version of a dataset under a name. */
export const datasetSnapshotSchema = z
  .object({
    id: identifier,
    dataset_id: identifier,
    name,
    description: text.nullable(),
    xact_id: shortText,
    created: timestamp.nullable(),
  })
  .meta({ id: 'DatasetSnapshot' })

export const newDatasetSnapshot = z.object({
  dataset_id: identifier,
  name,
  description: text.nullish(),
  xact_id: version,
})

export const datasetSnapshotPatch = z.object({
  name: name.nullish(),
  description: text.nullish(),
})
