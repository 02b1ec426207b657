import type { Credentials } from '../access/access.ts'
import type { Connected, RequestHead } from './http/http-server.ts'
import { clientAddress } from './public-url.ts'
import { sessionText } from './session-cookie.ts'

/** Tells where a request comes from; asked in the turn in which it has come. */
export class ClientAddresses {
  readonly #trustedProxies: number

  constructor(trustedProxies: number) {
    this.#trustedProxies = trustedProxies
  }

  of({ address }: Connected, request: RequestHead): string {
    if (this.#trustedProxies === 0) return address
    // Some proxies add a line of their own behind those that the client has sent.
    const told: string[] = []
    request.forEach((name, value) => {
      if (name === 'x-forwarded-for') told.push(value)
    })
    return clientAddress(address, told.join(','), this.#trustedProxies)
  }
}

/**
 * What the headers of a request say of who asks.
 *
 * @param address asked only of wrong keys
 * @param changes whether it changes something, which a session may only from its own page
 */
export function credentialsOf(
  request: RequestHead,
  changes: boolean,
  address: () => string,
): Credentials {
  const session = sessionText(request.getHeader('cookie'))
  const isSessionsChange = changes && session !== undefined
  return {
    session,
    changeToken: isSessionsChange ? request.getHeader('x-assay-change-token') : undefined,
    authorization: request.getHeader('authorization'),
    token: request.getHeader('x-bt-auth-token'),
    address,
    impersonate: request.getHeader('x-bt-impersonate-user'),
  }
}

/** Whether they say who asks at all. */
export function hasCredentials({ session, authorization, token }: Credentials): boolean {
  return session !== undefined || Boolean(authorization || token)
}
