import { z } from 'zod'
import type { Access } from '../../access/access.ts'
import { changeTokenOf, type StartedSession, sessionSeconds } from '../../access/sessions.ts'
import { aclObjectType } from '../../catalog/schema/access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { AssayError } from '../../error.ts'
import { readJsonBody } from '../ignored-fields.ts'
import { booleanField, requiredString, stringField } from '../json-body.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { checkQuery } from '../request-check.ts'
import type { Route, RouteRequest } from '../route.ts'
import { sessionCookie, sessionText } from '../session-cookie.ts'

interface SessionOptions {
  readonly access: Access
  readonly publicUrl: PublicUrl
}

/** `/session`: signing in at the web page, who is signed in, and signing out. */
export function sessionRoutes({ access, publicUrl }: SessionOptions): Route[] {
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
    const cookie = sessionCookie(started.text, url, sessionSeconds)
    return jsonReply(answer(started.text, started), { 'set-cookie': cookie, ...unstored })
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
        const organization = stringField(body, 'org_name')
        const started =
          key === undefined
            ? access.sessions.signIn({
                email: requiredString(body, 'email'),
                password: requiredString(body, 'password'),
                address: request.address,
                session: sessionText(request.headers.get('cookie')),
                ...(organization !== undefined && { organization }),
              })
            : access.sessions.start(
                access.authenticate({ token: key, address: () => request.address }),
              )
        return begun(request, await started)
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
        if (text !== undefined) await access.sessions.end(text)
        return jsonReply({}, { 'set-cookie': sessionCookie('', publicUrl(headers), 0) })
      },
    },
    {
      method: 'DELETE',
      path: '/session/all',
      access: 'key',
      headers: addressHeaders,
      handle: async ({ headers }, gate) => {
        await access.sessions.endAll(gate.principal)
        return jsonReply({}, { 'set-cookie': sessionCookie('', publicUrl(headers), 0) })
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

/** What somebody asks of, to show only what they may do. */
const rightsQuery = z.object({ object_type: aclObjectType, object_id: identifier })

const unstored = { 'cache-control': 'no-store' }

/** Nobody is signed in by another site's form. */
function requireOwnSite({ headers }: RouteRequest): void {
  if (headers.get('sec-fetch-site') !== 'cross-site') return
  throw new AssayError('ACCESS_DENIED', 'Signing in from another site is not possible')
}
