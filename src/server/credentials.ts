import type { HttpRequest } from 'uWebSockets.js'
import type { Credentials } from '../access/access.ts'
import { sessionText } from './session-cookie.ts'

/**
 * What the headers of a request say of who asks.
 *
 * @param changes whether it changes something, which a session may only from its own page
 */
export function credentialsOf(request: HttpRequest, changes: boolean): Credentials {
  return {
    session: sessionText(request.getHeader('cookie')),
    changeToken: changes ? request.getHeader('x-assay-change-token') : undefined,
    authorization: request.getHeader('authorization'),
    token: request.getHeader('x-bt-auth-token'),
    impersonate: request.getHeader('x-bt-impersonate-user'),
  }
}
