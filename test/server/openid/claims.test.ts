/** What is made of a provider's claims, whatever they are. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../../src/error.ts'
import { accountOf, hasAll, merged } from '../../../src/server/openid/claims.ts'

const issuer = 'https://login.example.com'
const account = (claims: object, groupsClaim?: string) =>
  accountOf({ sub: 's', ...claims }, { groupsClaim, issuer })

describe('an address', () => {
  test.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    [1, false],
    [null, undefined],
    [undefined, undefined],
  ])('with email_verified %j is verified: %j', (email_verified, isEmailVerified) => {
    expect(account({ email: 'a@b.c', email_verified })).toMatchObject({
      email: 'a@b.c',
      isEmailVerified,
    })
  })

  test.each(['', ' ', 'ada', 'a@b@c', 'a b@c', 7, null, ['a@b.c'], `${'a'.repeat(320)}@b.c`])(
    'that is %j is none',
    (email) => {
      expect(account({ email }).email).toBeUndefined()
    },
  )

  test('is never called verified by what was said of another', () => {
    const token = { email: 'chosen@example.com' }
    const info = { email: 'own@example.com', email_verified: true }
    expect(account(merged(token, info))).toMatchObject({
      email: 'own@example.com',
      isEmailVerified: true,
    })
    const verifiedAlone = merged(token, { email_verified: true })
    expect(account(verifiedAlone)).toMatchObject({
      email: 'chosen@example.com',
      isEmailVerified: undefined,
    })
    const signed = merged({ ...token, email_verified: false }, info)
    expect(account(signed)).toMatchObject({ email: 'chosen@example.com', isEmailVerified: false })
  })
})

describe('groups', () => {
  test.each([
    ['groups', { groups: ['a', 'b'] }, ['a', 'b']],
    ['groups', { groups: [] }, []],
    ['groups', { groups: null }, []],
    ['groups', {}, []],
    ['realm_access.roles', { realm_access: { roles: ['a'] } }, ['a']],
    ['realm_access.roles', { 'realm_access.roles': ['b'], realm_access: { roles: ['a'] } }, ['b']],
    ['https://example.com/groups', { 'https://example.com/groups': ['a'] }, ['a']],
    ['toString', {}, []],
    ['groups.length', { groups: 'text' }, []],
  ])('%s of %j are %j', (name, claims, groups) => {
    expect(account(claims, name).groups).toEqual(groups)
  })

  test('are asked for only where they are not there', () => {
    const whole = { email: 'a@b.c', email_verified: true }
    expect(hasAll(whole, undefined)).toBe(true)
    expect(hasAll(whole, 'groups')).toBe(false)
    expect(hasAll({ ...whole, groups: [] }, 'groups')).toBe(true)
  })
})

test('any claims are read, or refused in words', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom(
          'email',
          'email_verified',
          'groups',
          'given_name',
          '_claim_names',
          'hasgroups',
        ),
        fc.jsonValue(),
      ),
      (claims) => {
        try {
          const { email, groups } = account(claims, 'groups')
          expect(email === undefined || email.includes('@')).toBe(true)
          expect(groups?.every((name) => typeof name === 'string')).toBe(true)
        } catch (thrown) {
          if (!(thrown instanceof AssayError)) throw thrown
          expect(thrown.hint).toBeDefined()
        }
      },
    ),
  )
})
