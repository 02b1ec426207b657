/** The members of the principal's organization: who they are, who comes and who goes. */
import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Catalog, PagePosition } from '../catalog/catalog.ts'
import type { Change } from '../catalog/change.ts'
import type { Group, Member } from '../catalog/entry.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import type { userSchema } from '../catalog/schema/access.ts'
import { AssayError } from '../error.ts'
import type { AccessIndex } from './access-index.ts'
import { nowhere } from './decide.ts'
import { guardedChange } from './guarded-change.ts'
import type { Rights } from './rights.ts'
import { addServiceToken } from './service-token.ts'

/** A user as one organization knows it. */
export type Person = Readonly<z.infer<typeof userSchema>>

export interface Invitation {
  readonly ids: readonly string[]
  readonly emails: readonly string[]
  readonly serviceAccounts: readonly InvitedAccount[]
  /** Groups for those who were not members before, by id or by name. */
  readonly groupIds: readonly string[]
  readonly groupNames: readonly string[]
}

export interface InvitedAccount {
  readonly name: string
  /** Of a token that it gets at once. */
  readonly tokenName?: string
  readonly tokenExpires?: string | null
}

/** A service account that was made, with its token where one was asked for: shown only now. */
export interface AddedAccount {
  readonly id: string
  readonly email: string | null
  readonly api_key?: string
  readonly token_name?: string
}

export interface Preferences {
  /** Whether the search input takes queries as they are written; if not, all is words. */
  readonly query_language: boolean
}

export class People {
  readonly #catalog: Catalog
  readonly #index: AccessIndex
  readonly #rights: Rights

  constructor(catalog: Catalog, index: AccessIndex, rights: Rights) {
    this.#catalog = catalog
    this.#index = index
    this.#rights = rights
  }

  /** Undefined for who is not there, in another organization, or not to be seen. */
  get(id: string): Person | undefined {
    return this.#person(this.#catalog.named('member', this.#organizationId, id))
  }

  /** The principal, who is a member. */
  self(): Person {
    const { userId } = this.#rights.principal
    const person = userId === null ? undefined : this.get(userId)
    if (!person) throw missingAccess('read', 'user', userId ?? '')
    return person
  }

  /** What the principal has chosen for the web page. */
  preferences(): Preferences {
    const member = this.#selfMember()
    return { query_language: member.query_language ?? true }
  }

