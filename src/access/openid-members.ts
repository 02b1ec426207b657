/** Who may come in by a provider of OpenID Connect, and as which member. */
import type { Catalog } from '../catalog/catalog.ts'
import type { Change } from '../catalog/change.ts'
import type { Organization, User } from '../catalog/entry.ts'
import { identityKey } from '../catalog/kind-rules.ts'
import { AssayError } from '../error.ts'
import type { AccessIndex } from './access-index.ts'
import { guardedChange } from './guarded-change.ts'
import { giveGroups } from './organization.ts'
import { groupsOfClaim, setProviderGroups } from './provider-groups.ts'
import type { Sessions, StartedSession } from './sessions.ts'
import type { OpenIdSettings } from './sign-in-settings.ts'

/** Whom the provider has let in, as far as it says. */
export interface ProviderAccount {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  /** Undefined where the provider does not say. */
  readonly isEmailVerified: boolean | undefined
  readonly givenName: string | undefined
  readonly familyName: string | undefined
  /** Undefined where groups are not taken over. */
  readonly groups: readonly string[] | undefined
  /** For the session: what was signed, sealed. */
  readonly idToken: string
}

/** How somebody came in, for the log. */
export type Admission = 'known' | 'linked' | 'joined'

export interface AdmittedSession extends StartedSession {
  readonly admission: Admission
  /** Whether the person stays in groups that the provider does not name, as the last owner does. */
  readonly isKeptInGroups: boolean
  /** Names in the settings that no group has. */
  readonly missingGroups: readonly string[]
}

interface Parts {
  readonly catalog: Catalog
  readonly index: AccessIndex
  readonly sessions: Sessions
}

export class OpenIdMembers {
  readonly #catalog: Catalog
  readonly #index: AccessIndex
  readonly #sessions: Sessions
  readonly #settings: OpenIdSettings

  constructor({ catalog, index, sessions }: Parts, settings: OpenIdSettings) {
    this.#catalog = catalog
    this.#index = index
    this.#sessions = sessions
    this.#settings = settings
  }

  /** Begins a session, and all that it takes: user, member, groups. Throws ACCESS_DENIED with the way out. */
  async signIn(account: ProviderAccount): Promise<AdmittedSession> {
    try {
      return await this.#signIn(account, true)
    } catch (thrown) {
      const isLastOwner = thrown instanceof AssayError && thrown.code === 'REQUEST_CONFLICT'
      if (!isLastOwner) throw thrown
      return await this.#signIn(account, false)
    }
  }

