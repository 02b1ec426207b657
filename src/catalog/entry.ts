/**
 * What the catalog keeps: one schema for each kind. Entries have the shape that REST answers, with
 * every key present, and null when it is not set; some have fields beside it that are never shown
 * (`kind-rules.ts` tells which).
 */
import type { z } from 'zod'
import {
  aclSchema,
  apiKeyEntry,
  groupSchema,
  identityEntry,
  memberEntry,
  organizationSchema,
  passwordEntry,
  roleSchema,
  serviceTokenEntry,
  sessionEntry,
  userEntry,
} from './schema/access.ts'
import { organizationAutomationSchema, projectAutomationSchema } from './schema/automation.ts'
import { datasetSchema, datasetSnapshotSchema } from './schema/dataset.ts'
import { environmentObjectEntry, environmentSchema } from './schema/environment.ts'
import { experimentSchema } from './schema/experiment.ts'
import { maskingRuleSchema } from './schema/masking.ts'
import { projectGroupSchema, projectSchema } from './schema/project.ts'
import {
  agentSchema,
  mcpServerSchema,
  projectScoreSchema,
  projectTagSchema,
  spanIframeSchema,
} from './schema/project-part.ts'
import { promptSessionSchema } from './schema/prompt-session.ts'
import { aiSecretEntry, environmentVariableEntry } from './schema/secret.ts'
import { viewEntry } from './schema/view.ts'

/** In an order in which whatever an entry belongs to comes before it. */
export const entrySchemas = {
  organization: organizationSchema,
  user: userEntry,
  identity: identityEntry,
  member: memberEntry,
  api_key: apiKeyEntry,
  service_token: serviceTokenEntry,
  password: passwordEntry,
  session: sessionEntry,
  role: roleSchema,
  group: groupSchema,
  environment: environmentSchema,
  ai_secret: aiSecretEntry,
  org_automation: organizationAutomationSchema,
  project: projectSchema,
  masking_rule: maskingRuleSchema,
  project_group: projectGroupSchema,
  experiment: experimentSchema,
  dataset: datasetSchema,
  prompt_session: promptSessionSchema,
  dataset_snapshot: datasetSnapshotSchema,
  project_score: projectScoreSchema,
  project_tag: projectTagSchema,
  project_automation: projectAutomationSchema,
  span_iframe: spanIframeSchema,
  mcp_server: mcpServerSchema,
  agent: agentSchema,
  environment_object: environmentObjectEntry,
  view: viewEntry,
  env_var: environmentVariableEntry,
  acl: aclSchema,
} as const

export type EntryKind = keyof typeof entrySchemas

export const entryKinds = Object.keys(entrySchemas) as readonly EntryKind[]

export type Entries = { [K in EntryKind]: Readonly<z.infer<(typeof entrySchemas)[K]>> }

export type Entry = Entries[EntryKind]

export type Organization = Entries['organization']
export type User = Entries['user']
export type Member = Entries['member']
export type ApiKey = Entries['api_key']
export type ServiceToken = Entries['service_token']
export type Session = Entries['session']
export type Role = Entries['role']
export type Group = Entries['group']
export type Acl = Entries['acl']
export type Project = Entries['project']
export type Experiment = Entries['experiment']
export type Dataset = Entries['dataset']
export type PromptSession = Entries['prompt_session']

/** Given by the catalog, whoever makes the entry. */
type OwnFields = 'id' | 'created' | 'deleted_at'

/** These have a value when none is given. */
type DefaultFields = 'public' | 'url_slug' | 'slug' | 'kind' | 'is_service_account'

type RequiredFields<T> = {
  [Field in keyof T]-?: null extends T[Field]
    ? never
    : Field extends OwnFields | DefaultFields
      ? never
      : Field
}[keyof T]

/** What a new entry is made from: what can be null, or has a default, may be left out. */
export type Given<K extends EntryKind> = Pick<Entries[K], RequiredFields<Entries[K]>> &
  Partial<Omit<Entries[K], 'created' | 'deleted_at'>>

/** Changes to an entry: each field that is there takes the place of the old one. */
export type Patch<K extends EntryKind> = Partial<Omit<Entries[K], 'id' | 'created' | 'deleted_at'>>

/** What depends on the entry is told once nothing else can change it. */
export type PatchOf<K extends EntryKind> = Patch<K> | ((entry: Entries[K]) => Patch<K>)

export interface FoundOrCreated<T> {
  readonly entry: T
  readonly found: boolean
}

/** Kinds that decide who may do what. */
export const accessKinds: ReadonlySet<EntryKind> = new Set<EntryKind>([
  'organization',
  'user',
  'identity',
  'member',
  'api_key',
  'service_token',
  'password',
  'session',
  'role',
  'group',
  'acl',
])
