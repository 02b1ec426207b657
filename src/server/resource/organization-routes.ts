/** `/v1/organization` with its members, and `/v1/user`: who is here. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { expiryOf } from '../../access/key-expiry.ts'
import type { Person } from '../../access/people.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import {
  membersAnswer,
  membersPatch,
  organizationPatch,
  organizationSchema,
  userSchema,
} from '../../catalog/schema/access.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { cutPage, isOwnOrganization, pageQuery, readPage } from './list-query.ts'
import { mergedFields } from './merge.ts'
import { withoutNulls } from './resource.ts'

const tag = 'organization'
const texts = z.array(z.string()).optional()
const userQuery = pageQuery.extend({ given_name: texts, family_name: texts, email: texts })

export const organizationRoutes: readonly Route[] = [
  operation({
    method: 'GET',
    path: '/v1/organization',
    tag,
    summary: 'Lists the one organization that the key is for',
    query: pageQuery,
    answer: z.object({ objects: z.array(organizationSchema) }),
    handle: ({ query }, gate) => {
      const selection = { scope: {}, names: undefined, matches: () => true }
      return jsonReply({ objects: readPage(gate, 'organization', query, selection) })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/organization/:organization_id',
    tag,
    summary: 'Reads the organization',
    answer: organizationSchema,
    handle: ({ ids }, gate) => jsonReply(gate.require('read', 'organization', ids[0]!)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/organization/:organization_id',
    tag,
    summary: 'Changes fields of the organization',
    body: organizationPatch,
    answer: organizationSchema,
    handle: async ({ ids, body }, gate) => {
      const given = withoutNulls(body)
      const changes = (before: object) => mergedFields(before, given)
      return jsonReply(await gate.update('organization', ids[0]!, changes))
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/organization/members',
    tag,
    summary: 'Adds and removes members, and makes service accounts',
    body: membersPatch,
    answer: membersAnswer,
    handle: async ({ body }, gate) => jsonReply(await changeMembers(body, gate)),
  }),
  operation({
    method: 'GET',
    path: '/v1/user',
    tag: 'user',
    summary: 'Lists members of the organization, newest first',
    query: userQuery,
    answer: z.object({ objects: z.array(userSchema) }),
    handle: ({ query }, gate) => jsonReply({ objects: usersPage(query, gate) }),
  }),
  operation({
    method: 'GET',
    path: '/v1/user/:user_id',
    tag: 'user',
    summary: 'Reads a member of the organization',
    answer: userSchema,
    handle: ({ ids }, gate) => {
      const person = gate.people.get(ids[0]!)
      if (!person) throw missingAccess('read', 'user', ids[0]!)
      return jsonReply(person)
    },
  }),
]

async function changeMembers(body: z.infer<typeof membersPatch>, gate: Gate) {
  const { invite_users: invited, remove_users: removed, org_name, org_id } = body
  const asked = { org_name: org_name ?? undefined, org_id: org_id ?? undefined }
  if (!isOwnOrganization(gate, asked)) {
    throw missingAccess('update', 'organization', org_id ?? org_name ?? '')
  }
  const accounts = invited
    ? await gate.people.invite({
        ids: invited.ids ?? [],
        emails: invited.emails ?? [],
        serviceAccounts: (invited.service_accounts ?? []).map(
          ({ name, token_name, ...expiry }) => ({
            name,
            ...(typeof token_name === 'string' && { tokenName: token_name }),
            tokenExpires: expiryOf(expiry),
          }),
        ),
        groupIds: [...(invited.group_ids ?? []), ...(invited.group_id ? [invited.group_id] : [])],
        groupNames: [
          ...(invited.group_names ?? []),
          ...(invited.group_name ? [invited.group_name] : []),
        ],
      })
    : []
  if (removed) await gate.people.remove(removed.ids ?? [], removed.emails ?? [])
  return {
    status: 'success',
    org_id: gate.organization().id,
    ...(invited?.send_invite_emails && { send_email_error: 'This server sends no e-mail' }),
    ...(accounts.length > 0 && { added_users: accounts }),
  }
}

function usersPage(query: z.infer<typeof userQuery>, gate: Gate): Person[] {
  const { given_name, family_name, email, ids, id } = query
  const wanted = ids || id ? new Set([...(ids ?? []), ...(id ?? [])]) : undefined
  const emails = email && new Set(email.map((one) => one.toLowerCase()))
  const matches = (person: Person) =>
    (wanted === undefined || wanted.has(person.id)) &&
    isOneOf(person.given_name, given_name) &&
    isOneOf(person.family_name, family_name) &&
    (emails === undefined || emails.has(person.email?.toLowerCase() ?? ''))
  return cutPage(gate, query, {
    positionOf: (id) => gate.people.positionOf(id),
    from: (position) => gate.people.list(position),
    matches,
  })
}

function isOneOf(value: string | null, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || (value !== null && wanted.includes(value))
}
