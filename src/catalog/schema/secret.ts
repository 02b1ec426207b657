/** Environment variables and keys of model providers. What they hold is kept encrypted. */
import { z } from 'zod'
import { fields, identifier, name, shortText, timestamp } from './field.ts'

/** At most 64 KiB, which is more than any key or certificate has. */
const secretText = z.string().max(65_536)

export const environmentVariableOwner = z.enum(['organization', 'project', 'function'])

export const environmentVariableSchema = z
  .object({
    id: identifier,
    object_type: environmentVariableOwner,
    object_id: identifier,
    name,
    created: timestamp.nullable(),
    secret_updated_at: timestamp.nullable(),
    secret_updated_by_user_id: identifier.nullable(),
    used: timestamp.nullable(),
    metadata: fields.nullable(),
    preview_secret: shortText.nullable(),
    secret_type: shortText.nullable(),
    secret_category: z.enum(['env_var', 'ai_provider', 'sandbox_provider']),
  })
  .meta({ id: 'EnvVar' })

/** `sealed` is the value, encrypted, in base64; null when there is none. */
export const environmentVariableEntry = environmentVariableSchema.extend({
  org_id: identifier,
  sealed: z.string().nullable(),
})

const givenVariable = {
  value: secretText.nullish(),
  metadata: fields.nullish(),
  secret_type: shortText.nullish(),
}

export const newEnvironmentVariable = z.object({
  object_type: environmentVariableOwner,
  object_id: identifier,
  name,
  ...givenVariable,
})

export const environmentVariablePatch = z.object({ name, ...givenVariable })

export const aiSecretSchema = z
  .object({
    id: identifier,
    created: timestamp.nullable(),
    updated_at: timestamp.nullable(),
    secret_updated_at: timestamp.nullable(),
    org_id: identifier,
    name,
    type: shortText.nullable(),
    metadata: fields.nullable(),
    secret_updated_by_user_id: identifier.nullable(),
    preview_secret: shortText.nullable(),
  })
  .meta({ id: 'AISecret' })

export const aiSecretEntry = aiSecretSchema.extend({ sealed: z.string().nullable() })

const givenSecret = {
  type: shortText.nullish(),
  metadata: fields.nullish(),
  secret: secretText.nullish(),
}

export const newAiSecret = z.object({ name, ...givenSecret, org_name: name.nullish() })

export const aiSecretPatch = z.object({ name: name.nullish(), ...givenSecret })

export const namedAiSecret = z.object({ name, org_name: name.nullish() })
