/** Words for what rights are given on. */

export const objectTypes = [
  'organization',
  'org_member',
  'org_project',
  'org_audit_logs',
  'org_ai_secret',
  'group',
  'role',
  'project',
  'project_log',
  'experiment',
  'dataset',
  'prompt',
  'prompt_session',
  'project_group',
  'ai_secret',
] as const

export type ObjectType = (typeof objectTypes)[number]

const titles: Readonly<Record<ObjectType, string>> = {
  organization: 'the organization',
  org_member: 'members',
  org_project: 'all projects',
  org_audit_logs: 'the audit trail',
  org_ai_secret: 'all AI secrets',
  group: 'groups',
  role: 'roles',
  project: 'projects',
  project_log: 'logs',
  experiment: 'experiments',
  dataset: 'datasets',
  prompt: 'prompts and functions',
  prompt_session: 'playgrounds',
  project_group: 'groups of projects',
  ai_secret: 'AI secrets',
}

/** `create_acls`: "create grants", which is what the page calls them. */
export function permissionTitle(permission: string): string {
  return permission.replace('_acls', ' grants').replaceAll('_', ' ')
}

/** Without a type it is all that there is. */
export function typeTitle(type: string | null | undefined): string {
  if (type === null || type === undefined || type === '') return 'everything'
  return Object.hasOwn(titles, type) ? titles[type as ObjectType] : type
}
