/** `/v1/api_key` and `/v1/service_token`: what opens an organization, for people and for programs. */
import type { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { expiryOf } from '../../access/key-expiry.ts'
import type { ServiceToken } from '../../catalog/entry.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import {
  apiKeySchema,
  createdApiKey,
  createdServiceToken,
  namedServiceToken,
  newApiKey,
  newServiceToken,
  serviceTokenSchema,
} from '../../catalog/schema/access.ts'
import { operation } from '../operation.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'
import { isOwnOrganization } from './list-query.ts'
import { present, putIsDeprecated, type Resource, resourceRoutes } from './resource.ts'

const apiKeys: Resource<'api_key'> = {
  kind: 'api_key',
  path: '/v1/api_key',
  parameter: 'api_key',
  title: 'API key',
  schema: apiKeySchema,
  list: {},
  isRemovable: true,
  present: ({ user_id }, gate) => {
    const user = gate.people.get(user_id)
    return {
      user_email: user?.email,
      user_given_name: user?.given_name,
      user_family_name: user?.family_name,
    }
  },
}

const serviceTokens: Resource<'service_token'> = {
  kind: 'service_token',
  path: '/v1/service_token',
  parameter: 'service_token',
  title: 'service token',
  schema: serviceTokenSchema,
  list: {},
  isRemovable: true,
  present: ({ service_account_id }, gate) => {
    const account = gate.people.get(service_account_id)
    return { service_account_email: account?.email, service_account_name: account?.given_name }
  },
}

export const keyRoutes: readonly Route[] = [
  operation({
    method: 'POST',
    path: apiKeys.path,
    tag: apiKeys.title,
    summary: 'Makes an API key of one’s own, whose text is shown in this answer only',
    body: newApiKey,
    answer: createdApiKey,
    handle: async ({ body: { name, org_name, ...expiry } }, gate) => {
      checkOrganization(org_name, gate)
      const { key, text } = await gate.keys.create(name, expiryOf(expiry))
      return jsonReply({ ...present(apiKeys, key, gate), key: text })
    },
  }),
  ...resourceRoutes(apiKeys),
  operation({
    method: 'POST',
    path: serviceTokens.path,
    tag: serviceTokens.title,
    summary: 'Makes a token of a service account, whose text is shown in this answer only',
    body: newServiceToken,
    answer: createdServiceToken,
    handle: ({ body }, gate) => createToken(body, gate, false),
  }),
  operation({
    method: 'PUT',
    path: serviceTokens.path,
    tag: serviceTokens.title,
    summary: 'Makes a token in the place of those of the account that have the name',
    body: newServiceToken,
    answer: createdServiceToken,
    isDeprecated: true,
    handle: async ({ body }, gate) => {
      const reply = await createToken(body, gate, true)
      return { ...reply, headers: { ...reply.headers, ...putIsDeprecated(serviceTokens.path) } }
    },
  }),
  operation({
    method: 'DELETE',
    path: serviceTokens.path,
    tag: serviceTokens.title,
    summary: 'Revokes a service token',
    body: namedServiceToken,
    answer: serviceTokenSchema,
    handle: async ({ body: { id } }, gate) => {
      const token: ServiceToken = await gate.remove('service_token', id)
      return jsonReply(present(serviceTokens, token, gate))
    },
  }),
  ...resourceRoutes(serviceTokens),
]

async function createToken(
  { name, service_account_id, org_name, ...expiry }: z.infer<typeof newServiceToken>,
  gate: Gate,
  replace: boolean,
): Promise<Reply> {
  checkOrganization(org_name, gate)
  const expires = expiryOf(expiry)
  const { token, text } = await gate.keys.createToken(service_account_id, name, replace, expires)
  return jsonReply({ ...present(serviceTokens, token, gate), key: text })
}

function checkOrganization(org_name: string | null | undefined, gate: Gate): void {
  if (typeof org_name !== 'string' || isOwnOrganization(gate, { org_name })) return
  throw missingAccess('create', 'organization', org_name)
}
