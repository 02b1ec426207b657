import { AssayError } from '../../error.ts'
import type { Logger } from '../logger.ts'
import { failurePage } from '../openid/failure-page.ts'
import { callbackPath, type OpenIdSignIn, openIdPath } from '../openid/sign-in.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import { sessionCookie } from '../session-cookie.ts'

interface OpenIdOptions {
  /** Undefined where no provider is set. */
  readonly signIn: OpenIdSignIn | undefined
  readonly publicUrl: PublicUrl
  readonly logger: Logger
}

const headers = [...addressHeaders, 'cookie', 'accept']

/** Signing in by a provider of OpenID Connect: there, and back. The browser itself comes to both addresses. */
export function openIdRoutes({ signIn, publicUrl, logger }: OpenIdOptions): Route[] {
  const configured = () => {
    if (signIn) return signIn
    throw new AssayError('ROUTE_NOT_FOUND', 'This service has no provider to sign in by', {
      hint: 'the operator sets one with --oidc-issuer',
    })
  }
  return [
    {
      method: 'GET',
      path: openIdPath,
      access: 'open',
      headers,
      handle: (request) => {
        const flow = configured()
        const url = publicUrl(request.headers)
        return orPage({ request, url, logger }, async () => {
          const cookies = request.headers.get('cookie')
          // Who is somebody else at the provider is asked anew.
          const isAskedAnew = request.query.get('prompt') === 'login'
          const begun = await flow.begin(url, cookies, isAskedAnew)
          return sentTo(begun.location, begun.cookies)
        })
      },
    },
    {
      method: 'GET',
      path: callbackPath,
      access: 'open',
      headers,
      handle: (request) => {
        const flow = configured()
        const url = publicUrl(request.headers)
        const { query, address } = request
        const cookies = request.headers.get('cookie')
        const ended = flow.forget(url, query.get('state'))
        return orPage({ request, url, logger, cookies: ended }, async () => {
          const admitted = await flow.finish({ publicUrl: url, query, cookies, address })
          const { principal, text, seconds, admission } = admitted
          const { userId, organizationId } = principal
          const { issuer } = flow.provider.settings
          logger.info({ userId, organizationId, way: 'openid', issuer, admission }, 'signed in')
          return sentTo(`${url}/app`, [sessionCookie(text, url, seconds), ...ended])
        })
      },
    },
  ]
}

function sentTo(location: string, cookies: readonly string[]): Reply {
  return {
    status: 303,
    headers: {
      location,
      'set-cookie': cookies,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
    body: '',
  }
}

interface Asked {
  readonly request: RouteRequest
  /** The public URL. */
  readonly url: string
  readonly logger: Logger
  /** That go with an answer of what went wrong. */
  readonly cookies?: readonly string[]
}

/** A browser is shown a page of what went wrong; a program gets it as everywhere. */
async function orPage(
  { request, url, logger, cookies = [] }: Asked,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await answer()
  } catch (thrown) {
    if (!(thrown instanceof AssayError) || thrown.family === 'internal') throw thrown
    const { code, message } = thrown
    // Not the cause: it may hold what the provider has sent.
    logger.warn({ way: 'openid', code, reason: message }, 'not signed in')
    if (!request.headers.get('accept')?.includes('text/html')) throw thrown
    return failurePage(thrown, { url, cookies })
  }
}
