/** Groups of a real provider as groups here: taken over, taken back, and told from those that people give. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProvidedService } from '../../support/provider-sign-in.ts'

let provided: ProvidedService

beforeAll(async () => {
  provided = await ProvidedService.start(
    {
      ASSAY_OIDC_GROUPS_CLAIM: 'groups',
      ASSAY_OIDC_GROUPS: '{"cn=ops,ou=it":"Owners"}',
      ASSAY_OIDC_REQUIRED_GROUP: 'assay',
      ASSAY_OIDC_TRUST_EMAILS: 'on',
    },
    { isTokenWhole: true },
  )
  await provided.service.request('/v1/group', { body: { name: 'reviewers' } })
})
afterAll(() => provided.stop())

let count = 0

/** Somebody new, as the provider says. */
function person(claims: object): string {
  const name = `person${++count}`
  claim(name, claims)
  return name
}

function claim(name: string, claims: object): void {
  provided.idp.people.set(name, { email: `${name}@example.com`, email_verified: true, ...claims })
  provided.provide()
}

const groups = (name: string) => provided.groups(`${name}@example.com`)

async function setGroup(
  name: string,
  group: string,
  key: 'add_member_users' | 'remove_member_users',
) {
  const { json: found } = await provided.service.request(`/v1/group?group_name=${group}`)
  const { json: people } = await provided.service.request(`/v1/user?email=${name}@example.com`)
  const [it] = found.objects as unknown as { id: string }[]
  const [user] = people.objects as unknown as { id: string }[]
  await provided.service.request(`/v1/group/${it!.id}`, {
    method: 'PATCH',
    body: { [key]: [user!.id] },
  })
}

describe('groups of the provider', () => {
  test('are those here of the same name; others are passed over', async () => {
    const name = person({ groups: ['assay', 'reviewers', 'Engineers', 'nowhere'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual(['Engineers', 'reviewers'])
  })

  test('make owners only where the operator has said which', async () => {
    const name = person({ groups: ['assay', 'Owners'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual([])
    claim(name, { groups: ['assay', 'cn=ops,ou=it'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual(['Owners'])
    claim(name, { groups: ['assay'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual([])
  })

  test('are left when they are claimed no more; those given by people stay', async () => {
    const name = person({ groups: ['assay', 'reviewers'] })
    await provided.signIn(name)
    await setGroup(name, 'Viewers', 'add_member_users')
    claim(name, { groups: ['assay', 'Engineers'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual(['Engineers', 'Viewers'])
  })

  test('of which somebody was a member before are not the provider’s to take', async () => {
    const name = person({ groups: ['assay'] })
    await provided.signIn(name)
    await setGroup(name, 'reviewers', 'add_member_users')
    claim(name, { groups: ['assay', 'reviewers'] })
    await provided.signIn(name)
    claim(name, { groups: ['assay'] })
    await provided.signIn(name)
    expect(await groups(name)).toEqual(['reviewers'])
  })

  test('that somebody was taken out of by hand come back while they are claimed', async () => {
    const name = person({ groups: ['assay', 'reviewers'] })
    await provided.signIn(name)
    await setGroup(name, 'reviewers', 'remove_member_users')
    await provided.signIn(name)
    expect(await groups(name)).toEqual(['reviewers'])
  })

  test('may be one text, and may be asked for beside the token', async () => {
    const name = person({ groups: 'assay' })
    provided.provide({ isTokenWhole: false })
    await provided.signIn(name)
    expect(await groups(name)).toEqual([])
  })
})

test('addresses of which the provider says nothing are trusted where the operator does', async () => {
  await provided.signIn(person({ groups: ['assay'], email_verified: undefined }))
  const { status, text } = await provided.tried(
    person({ groups: ['assay'], email_verified: false }),
  )
  expect([status, text]).toEqual([403, expect.stringContaining('is not verified')])
})

describe('nobody gets in', () => {
  test.each([
    [
      'out of the required group',
      { groups: ['reviewers'] },
      403,
      'not in the group &quot;assay&quot;',
    ],
    ['without the claim', {}, 403, 'not in the group &quot;assay&quot;'],
    ['with an object for a claim', { groups: { assay: true } }, 502, 'no list of names of groups'],
    ['with objects in it', { groups: [{ name: 'assay' }] }, 502, 'no list of names of groups'],
    ['with a number', { groups: 7 }, 502, 'no list of names of groups'],
    [
      'in too many groups',
      { groups: Array.from({ length: 1001 }, String) },
      502,
      'more groups than',
    ],
    [
      'in so many that they are told elsewhere',
      {
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://x.example' } },
      },
      502,
      'more groups than',
    ],
    ['in so many that there is a mark only', { hasgroups: 'true' }, 502, 'more groups than'],
  ])('%s', async (_, claims, status, words) => {
    const answer = await provided.tried(person(claims))
    expect(answer.status, answer.text).toBe(status)
    expect(answer.text).toContain(words)
    expect(answer.text).toContain('What to do: ')
  })

  test('when the group is lost at the provider, at the next sign-in', async () => {
    const name = person({ groups: ['assay'] })
    await provided.signIn(name)
    claim(name, { groups: [] })
    expect((await provided.tried(name)).status).toBe(403)
  })
})

test('the last owner stays one, whatever the provider says', async () => {
  const name = person({ groups: ['assay', 'cn=ops,ou=it'] })
  const { client, session } = await provided.signIn(name)
  await setGroup('person2', 'Owners', 'remove_member_users')
  const { json: found } = await provided.service.request('/v1/user?email=owner@localhost')
  const [operator] = found.objects as unknown as { id: string }[]
  const { status, text } = await provided.service.request('/v1/organization/members', {
    method: 'PATCH',
    key: null,
    body: { remove_users: { ids: [operator!.id] } },
    headers: {
      cookie: client.cookies(provided.service.url),
      'x-assay-change-token': String(session.change_token),
    },
  })
  expect(status, text).toBe(200)
  claim(name, { groups: ['assay', 'reviewers'] })
  const after = await provided.signIn(name)
  const own = async (path: string) =>
    JSON.parse((await after.client.get(provided.service.url + path)).text) as {
      objects: { name: string; member_users: string[] | null }[]
    }
  const mine = (await own('/v1/group')).objects.filter(({ member_users }) =>
    member_users?.includes(String(after.session.user?.id)),
  )
  expect(mine.map((group) => group.name).sort()).toEqual(['Owners', 'reviewers'])
})