  /** Keeps it for the principal alone, so that no right is needed. */
  choose({ query_language }: Preferences): Promise<void> {
    const { id } = this.#selfMember()
    return this.#change((change) => {
      change.update('member', id, { query_language })
    })
  }

  /** Newest member first unless the position says otherwise. */
  *list(position?: PagePosition): Generator<Person> {
    for (const member of this.#members(position)) {
      const person = this.#person(member)
      if (person) yield person
    }
  }

  /** Where a page of the list begins that was left at this user. */
  positionOf(id: string): number | undefined {
    if (!this.get(id)) return undefined
    const member = this.#catalog.named('member', this.#organizationId, id)
    return member && this.#catalog.positionOf('member', member.id)?.sequence
  }

  /** Who is a member already stays as it is. */
  invite(invitation: Invitation): Promise<AddedAccount[]> {
    return this.#change((change) => {
      const org_id = this.#organizationId
      const described = { org_id, user_id: '' }
      const may = (['create', 'read'] as const).every((action) =>
        this.#rights.mayTouch(action, 'member', described),
      )
      if (!may) throw missingAccess('create', 'org_member', org_id)
      const groups = this.#groupsOf(change, invitation)
      for (const id of invitation.ids) this.#requireKnown(id)
      const byEmail = invitation.emails.map((email) => userWithEmail(change, email))
      for (const user_id of [...invitation.ids, ...byEmail]) {
        if (change.named('member', org_id, user_id)) continue
        if (!this.#isMember(change, user_id)) change.removeNaming('identity', user_id, () => true)
        change.create('member', { org_id, user_id })
        addToGroups(change, groups, user_id)
      }
      return invitation.serviceAccounts.map(({ name, tokenName, tokenExpires = null }) => {
        const account = addServiceAccount(change, org_id, name)
        addToGroups(change, groups, account.id)
        if (tokenName === undefined) return account
        if (!this.#rights.owns()) throw missingAccess('create', 'organization', org_id)
        const { text } = addServiceToken(change, org_id, account.id, tokenName, tokenExpires)
        return { ...account, api_key: text, token_name: tokenName }
      })
    })
  }

  /** They lose all that they have in the organization, so that nothing is left to come back to. */
  remove(ids: readonly string[], emails: readonly string[]): Promise<void> {
    return this.#change((change) => {
      const byEmail = emails.map((email) => {
        const user = change.named('user', '', email.toLowerCase())
        return { shown: email, id: user?.id }
      })
      const named = [...ids.map((id) => ({ shown: id, id })), ...byEmail]
      const members = named.map(({ shown, id }) => {
        const member = id === undefined ? undefined : this.#memberOf(change, id)
        if (this.#rights.mayTouch('delete', 'member', member) && member) return member
        throw missingAccess('delete', 'org_member', shown)
      })
      // Who is named twice is removed once.
      for (const { id } of members) change.discard('member', id)
    })
  }

  #selfMember(): Member {
    const { userId } = this.#rights.principal
    const member =
      userId === null ? undefined : this.#catalog.named('member', this.#organizationId, userId)
    if (!member) throw missingAccess('read', 'user', userId ?? '')
    return member
  }

  get #organizationId(): string {
    return this.#rights.principal.organizationId
  }

  #change<T>(run: (change: Change) => T): Promise<T> {
    return guardedChange(this.#catalog, this.#index, this.#rights.principal, run)
  }

  #members(position?: PagePosition): Iterable<Member> {
    const scope = { organizationId: this.#organizationId }
    if (this.#rights.maySeeMembers()) return this.#catalog.list('member', scope, position)
    const { userId } = this.#rights.principal
    const own = this.#catalog.referrers('member', userId ?? nowhere)
    return this.#catalog.listAmong('member', { parentIds: [], ids: own }, {}, position)
  }

  #person(member: Member | undefined): Person | undefined {
    const user = this.#catalog.get('user', member?.user_id ?? nowhere)
    if (!this.#rights.mayTouch('read', 'user', user) || !user || !member) return undefined
    const { given_name, family_name, avatar_url, created } = member
    return { id: user.id, given_name, family_name, email: user.email, avatar_url, created }
  }

  /** Of any organization. */
  #isMember(change: Change, userId: string): boolean {
    const organizations = Array.from(this.#catalog.list('organization'))
    return organizations.some(({ id }) => change.named('member', id, userId) !== undefined)
  }

  #memberOf(change: Change, userId: string): Member | undefined {
    return change.named('member', this.#organizationId, userId)
  }

  #groupsOf(change: Change, { groupIds, groupNames }: Invitation): Group[] {
    const byId = groupIds.map((id) => ({ shown: id, group: change.get('group', id) }))
    const byName = groupNames.map((name) => ({
      shown: name,
      group: change.named('group', this.#organizationId, name),
    }))
    return [...byId, ...byName].map(({ shown, group }) => {
      if (!this.#rights.mayTouch('update', 'group', group) || !group) {
        throw missingAccess('update', 'group', shown)
      }
      return group
    })
  }

  /** An id tells that there is a user, so it has to be one that the caller meets somewhere. */
  #requireKnown(userId: string): void {
    const caller = this.#rights.principal.userId
    const isMet = Array.from(this.#catalog.list('organization'), ({ id }) => this.#index.graph(id))
      .filter((graph) => caller === null || graph.isMember(caller))
      .some((graph) => graph.isMember(userId))
    if (isMet) return
    throw new AssayError('REQUEST_INVALID', `there is no user ${userId} that you may see`, {
      path: 'invite_users.ids',
      hint: 'invite by e-mail address',
    })
  }
}

function userWithEmail(change: Change, email: string): string {
  const known = change.named('user', '', email.toLowerCase())
  return (known ?? change.create('user', { email })).id
}

function addServiceAccount(change: Change, org_id: string, given_name: string) {
  const id = randomUUID()
  // `.invalid` is reserved: no mail can ever be sent there.
  const email = `${id}@service-account.invalid`
  change.create('user', { id, email, is_service_account: true })
  change.create('member', { org_id, user_id: id, given_name })
  return { id, email }
}

function addToGroups(change: Change, groups: readonly Group[], userId: string): void {
  for (const { id } of groups) {
    const members = change.get('group', id)?.member_users ?? []
    change.update('group', id, { member_users: [...members, userId] })
  }
}
