import { z } from 'zod'
import type { Access } from '../../access/access.ts'
import { changeTokenOf, type StartedSession } from '../../access/sessions.ts'
import type { SignInSettings } from '../../access/sign-in-settings.ts'
import { aclObjectType } from '../../catalog/schema/access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { AssayError } from '../../error.ts'
import { readJsonBody } from '../ignored-fields.ts'
import { booleanField, requiredString, stringField } from '../json-body.ts'
import type { Logger } from '../logger.ts'
import type { OpenIdSignIn } from '../openid/sign-in.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { checkQuery } from '../request-check.ts'
import type { Route, RouteRequest } from '../route.ts'
import { sessionCookie, sessionText } from '../session-cookie.ts'

interface SessionOptions {
  readonly access: Access
  readonly publicUrl: PublicUrl
  readonly logger: Logger
  readonly settings: SignInSettings
  /** Of the operator, who is not locked out. */
  readonly bootstrapKey: string | undefined
  readonly openId: OpenIdSignIn | undefined
}

/** `/session`: signing in at the web page, who is signed in, and signing out. */
export function sessionRoutes(options: SessionOptions): Route[] {
  const { access, publicUrl, settings, openId } = options
  const answer = (text: string, { principal }: Pick<StartedSession, 'principal'>) => {
    const gate = access.gate(principal)
    const { id, email, given_name, family_name } = gate.people.self()
    const organization = gate.organization()
    return {
      user: { id, email, given_name, family_name },
      organization: { id: organization.id, name: organization.name },
      preferences: gate.people.preferences(),
      change_token: changeTokenOf(text),
    }
  }
  const begun = (request: RouteRequest, started: StartedSession): Reply => {
    const url = publicUrl(request.headers)
    const cookie = sessionCookie(started.text, url, started.seconds)
    return jsonReply(answer(started.text, started), { 'set-cookie': cookie, ...unstored })
  }
  /** Made while the session is still there: the provider is told whose it was. */
  const ended = (headers: ReadonlyMap<string, string>, text: string | undefined): Reply => {
    const url = publicUrl(headers)
    const token = text === undefined ? undefined : access.sessions.idTokenOf(text)
    const provider_url = openId?.signOutUrl(token, url) ?? null
    return jsonReply({ provider_url }, { 'set-cookie': sessionCookie('', url, 0), ...unstored })
  }
  return [
    {
      method: 'POST',
      path: '/session',
      access: 'open',
      headers: [...addressHeaders, 'sec-fetch-site', 'cookie'],
      handle: async (request) => {
        requireOwnSite(request)
        const body = await readJsonBody(request)
        const key = stringField(body, 'api_key')
        const started =
          key === undefined ? byPassword(options, request, body) : byKey(options, request, key)
        const { principal, ...session } = await started
        const { userId, organizationId } = principal
        const way = key === undefined ? 'password' : 'key'
        options.logger.info({ userId, organizationId, way }, 'signed in')
        return begun(request, { principal, ...session })
      },
    },
    {
      method: 'GET',
      path: '/session/ways',
      access: 'open',
      handle: async () => {
        const { password, key } = settings
        const fault = await openId?.provider.fault()
        const provider = openId && {
          label: openId.provider.settings.label,
          fault: fault === undefined ? null : fault.message,
        }
        return jsonReply({ password, key, provider: provider ?? null }, unstored)
      },
    },
    {
      method: 'GET',
      path: '/session',
      access: 'open',
      headers: ['cookie'],
      handle: ({ headers }) => {
        const text = sessionText(headers.get('cookie'))
        const principal = text === undefined ? undefined : access.sessions.find(text)
        if (text === undefined || !principal) {
          throw new AssayError('ACCESS_UNAUTHENTICATED', 'Nobody is signed in')
        }
        return jsonReply(answer(text, { principal }), unstored)
      },
    },
    {
      method: 'DELETE',
      path: '/session',
      access: 'key',
      headers: [...addressHeaders, 'cookie'],
      handle: async ({ headers }) => {
        const text = sessionText(headers.get('cookie'))
        const reply = ended(headers, text)
        if (text !== undefined) await access.sessions.end(text)
        return reply
      },
    },
    {
      method: 'DELETE',
      path: '/session/all',
      access: 'key',
      headers: [...addressHeaders, 'cookie'],
      handle: async ({ headers }, gate) => {
        const reply = ended(headers, sessionText(headers.get('cookie')))
        await access.sessions.endAll(gate.principal)
        return reply
      },
    },
    {
      method: 'GET',
      path: '/session/rights',
      access: 'key',
      handle: ({ query }, gate) => {
        const { object_type, object_id } = checkQuery(rightsQuery, query).value
        return jsonReply(gate.permissionsOn(object_type, object_id))
      },
    },
    {
      method: 'PATCH',
      path: '/session/preferences',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readJsonBody(request)
        const query_language = booleanField(body, 'query_language')
        if (query_language !== undefined) await gate.people.choose({ query_language })
        return jsonReply(gate.people.preferences())
      },
    },
    {
      method: 'PUT',
      path: '/session/password',
      access: 'key',
      headers: addressHeaders,
      handle: async (request, gate) => {
        requirePasswords(settings)
        const body = await readJsonBody(request)
        const password = requiredString(body, 'password')
        const current = stringField(body, 'current_password') ?? ''
        const { principal } = gate
        await access.sessions.setPassword(principal, password, current)
        return begun(request, await access.sessions.start({ ...principal, keyId: null }))
      },
    },
  ]
}

type Body = Awaited<ReturnType<typeof readJsonBody>>

async function byPassword(
  { access, settings }: SessionOptions,
  { address, headers }: RouteRequest,
  body: Body,
): Promise<StartedSession> {
  const email = requiredString(body, 'email')
  const password = requiredString(body, 'password')
  requirePasswords(settings)
  const organization = stringField(body, 'org_name')
  return access.sessions.signIn({
    email,
    password,
    address,
    session: sessionText(headers.get('cookie')),
    ...(organization !== undefined && { organization }),
  })
}

async function byKey(
  { access, settings, bootstrapKey }: SessionOptions,
  { address }: RouteRequest,
  key: string,
): Promise<StartedSession> {
  // Whether the key is right is found out first, and counted, so that this tells nothing of the operator's.
  const principal = access.authenticate({ token: key, address: () => address })
  if (!settings.key && key.trim() !== bootstrapKey) {
    throw new AssayError('ACCESS_DENIED', 'API keys do not sign in at this service', {
      hint: 'sign in by the provider; the operator’s key, ASSAY_BOOTSTRAP_KEY, still does',
    })
  }
  return access.sessions.start(principal)
}

function requirePasswords({ password }: SignInSettings): void {
  if (password) return
  throw new AssayError('ACCESS_DENIED', 'Passwords do not sign in at this service', {
    hint: 'sign in by the provider, or with the operator’s key',
  })
}

/** What somebody asks of, to show only what they may do. */
const rightsQuery = z.object({ object_type: aclObjectType, object_id: identifier })

const unstored = { 'cache-control': 'no-store' }

/** Nobody is signed in by another site's form. */
function requireOwnSite({ headers }: RouteRequest): void {
  if (headers.get('sec-fetch-site') !== 'cross-site') return
  throw new AssayError('ACCESS_DENIED', 'Signing in from another site is not possible')
}
