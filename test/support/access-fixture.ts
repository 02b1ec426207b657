import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Access } from '../../src/access/access.ts'
import type { Gate } from '../../src/access/gate.ts'
import { foundOrganization } from '../../src/access/organization.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import type { AccessType, Permission } from '../../src/catalog/permission.ts'
import { AssayError } from '../../src/error.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'

/** An organization with its owner, and ways to give people rights in it. */
export interface TestOrganization {
  readonly id: string
  readonly ownerId: string
  readonly owner: Gate
}

/** A catalog on disk with the access to it. */
export class AccessFixture {
  readonly #directory: string
  #records: RecordsEnvironment
  catalog: Catalog
  access: Access

  constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'assay-access-'))
    this.#records = openRecords(this.#directory, { readOnly: false })
    this.catalog = new Catalog(this.#records)
    this.access = new Access(this.catalog)
  }

  get records(): RecordsEnvironment {
    return this.#records
  }

  async close(): Promise<void> {
    await this.#records.root.close()
    rmSync(this.#directory, { recursive: true })
  }

  /** As after a restart. */
  async reopen(): Promise<void> {
    await this.#records.root.close()
    this.#records = openRecords(this.#directory, { readOnly: false })
    this.catalog = new Catalog(this.#records)
    this.access = new Access(this.catalog)
  }

  async organization(name: string): Promise<TestOrganization> {
    const { id, ownerId } = await this.catalog.change(system, (change) => {
      const ownerId = change.create('user', { email: `owner-${this.#next()}@${name}.example` }).id
      return { id: foundOrganization(change, name, [ownerId]).id, ownerId }
    })
    return { id, ownerId, owner: this.gate(id, ownerId) }
  }

  gate(organizationId: string, userId: string | null): Gate {
    return this.access.gate({ userId, organizationId, keyId: null })
  }

  /** A new member in these groups, or in none, with which it may do nothing. */
  async member({ id: org_id }: TestOrganization, ...groups: string[]): Promise<string> {
    return this.catalog.change(system, (change) => {
      const user = change.create('user', { email: `m${this.#next()}@example.com` })
      change.create('member', { org_id, user_id: user.id })
      for (const name of groups) {
        const group = change.named('group', org_id, name)!
        change.update('group', group.id, {
          member_users: [...(group.member_users ?? []), user.id],
        })
      }
      return user.id
    })
  }

  async grant(
    { owner }: TestOrganization,
    user_id: string,
    permission: Permission,
    [object_type, object_id]: readonly [AccessType, string],
    restrict_object_type: AccessType | null = null,
  ): Promise<string> {
    const given = { object_type, object_id, user_id, permission, restrict_object_type }
    return (await owner.findOrCreate('acl', given)).entry.id
  }

  #count = 0
  #next(): number {
    return ++this.#count
  }
}

export function failure(work: () => unknown): AssayError {
  try {
    work()
  } catch (error) {
    if (error instanceof AssayError) return error
    throw error
  }
  throw new Error('did not fail')
}
