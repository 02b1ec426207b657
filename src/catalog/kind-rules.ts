/** What holds for the entries of a kind: where they belong, what is unique, what is never shown. */
import type { ObjectType } from '../type/record.ts'
import type { Entries, Entry, EntryKind } from './entry.ts'

export interface KindRules<K extends EntryKind> {
  /**
   * Id of what the entry belongs to, and is removed with. Not always an entry of the catalog: views
   * and rights can be those of a prompt, which is a row.
   */
  parent?(entry: Entries[K]): string
  /** The kind of the parent, where that is an entry. */
  parentKind?(entry: Entries[K]): EntryKind | undefined
  /** The organization where it is known from the entry itself; else it is that of its project. */
  organization?(entry: Entries[K]): string | null
  /** No two entries of the same parent have the same. */
  uniqueKey?(entry: Entries[K]): string
  /** Entries that it names. When one is removed, so is this, or the name is taken out of its list. */
  readonly references?: readonly ReferenceRule[]
  /**
   * What the entry lets be in its organization: when it is removed, entries of the organization that name
   * this lose it, as if it was removed itself.
   */
  standsFor?(entry: Entries[K]): string
  /** Fields that neither answers nor the audit trail may have. */
  readonly hidden?: readonly string[]
  /** The type of object that its records are in; it has a number then. */
  readonly records?: ObjectType
  /** Values of fields that a new entry was not given, where that is not null. */
  defaults?(entry: Entries[K]): Partial<Entries[K]>
}

export interface ReferenceRule {
  readonly field: string
  readonly onRemove: 'remove' | 'take out'
}

const byName = { uniqueKey: ({ name }: { readonly name: string }) => name }

const inOrganization = {
  parent: ({ org_id }: { readonly org_id: string | null }) => org_id ?? builtInOwner,
  parentKind: ({ org_id }: { readonly org_id: string | null }) =>
    org_id === null ? undefined : ('organization' as const),
  organization: ({ org_id }: { readonly org_id: string | null }) => org_id,
}

const inProject = {
  parent: ({ project_id }: { readonly project_id: string }) => project_id,
  parentKind: () => 'project' as const,
}

const ofObject = {
  parent: ({ object_id }: { readonly object_id: string }) => object_id,
  parentKind: ({ object_type }: { readonly object_type: string }) => ownerKinds.get(object_type),
}

/** Kinds of the entries that rights, views and variables can be of. Prompts and functions are rows. */
export const ownerKinds: ReadonlyMap<string, EntryKind> = new Map([
  ['organization', 'organization'],
  ['project', 'project'],
  ['experiment', 'experiment'],
  ['dataset', 'dataset'],
  ['prompt_session', 'prompt_session'],
  ['group', 'group'],
  ['role', 'role'],
  ['project_log', 'project'],
  ['org_project', 'organization'],
  ['org_member', 'organization'],
  ['org_audit_logs', 'organization'],
  ['project_group', 'project_group'],
  ['ai_secret', 'ai_secret'],
  ['org_ai_secret', 'organization'],
])

/** Parent of what belongs to no organization. */
export const builtInOwner = ''