  async #signIn(account: ProviderAccount, isTakingGroups: boolean): Promise<AdmittedSession> {
    const home = this.#organization()
    const principal = { userId: null, organizationId: home.id, keyId: null }
    const { sessionSeconds } = this.#settings
    const { begun, admission } = await guardedChange(
      this.#catalog,
      this.#index,
      principal,
      (change) => {
        this.#requireGroup(account)
        const { user, organization, admission } = this.#admit(change, account, home)
        if (account.groups && organization.id === home.id) {
          const groups = groupsOfClaim(change, this.#index, home.id, account.groups, this.#settings)
          setProviderGroups(change, home.id, user.id, groups, isTakingGroups)
        }
        const begun = this.#sessions.begin(change, {
          org_id: organization.id,
          user_id: user.id,
          key_id: null,
          id_token: account.idToken,
          seconds: sessionSeconds,
        })
        return { begun, admission }
      },
    )
    return {
      ...begun,
      admission,
      isKeptInGroups: !isTakingGroups,
      missingGroups: this.#missingGroups(home),
    }
  }

  #missingGroups({ id }: Organization): string[] {
    const { newMemberGroups, groups } = this.#settings
    const names = new Set([...newMemberGroups, ...[...groups.values()].flat()])
    return [...names].filter((name) => this.#catalog.named('group', id, name) === undefined)
  }

  #requireGroup({ groups }: ProviderAccount): void {
    const { requiredGroup, groupsClaim } = this.#settings
    if (requiredGroup === undefined || groups?.includes(requiredGroup)) return
    throw denied(
      `Your account at the provider is not in the group "${requiredGroup}", which this service asks for`,
      `have the provider's administrator put it there; the claim "${groupsClaim}" has to name it`,
    )
  }

  #admit(change: Change, account: ProviderAccount, home: Organization) {
    const { issuer, subject } = account
    const identity = change.named('identity', '', identityKey(issuer, subject))
    const known = identity && change.get('user', identity.user_id)
    if (known) {
      const organization = this.#organizationOf(change, known, home)
      return { user: known, organization, admission: 'known' as const }
    }
    const email = this.#verifiedEmail(account)
    const found = change.named('user', '', email.toLowerCase())
    const isOwner = this.#settings.owners.includes(email.toLowerCase())
    const user = found ?? this.#join(change, account, email, home, isOwner)
    if (found) this.#requireLinkable(found, issuer)
    const organization = this.#organizationOf(change, user, home)
    change.create('identity', { user_id: user.id, issuer, subject })
    if (isOwner && organization.id === home.id) giveGroups(change, home.id, [user.id])
    const admission: Admission = found ? 'linked' : 'joined'
    return { user, organization, admission }
  }

  /** An address is what people are known by until then, so it has to be theirs. */
  #verifiedEmail({ email, isEmailVerified }: ProviderAccount): string {
    if (email === undefined) {
      throw denied(
        'The provider has told no e-mail address of yours, by which you could be known here',
        'add the address to your account there, or have the scope "email" given to this service',
      )
    }
    if (isEmailVerified ?? this.#settings.isTrustingEmails) return email
    if (isEmailVerified === false) {
      throw denied(`The provider says that the address ${email} is not verified`, 'verify it there')
    }
    throw denied(
      `The provider does not say whether the address ${email} is verified`,
      'have it say so in the claim email_verified; where its addresses are right in any case, the operator of this service sets --oidc-trust-emails on',
    )
  }

  /** Throws for whom an address alone says too little: it may have been given to somebody else. */
  #requireLinkable(user: User, issuer: string): void {
    if (user.is_service_account) {
      throw denied(
        'This address is that of a service account, which nobody signs in as',
        'use its token',
      )
    }
    const ids = this.#catalog.referrers('identity', user.id)
    const others = ids.flatMap((id) => this.#catalog.get('identity', id) ?? [])
    if (!others.some((other) => other.issuer === issuer)) return
    const isMember = this.#organizations().some(({ id }) => this.#index.isMember(id, user.id))
    if (!isMember) throw removed(user)
    throw denied(
      `${user.email} belongs to another account at the provider, which has signed in before`,
      'sign in with that one; if the address is another person’s now, have an owner remove the member and invite the address anew',
    )
  }

  /** Makes a member of somebody who was not invited. */
  #join(
    change: Change,
    { givenName, familyName, groups }: ProviderAccount,
    email: string,
    { id: org_id }: Organization,
    isOwner: boolean,
  ): User {
    const { joinDomains, requiredGroup, newMemberGroups } = this.#settings
    const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
    const isOfDomain = joinDomains.includes(domain)
    const isOfGroup = requiredGroup !== undefined && groups?.includes(requiredGroup) === true
    const mayJoin = joinDomains.length > 0 ? isOfDomain : isOfGroup
    if (!mayJoin && !isOwner) {
      throw denied(
        `${email} has no invitation to this service`,
        'have an owner invite this address, in the settings under Members, and sign in again',
      )
    }
    const user = change.create('user', { email })
    const given_name = givenName ?? null
    change.create('member', {
      org_id,
      user_id: user.id,
      given_name,
      family_name: familyName ?? null,
    })
    for (const name of newMemberGroups) {
      const group = change.named('group', org_id, name)
      if (!group) continue
      change.update('group', group.id, { member_users: [...(group.member_users ?? []), user.id] })
    }
    return user
  }

  /** Where the user signs in: the organization of the settings, or else the oldest that it is in. */
  #organizationOf(change: Change, user: User, home: Organization): Organization {
    const organizations = [home, ...this.#organizations()]
    const found = organizations.find(({ id }) => change.named('member', id, user.id))
    if (found) return found
    throw removed(user)
  }

  #organization(): Organization {
    const { organization: name } = this.#settings
    const found = this.#organizations().find((one) => name === undefined || one.name === name)
    if (found) return found
    throw denied(
      `There is no organization "${name}" here, which people who sign in by the provider were to join`,
      'have the operator of this service correct --oidc-organization',
    )
  }

  /** The oldest first. */
  #organizations(): Organization[] {
    return Array.from(this.#catalog.list('organization')).reverse()
  }
}

function removed({ email }: User): AssayError {
  return denied(
    `${email ?? 'This account'} is not a member of this service any more`,
    'have an owner invite the address anew, in the settings under Members',
  )
}

function denied(message: string, hint: string): AssayError {
  return new AssayError('ACCESS_DENIED', message, { hint })
}
