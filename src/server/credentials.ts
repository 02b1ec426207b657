import type { HttpRequest } from 'uWebSockets.js'
import type { Credentials } from '../access/access.ts'
import { sessionText } from './session-cookie.ts'

/**
 * What the headers of a request say of who asks.
 *
 * @param changes whether it changes something, which a session may only from its own page
 */
export function credentialsOf(request: HttpRequest, changes: boolean): Credentials {
  const session = sessionText(request.getHeader('cookie'))
  const isSessionsChange = changes && session !== undefined
  return {
    session,
    changeToken: isSessionsChange ? request.getHeader('x-assay-change-token') : undefined,
    authorization: request.getHeader('authorization'),
    token: request.getHeader('x-bt-auth-token'),
    impersonate: request.getHeader('x-bt-impersonate-user'),
  }
}
