/** What a provider says of a person, from the id_token and what it tells besides. */
import type { ProviderAccount } from '../../access/openid-members.ts'
import { AssayError } from '../../error.ts'

type Claims = Readonly<Record<string, unknown>>

/** No organization sorts its people into more; a claim of more is a mistake. */
const mostGroups = 1000
const longestText = 1000

/** Whether what is needed is in the id_token, so that the provider need not be asked for more. */
export function hasAll(claims: Claims, groupsClaim: string | undefined): boolean {
  const isEmailThere = claims.email !== undefined && claims.email_verified !== undefined
  return isEmailThere && (groupsClaim === undefined || claimAt(claims, groupsClaim) !== undefined)
}

/**
 * Those of the id_token, which are signed, before those of the other answer. Whether an address is verified is
 * told of the address beside it, never of that in the other.
 */
export function merged(claims: Claims, userInfo: Claims = {}): Claims {
  const isTold = claims.email !== undefined && claims.email_verified !== undefined
  const source = isTold || userInfo.email === undefined ? claims : userInfo
  const { email, email_verified } = source
  return { ...userInfo, ...claims, email, email_verified }
}

export function accountOf(
  claims: Claims,
  { groupsClaim, issuer }: { readonly groupsClaim: string | undefined; readonly issuer: string },
): Omit<ProviderAccount, 'idToken'> {
  return {
    issuer,
    subject: String(claims.sub),
    email: emailOf(claims.email),
    isEmailVerified: truthOf(claims.email_verified),
    givenName: textOf(claims.given_name),
    familyName: textOf(claims.family_name),
    groups: groupsClaim === undefined ? undefined : groupsOf(claims, groupsClaim),
  }
}

/** One that is not there names no groups. */
function groupsOf(claims: Claims, name: string): string[] {
  const value = claimAt(claims, name)
  if (value === undefined || value === null) {
    requireNoOverage(claims, name)
    return []
  }
  const names = typeof value === 'string' ? [value] : value
  const areTexts = Array.isArray(names) && names.every((one) => typeof one === 'string')
  if (!areTexts) {
    throw groupsFault(
      `The claim "${name}" of the provider is no list of names of groups`,
      'have the operator of this service check --oidc-groups-claim, or the provider send an array of texts',
    )
  }
  if (names.length > mostGroups) throw tooManyGroups(name)
  return names
}

/** Of somebody in very many groups, providers name none of them, and a place to ask instead. */
function requireNoOverage(claims: Claims, name: string): void {
  const { _claim_names: elsewhere, hasgroups } = claims
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && name in elsewhere
  if (isElsewhere || hasgroups === true || hasgroups === 'true') throw tooManyGroups(name)
}

function tooManyGroups(name: string): AssayError {
  return groupsFault(
    `You are in more groups than the provider tells in the claim "${name}"`,
    'have its administrator send only those groups that are assigned to this service',
  )
}

function groupsFault(message: string, hint: string): AssayError {
  return new AssayError('ACCESS_PROVIDER_FAILED', message, { hint })
}

/** A claim of this name, which may have dots and slashes in it, or one within others: `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}

/** Some providers write truth values as texts. */
function truthOf(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  return value === true || value === 'true'
}

function emailOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text !== undefined && /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 320
    ? text
    : undefined
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' ? undefined : text.slice(0, longestText)
}
