/** Signing in by a real provider of OpenID Connect, over real sockets: who comes in, and as whom. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProvidedService } from '../../support/provider-sign-in.ts'

let provided: ProvidedService

beforeAll(async () => {
  provided = await ProvidedService.start({
    ASSAY_OIDC_JOIN_DOMAINS: 'example.com',
    ASSAY_OIDC_OWNERS: 'Boss@Example.org',
    ASSAY_OIDC_NEW_MEMBER_GROUPS: 'Viewers, not there',
  })
  const { people } = provided.idp
  const person = (name: string, email: string, more: object = {}) =>
    people.set(name, { email, email_verified: true, ...more })
  person('ada', 'ada@example.com', { given_name: 'Ada', family_name: 'Lovelace' })
  person('bob', 'bob@elsewhere.org')
  person('boss', 'boss@example.org')
  person('guest', 'Guest@elsewhere.org')
  person('unverified', 'unverified@example.com', { email_verified: false })
  person('silent', 'silent@example.com', { email_verified: undefined })
  people.set('nameless', {})
  person('below', 'x@mail.example.com')
  person('gone', 'gone@example.com')
  person('first', 'shared@example.com')
  person('second', 'shared@example.com')
  provided.provide()
})
afterAll(() => provided.stop())

describe('who has no invitation', () => {
  test('joins from a domain that the operator has named, in the groups for new members', async () => {
    const { session } = await provided.signIn('ada')
    expect(session).toMatchObject({
      user: { email: 'ada@example.com', given_name: 'Ada', family_name: 'Lovelace' },
      organization: { name: 'default' },
    })
    expect(await provided.groups('ada@example.com')).toEqual(['Viewers'])
  })

  test.each([
    ['bob', /bob@elsewhere\.org has no invitation/],
    ['below', /x@mail\.example\.com has no invitation/],
    ['unverified', /does not say that the address unverified@example\.com is verified/],
    ['silent', /does not say that the address silent@example\.com is verified/],
    ['nameless', /has told no e-mail address/],
  ])('%s is told why not, and what to do', async (name, words) => {
    const { status, text, headers } = await provided.tried(name)
    expect(status).toBe(403)
    expect(text).toMatch(words)
    expect(text).toMatch(/What to do: /)
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^assay_sign_in_.*Max-Age=0/)])
  })

  test('becomes an owner where the operator has said so', async () => {
    await provided.signIn('boss')
    expect(await provided.groups('boss@example.org')).toEqual(['Owners', 'Viewers'])
  })
})
