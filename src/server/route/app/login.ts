import type { Access } from '../../../access/access.ts'
import type { Principal } from '../../../access/principal.ts'
import { parseJsonBody, stringField } from '../../json-body.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

export interface LoginOptions {
  readonly access: Access
  readonly publicUrl: PublicUrl
}

/** Where clients learn their organization and the server's other addresses, which are all this one. */
export function loginRoutes(options: LoginOptions): Route[] {
  const { access, publicUrl } = options
  return [
    {
      method: 'POST',
      path: '/api/apikey/login',
      access: 'open',
      headers: ['authorization', 'x-bt-auth-token', ...addressHeaders],
      handle: async (request) => {
        const gate = access.gate(await login(request, access))
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
async function login(request: RouteRequest, access: Access): Promise<Principal> {
  const authorization = request.headers.get('authorization')
  const headerToken = request.headers.get('x-bt-auth-token')
  const address = () => request.address
  const body = await request.body
  if (authorization !== undefined || headerToken !== undefined || body.length === 0) {
    return access.authenticate({ authorization, token: headerToken, address })
  }
  return access.authenticate({ token: stringField(parseJsonBody(body), 'token'), address })
}
