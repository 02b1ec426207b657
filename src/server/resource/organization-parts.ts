/** Groups of projects, and automations of a whole organization. Nothing acts on either. */
import type { Gate } from '../../access/gate.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import {
  newOrganizationAutomation,
  organizationAutomationPatch,
  organizationAutomationSchema,
} from '../../catalog/schema/automation.ts'
import {
  newProjectGroup,
  projectGroupPatch,
  projectGroupSchema,
} from '../../catalog/schema/project.ts'
import type { Route } from '../route.ts'
import { isOwnOrganization } from './list-query.ts'
import { resourceRoutes } from './resource.ts'
import { membersChanged, named } from './role-routes.ts'

type Values = { readonly [field: string]: unknown }

export const organizationPartRoutes: readonly Route[] = [
  ...resourceRoutes({
    kind: 'project_group',
    path: '/v1/project_group',
    parameter: 'project_group',
    title: 'project group',
    schema: projectGroupSchema,
    list: {},
    creation: {
      body: newProjectGroup,
      put: 'replace',
      given: (body, gate) => {
        requireProjects(body.member_projects, gate)
        return body
      },
    },
    patch: {
      body: projectGroupPatch,
      changes: (body, gate) => {
        requireProjects(body.add_member_projects, gate)
        return (before) => ({
          ...named(body),
          ...membersChanged(body, 'member_projects', before.member_projects, String),
        })
      },
    },
    isRemovable: true,
    // Which other projects there are is not told.
    present: ({ member_projects }, gate) => ({
      member_projects: member_projects?.filter((id) => gate.find('project', id)),
    }),
  }),
  ...resourceRoutes({
    kind: 'org_automation',
    path: '/v1/org_automation',
    parameter: 'org_automation',
    title: 'organization automation',
    schema: organizationAutomationSchema,
    list: {},
    creation: {
      body: newOrganizationAutomation,
      put: 'replace',
      replacement: ['description', 'config'],
      given: ({ org_id, ...body }, gate) => {
        if (typeof org_id === 'string' && !isOwnOrganization(gate, { org_id })) {
          throw missingAccess('create', 'organization', org_id)
        }
        return body
      },
    },
    patch: { body: organizationAutomationPatch },
    isRemovable: true,
  }),
]

function requireProjects(ids: Values[string], gate: Gate): void {
  if (!Array.isArray(ids)) return
  for (const id of ids) gate.require('read', 'project', String(id))
}