const kindRules: { readonly [K in EntryKind]: KindRules<K> } = {
  // Of the same name there may be several: that one is taken would tell of another organization.
  organization: { parent: () => builtInOwner, organization: ({ id }) => id },
  user: {
    parent: () => builtInOwner,
    organization: () => null,
    uniqueKey: ({ id, email }) => email?.toLowerCase() ?? id,
    defaults: () => ({ is_service_account: false }),
  },
  identity: {
    parent: () => builtInOwner,
    organization: () => null,
    uniqueKey: ({ issuer, subject }) => identityKey(issuer, subject),
    references: [{ field: 'user_id', onRemove: 'remove' }],
  },
  member: {
    ...inOrganization,
    uniqueKey: ({ user_id }) => user_id,
    references: [
      { field: 'user_id', onRemove: 'remove' },
      { field: 'provider_groups', onRemove: 'take out' },
    ],
    standsFor: ({ user_id }) => user_id,
  },
  api_key: {
    ...inOrganization,
    hidden: ['hash'],
    references: [{ field: 'user_id', onRemove: 'remove' }],
  },
  service_token: {
    ...inOrganization,
    hidden: ['hash'],
    references: [{ field: 'service_account_id', onRemove: 'remove' }],
  },
  password: {
    ...inOrganization,
    uniqueKey: ({ user_id }) => user_id,
    hidden: ['salt', 'hash'],
    references: [{ field: 'user_id', onRemove: 'remove' }],
  },
  session: {
    ...inOrganization,
    hidden: ['hash', 'id_token'],
    references: [
      { field: 'user_id', onRemove: 'remove' },
      { field: 'key_id', onRemove: 'remove' },
    ],
  },
  role: {
    ...inOrganization,
    ...byName,
    references: [{ field: 'member_roles', onRemove: 'take out' }],
  },
  group: {
    ...inOrganization,
    ...byName,
    references: [
      { field: 'member_users', onRemove: 'take out' },
      { field: 'member_groups', onRemove: 'take out' },
    ],
  },
  environment: { ...inOrganization, uniqueKey: ({ slug }) => slug },
  ai_secret: { ...inOrganization, ...byName, hidden: ['sealed'] },
  org_automation: { ...inOrganization, ...byName },
  project: { ...inOrganization, ...byName, records: 'project_logs' },
  masking_rule: {
    parent: ({ org_id, project_id }) => project_id ?? org_id,
    parentKind: ({ project_id }) => (project_id === null ? 'organization' : 'project'),
    organization: ({ org_id }) => org_id,
    ...byName,
  },
  project_group: {
    ...inOrganization,
    ...byName,
    references: [{ field: 'member_projects', onRemove: 'take out' }],
  },
  experiment: {
    ...inProject,
    ...byName,
    records: 'experiment',
    defaults: () => ({ public: false }),
  },
  dataset: {
    ...inProject,
    ...byName,
    records: 'dataset',
    defaults: ({ name, id }) => ({ url_slug: slugOf(name, id) }),
  },
  prompt_session: { ...inProject, ...byName, records: 'playground_logs' },
  dataset_snapshot: {
    parent: ({ dataset_id }) => dataset_id,
    parentKind: () => 'dataset',
    ...byName,
  },
  project_score: { ...inProject, ...byName },
  project_tag: { ...inProject, ...byName },
  project_automation: { ...inProject, ...byName },
  span_iframe: { ...inProject, ...byName },
  mcp_server: { ...inProject, ...byName },
  agent: {
    ...inProject,
    ...byName,
    defaults: ({ name, id }) => ({ slug: slugOf(name, id), kind: 'agent' }),
  },
  environment_object: {
    ...ofObject,
    organization: ({ org_id }) => org_id,
    uniqueKey: ({ object_type, environment_slug }) => `${object_type}/${environment_slug}`,
  },
  view: {
    ...ofObject,
    organization: ({ org_id }) => org_id,
    uniqueKey: ({ object_type, view_type, name }) => `${object_type}/${view_type}/${name}`,
    hidden: ['org_id'],
  },
  env_var: {
    ...ofObject,
    organization: ({ org_id }) => org_id,
    uniqueKey: ({ object_type, name }) => `${object_type}/${name}`,
    hidden: ['org_id', 'sealed'],
  },
  acl: {
    ...ofObject,
    organization: ({ _object_org_id }) => _object_org_id,
    uniqueKey: aclKey,
    references: [
      { field: 'user_id', onRemove: 'remove' },
      { field: 'group_id', onRemove: 'remove' },
      { field: 'role_id', onRemove: 'remove' },
    ],
  },
}

/** Subjects are unique for each issuer alone; no URL has a space in it. */
export function identityKey(issuer: string, subject: string): string {
  return `${issuer} ${subject}`
}

/** Tells the ACLs of an object from each other: their contents. */
export function aclKey(acl: Omit<Entries['acl'], 'id' | 'created' | '_object_org_id'>): string {
  return [
    acl.object_type,
    acl.user_id,
    acl.group_id,
    acl.permission,
    acl.restrict_object_type,
    acl.role_id,
  ].join('/')
}

export function rulesOf<K extends EntryKind>(kind: K): KindRules<K> {
  return kindRules[kind]
}

/** Ids of the entries that an entry names. */
export function referencesOf<K extends EntryKind>(kind: K, entry: Entries[K]): string[] {
  const rules = rulesOf(kind).references ?? []
  return rules.flatMap(({ field }) => {
    const value: unknown = entry[field as keyof typeof entry]
    if (typeof value === 'string') return [value]
    return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
  })
}

/** Null for what belongs to none. `get` looks up what the entry is in. */
export function organizationOf<K extends EntryKind>(
  kind: K,
  entry: Entries[K],
  get: (kind: EntryKind, id: string) => Entry | undefined,
): string | null {
  const rules = rulesOf(kind)
  if (rules.organization) return rules.organization(entry)
  const parentKind = rules.parentKind?.(entry)
  const parent = parentKind && get(parentKind, rules.parent?.(entry) ?? builtInOwner)
  return parentKind && parent ? organizationOf(parentKind, parent, get) : null
}

/** An entry without what is never shown. */
export function shown<K extends EntryKind>(kind: K, entry: Entries[K]): { [key: string]: unknown } {
  const hidden: readonly string[] = kindRules[kind].hidden ?? []
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !hidden.includes(field)))
}

export function nameOf(entry: Entry): string | undefined {
  return 'name' in entry ? entry.name : undefined
}

/** Whether no two entries of the same parent have the same name, and that is their unique key. */
export function isNamedUniquely(kind: EntryKind): boolean {
  return kindRules[kind].uniqueKey === byName.uniqueKey
}

function slugOf(name: string, id: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...words, id.slice(0, 4)].join('-').slice(-200)
}
