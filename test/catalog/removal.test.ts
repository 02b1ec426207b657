/**
 * Random catalogs from which something is removed, in changes of one step or of several: what is left is
 * what a naive reading of the rules leaves, at once and after a restart.
 */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import type { Change } from '../../src/catalog/change.ts'
import { type EntryKind, entryKinds } from '../../src/catalog/entry.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

/** What an entry is in, what it goes with, and what it only lists; `of` is its organization. */
interface Known {
  readonly kind: EntryKind
  readonly id: string
  readonly of: string
  readonly goesWith: readonly string[]
  readonly lists: Readonly<Record<string, readonly string[]>>
}

interface Draw {
  readonly action: 'make' | 'remove'
  readonly what: number
  readonly picks: readonly number[]
  /** Whether it is done in the same change as what comes next. */
  readonly joins: boolean
}

const draw: fc.Arbitrary<Draw> = fc.record({
  action: fc.oneof(
    { weight: 5, arbitrary: fc.constant('make' as const) },
    { weight: 1, arbitrary: fc.constant('remove' as const) },
  ),
  what: fc.nat(),
  picks: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
  joins: fc.boolean(),
})

/** The rules once more, by hand: whoever is no member any more has nothing in the organization. */
class Model {
  readonly entries = new Map<string, Known>()

  of(kind: EntryKind, organization?: string): string[] {
    return [...this.entries.values()]
      .filter((one) => one.kind === kind && (!organization || one.of === organization))
      .map(({ id }) => id)
  }

  add(known: Known): void {
    this.entries.set(known.id, known)
  }

  remove(id: string): void {
    const gone = new Set([id])
    for (let before = 0; before < gone.size; ) {
      before = gone.size
      for (const one of this.entries.values()) {
        if (one.goesWith.some((other) => gone.has(other))) gone.add(one.id)
      }
    }
    for (const one of gone) this.entries.delete(one)
    for (const one of this.entries.values()) {
      const lists = Object.entries(one.lists).map(([field, ids]) => [
        field,
        ids.filter((listed) => !gone.has(listed)),
      ])
      this.entries.set(one.id, { ...one, lists: Object.fromEntries(lists) })
    }
  }
}

const organizations = ['o1', 'o2']

