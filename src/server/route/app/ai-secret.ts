import { aiSecretSchema } from '../../../catalog/schema/secret.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { jsonReply } from '../../reply.ts'
import { present } from '../../resource/resource.ts'
import type { Route } from '../../route.ts'
import { checkOrganization } from './request.ts'

const shown = { kind: 'ai_secret', schema: aiSecretSchema } as const

export const appAiSecretRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/ai_secret/get',
    access: 'key',
    /** What is known of all secrets for providers of models, such as when each was renewed. */
    handle: async (request, gate) => {
      checkOrganization(await readJsonBody(request), gate)
      const secrets = [...gate.list('ai_secret')]
      return jsonReply(secrets.map((secret) => present(shown, secret, gate)))
    },
  },
]
