/** The words of access control, as `/v1/acl` has them. */

export const permissions = [
  'create',
  'read',
  'update',
  'delete',
  'create_acls',
  'read_acls',
  'update_acls',
  'delete_acls',
] as const

export type Permission = (typeof permissions)[number]

/**
 * What rights can be given on, and be restricted to. `org_member`, `org_project`, `org_audit_logs` and
 * `org_ai_secret` carry the id of their organization, `project_log` that of its project.
 */
export const accessTypes = [
  'organization',
  'project',
  'experiment',
  'dataset',
  'prompt',
  'prompt_session',
  'group',
  'role',
  'org_member',
  'project_log',
  'org_project',
  'org_audit_logs',
  'project_group',
  'ai_secret',
  'org_ai_secret',
] as const

export type AccessType = (typeof accessTypes)[number]