/** Makes one entry of a random kind in the change and in the model, unless nothing fits. */
function make(change: Change, model: Model, { what, picks }: Draw): void {
  const pick = <T>(from: readonly T[], n: number): T | undefined => from[picks[n]! % from.length]
  const some = (from: readonly string[], n: number) => from.filter((_, i) => (picks[n]! >> i) & 1)
  const of = pick(organizations, 0)!
  const id = randomUUID()
  const name = id
  const members = model.of('member', of)
  const member = pick(members, 1)
  const user = member && model.entries.get(member)!.goesWith[0]
  const project = pick(model.of('project', of), 2)
  const dataset = pick(model.of('dataset', of), 2)
  const add = (kind: EntryKind, goesWith: readonly (string | undefined)[], lists = {}) =>
    model.add({ kind, id, of, goesWith: goesWith.filter((one) => one !== undefined), lists })
  const hashed = { hash: id, preview_name: 'p', expires_at: null }
  const makers: (() => void)[] = [
    () => {
      const user_id = change.create('user', { email: `${id}@example.com` }).id
      model.add({ kind: 'user', id: user_id, of: '', goesWith: [], lists: {} })
      change.create('member', { id, org_id: of, user_id })
      add('member', [user_id])
    },
    () => {
      const user_id = pick(model.of('user'), 3)
      if (!user_id || change.named('member', of, user_id)) return
      change.create('member', { id, org_id: of, user_id })
      add('member', [user_id])
    },
    () => {
      if (!user) return
      change.create('api_key', { id, org_id: of, user_id: user, name, ...hashed })
      add('api_key', [member])
    },
    () => {
      if (!user) return
      change.create('service_token', { id, org_id: of, service_account_id: user, name, ...hashed })
      add('service_token', [member])
    },
    () => {
      if (!user) return
      const expires = new Date(Date.now() + 1e6).toISOString()
      const key =
        picks[4]! % 3 === 0
          ? undefined
          : pick([...model.of('api_key', of), ...model.of('service_token', of)], 4)
      change.create('session', {
        id,
        org_id: of,
        user_id: user,
        key_id: key ?? null,
        hash: id,
        expires,
      })
      add('session', [member, key])
    },
    () => {
      if (!user || change.named('password', of, user)) return
      change.create('password', { id, org_id: of, user_id: user, salt: 's', hash: 'h' })
      add('password', [member])
    },
    () => {
      const member_roles = some(model.of('role', of), 3)
      change.create('role', { id, org_id: of, name, member_roles })
      add('role', [], { member_roles })
    },
    () => {
      const chosen = some(members, 3)
      const member_groups = some(model.of('group', of), 4)
      const member_users = chosen.map((one) => model.entries.get(one)!.goesWith[0]!)
      change.create('group', { id, org_id: of, name, member_groups, member_users })
      add('group', [], { member_groups, member_users: chosen })
    },
    () => {
      change.create('project', { id, org_id: of, name })
      add('project', [])
    },
    () => {
      const member_projects = some(model.of('project', of), 3)
      change.create('project_group', { id, org_id: of, name, member_projects })
      add('project_group', [], { member_projects })
    },
    ...(['experiment', 'dataset', 'prompt_session', 'project_tag', 'agent'] as const).map(
      (kind) => () => {
        if (!project) return
        change.create(kind, { id, project_id: project, name, user_id: user ?? null } as never)
        add(kind, [project])
      },
    ),
    () => {
      if (!dataset) return
      change.create('dataset_snapshot', { id, dataset_id: dataset, name, xact_id: '1' })
      add('dataset_snapshot', [dataset])
    },
    ...(['view', 'env_var', 'acl'] as const).map((kind) => () => {
      const owner = pick(
        (['project', 'experiment', 'dataset'] as const).flatMap((type) =>
          model.of(type, of).map((object_id) => ({ object_type: type, object_id })),
        ),
        3,
      )
      if (!owner) return
      const role = picks[4]! % 2 ? pick(model.of('role', of), 4) : undefined
      const group = picks[5]! % 2 ? pick(model.of('group', of), 5) : undefined
      if (kind !== 'acl') {
        change.create(kind, { id, org_id: of, ...owner, name, view_type: 'logs' } as never)
        add(kind, [owner.object_id])
      } else if (group || user) {
        const given = {
          ...owner,
          _object_org_id: of,
          ...(group ? { group_id: group } : { user_id: user! }),
          ...(role ? { role_id: role } : { permission: 'read' as const }),
        }
        if (change.find('acl', given)) return
        change.create('acl', { ...given, id })
        add('acl', [owner.object_id, role, group ?? member])
      }
    }),
  ]
  makers[what % makers.length]!()
}

/** Who goes as a member stays a user, so the model lists members where groups list users. */
function expectSame(catalog: Catalog, model: Model): void {
  for (const kind of entryKinds) {
    if (kind === 'organization') continue
    const found = Array.from(catalog.list(kind), ({ id }) => id).sort()
    expect(found, kind).toEqual(model.of(kind).sort())
  }
  for (const { kind, id, lists } of model.entries.values()) {
    for (const [field, ids] of Object.entries(lists)) {
      const value = (catalog.get(kind, id) as unknown as Record<string, string[] | null>)[field]
      const named = ids.map((one) =>
        field === 'member_users' ? model.entries.get(one)!.goesWith[0]! : one,
      )
      expect([...(value ?? [])].sort(), `${kind}.${field}`).toEqual(named.sort())
    }
  }
}

test('what depended on a removed entry goes with it, once, and nothing else does', async () => {
  let removals = 0
  const property = fc.asyncProperty(
    fc.array(draw, { minLength: 30, maxLength: 120 }),
    async (draws) => {
      const directory = await makeTemporaryDirectory('removal')
      const records = openRecords(directory, { readOnly: false })
      try {
        const catalog = new Catalog(records)
        for (const id of organizations)
          await catalog.create('organization', { id, name: id }, system)
        const model = new Model()
        for (let from = 0; from < draws.length; ) {
          let to = from + 1
          while (to < draws.length && draws[to - 1]!.joins) to++
          const together = draws.slice(from, to)
          await catalog.change(system, (change) => {
            for (const one of together) {
              const known = [...model.entries.keys()]
              if (one.action === 'make' || known.length === 0) make(change, model, one)
              else {
                const id = known[one.picks[0]! % known.length]!
                change.remove(model.entries.get(id)!.kind, id)
                model.remove(id)
                removals++
              }
            }
          })
          expectSame(catalog, model)
          from = to
        }
        expectSame(new Catalog(records), model)
      } finally {
        await records.root.close()
        await rm(directory, { recursive: true })
      }
    },
  )
  await fc.assert(property, { numRuns: isSlow ? 1000 : 60 })
  console.log(`removals tried: ${removals}, seed ${randomSeed}`)
})
