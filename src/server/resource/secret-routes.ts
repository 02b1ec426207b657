/** `/v1/env_var` and `/v1/ai_secret`. What they hold goes in, encrypted, and is never answered. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { previewSecret, type SecretBox } from '../../access/secret-box.ts'
import type { Entries, Patch } from '../../catalog/entry.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import {
  aiSecretPatch,
  aiSecretSchema,
  environmentVariableOwner,
  environmentVariablePatch,
  environmentVariableSchema,
  namedAiSecret,
  newAiSecret,
  newEnvironmentVariable,
} from '../../catalog/schema/secret.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { isOwnOrganization } from './list-query.ts'
import { mergedFields } from './merge.ts'
import type { PromptStore } from './prompt-store.ts'
import { present, resourceRoutes } from './resource.ts'

type Values = { readonly [field: string]: unknown }

export function secretRoutes(secrets: SecretBox, prompts: PromptStore): Route[] {
  return [...variableRoutes(secrets, prompts), ...aiSecretRoutes(secrets)]
}

function variableRoutes(secrets: SecretBox, prompts: PromptStore): Route[] {
  const fieldsOf = ({ value, ...fields }: Values, gate: Gate): Values => ({
    ...fields,
    ...(typeof value === 'string' && sealed(secrets, value, gate)),
  })
  return resourceRoutes({
    kind: 'env_var',
    path: '/v1/env_var',
    parameter: 'env_var',
    title: 'environment variable',
    schema: environmentVariableSchema,
    list: {
      query: { object_type: environmentVariableOwner.optional(), object_id: identifier.optional() },
      scope: ({ object_id }) => (typeof object_id === 'string' ? { parentId: object_id } : {}),
      matches: ({ object_type }) => {
        return (variable) => object_type === undefined || variable.object_type === object_type
      },
    },
    creation: {
      body: newEnvironmentVariable,
      put: 'replace',
      given: async (body, gate) => {
        if (body.object_type === 'function') {
          await prompts.require(gate, 'update', 'function', String(body.object_id))
        }
        const category = body.secret_type === undefined ? 'env_var' : 'ai_provider'
        return { secret_category: category, ...fieldsOf(body, gate) }
      },
      replacement: ['metadata', 'secret_type', 'sealed', 'preview_secret'],
    },
    patch: {
      body: environmentVariablePatch,
      changes: (body, gate) => (before) =>
        mergedFields(before, fieldsOf(body, gate)) as Patch<'env_var'>,
    },
    isRemovable: true,
  })
}

function aiSecretRoutes(secrets: SecretBox): Route[] {
  const fieldsOf = ({ secret, ...fields }: Values, gate: Gate): Values => ({
    ...fields,
    updated_at: new Date().toISOString(),
    ...(typeof secret === 'string' && sealed(secrets, secret, gate)),
  })
  const routes = resourceRoutes({
    kind: 'ai_secret',
    path: '/v1/ai_secret',
    parameter: 'ai_secret',
    title: 'AI secret',
    schema: aiSecretSchema,
    list: {
      query: { ai_secret_type: z.array(z.string()).optional() },
      matches: ({ ai_secret_type }) => {
        const types = Array.isArray(ai_secret_type) ? ai_secret_type : undefined
        return ({ type }) => types === undefined || types.includes(type)
      },
    },
    creation: {
      body: newAiSecret,
      put: 'replace',
      given: fieldsOf,
      replacement: ['type', 'metadata', 'sealed', 'preview_secret'],
    },
    patch: {
      body: aiSecretPatch,
      changes: (body, gate) => (before) =>
        mergedFields(before, fieldsOf(body, gate)) as Patch<'ai_secret'>,
    },
    isRemovable: true,
  })
  return [
    ...routes,
    operation({
      method: 'DELETE',
      path: '/v1/ai_secret',
      tag: 'AI secret',
      summary: 'Removes the AI secret of a name',
      body: namedAiSecret,
      answer: aiSecretSchema,
      handle: async ({ body: { name, org_name } }, gate) => {
        const isOwn = isOwnOrganization(gate, { org_name: org_name ?? undefined })
        const found = isOwn ? gate.named('ai_secret', gate.organization().id, name) : undefined
        if (!found) throw missingAccess('delete', 'ai_secret', name)
        const removed = await gate.remove('ai_secret', found.id)
        return jsonReply(present({ kind: 'ai_secret', schema: aiSecretSchema }, removed, gate))
      },
    }),
  ]
}

/** What a secret is kept as, and how it is told from others. */
function sealed(
  secrets: SecretBox,
  text: string,
  gate: Gate,
): Pick<
  Entries['ai_secret'],
  'sealed' | 'preview_secret' | 'secret_updated_at' | 'secret_updated_by_user_id'
> {
  const { organizationId, userId } = gate.principal
  return {
    sealed: secrets.seal(text, organizationId),
    preview_secret: previewSecret(text),
    secret_updated_at: new Date().toISOString(),
    secret_updated_by_user_id: userId,
  }
}
