import type { Authenticator, Principal } from '../../../access/authenticate.ts'
import { Gate } from '../../../access/gate.ts'
import type { Engine } from '../../../engine.ts'
import { parseJsonBody, stringField } from '../../json-body.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

export interface LoginOptions {
  readonly engine: Engine
  readonly authenticator: Authenticator
  readonly publicUrl: PublicUrl
}

/** Where clients learn their organization and the server's other addresses, which are all this one. */
export function loginRoutes(options: LoginOptions): Route[] {
  const { engine, authenticator, publicUrl } = options
  return [
    {
      method: 'POST',
      path: '/api/apikey/login',
      access: 'open',
      headers: ['authorization', 'x-bt-auth-token', ...addressHeaders],
      handle: async (request) => {
        const gate = new Gate(engine.catalog, await login(request, authenticator))
        const { id, name } = gate.organization()
        const url = publicUrl(request.headers)
        return jsonReply({
          org_info: [
            {
              id,
              name,
              api_url: url,
              git_metadata: null,
              is_universal_api: null,
              proxy_url: url,
              realtime_url: null,
            },
          ],
        })
      },
    },
  ]
}

/** Clients before 0.0.150 send no header, but the key as `token` in the body. */
async function login(request: RouteRequest, authenticator: Authenticator): Promise<Principal> {
  const authorization = request.headers.get('authorization')
  const headerToken = request.headers.get('x-bt-auth-token')
  const body = await request.body
  if (authorization !== undefined || headerToken !== undefined || body.length === 0) {
    return authenticator.authenticate({ authorization, token: headerToken })
  }
  return authenticator.authenticate({ token: stringField(parseJsonBody(body), 'token') })
}
