/** How the command line of the hosted product finds, makes and changes automations. */
import { z } from 'zod'
import type { Gate } from '../../../access/gate.ts'
import {
  automationConfiguration,
  projectAutomationSchema,
} from '../../../catalog/schema/automation.ts'
import { identifier, name, text } from '../../../catalog/schema/field.ts'
import { operation } from '../../operation.ts'
import { jsonReply } from '../../reply.ts'
import { checkedAutomation } from '../../resource/checked-automation.ts'
import { namesProject } from '../../resource/in-project.ts'
import type { Route } from '../../route.ts'
import { checkOrganization, knownProject, registeredProject } from './request.ts'

const place = {
  project_id: identifier.nullish(),
  project_name: name.nullish(),
  org_id: identifier.nullish(),
  org_name: name.nullish(),
}

const path = '/api/project_automation'
const tag = 'project automation'

export const appAutomationRoutes: readonly Route[] = [
  operation({
    method: 'POST',
    path: `${path}/register`,
    tag,
    summary: 'Makes an automation, or with `update` gives the one of the name these fields',
    body: z
      .object({
        ...place,
        project_automation_name: name,
        description: text.nullish(),
        config: automationConfiguration,
        update: z.boolean().nullish(),
      })
      .meta(namesProject),
    answer: z.object({ project_automation: projectAutomationSchema, found_existing: z.boolean() }),
    handle: async ({ body }, gate) => {
      const { project_automation_name, description = null, config, update } = body
      const { id: project_id } = await placeOf(body, gate, registeredProject)
      const fields = checkedAutomation({ description, config }, gate)
      const given = { project_id, name: project_automation_name, ...fields }
      const { entry, found } = await gate.findOrCreate('project_automation', given)
      const project_automation =
        found && update === true ? await gate.update('project_automation', entry.id, fields) : entry
      return jsonReply({ project_automation, found_existing: found })
    },
  }),
  operation({
    method: 'POST',
    path: `${path}/get`,
    tag,
    summary: 'Lists the automations of a project, or the one of an id or name',
    body: z.object({
      ...place,
      id: identifier.nullish(),
      name: name.nullish(),
      project_automation_name: name.nullish(),
    }),
    answer: z.array(projectAutomationSchema),
    handle: async ({ body }, gate) => {
      const project = await placeOf(body, gate, (fields) => knownProject(fields, gate))
      const wanted = body.project_automation_name ?? body.name ?? undefined
      const listed = gate.list('project_automation', {
        ...(project && { parentId: project.id }),
        ...(wanted !== undefined && { name: wanted }),
      })
      const isOfNoProject = !project && (body.project_id ?? body.project_name)
      const found = isOfNoProject ? [] : [...listed]
      return jsonReply(found.filter(({ id }) => !body.id || id === body.id))
    },
  }),
  operation({
    method: 'POST',
    path: `${path}/patch_id`,
    tag,
    summary: 'Changes fields of an automation; `config` takes the place of the one that is there',
    body: z.object({
      ...place,
      id: identifier,
      name: name.nullish(),
      description: text.nullish(),
      config: automationConfiguration.nullish(),
    }),
    answer: projectAutomationSchema,
    handle: async ({ body }, gate) => {
      await placeOf(body, gate, (fields) => checkOrganization(fields, gate))
      const { id, name, description, config } = body
      const changes = checkedAutomation(
        {
          ...(name && { name }),
          ...(typeof description === 'string' && { description }),
          ...(config && { config }),
        },
        gate,
      )
      return jsonReply(await gate.update('project_automation', id, changes))
    },
  }),
]

/** What a body says of where an automation is, read as the other routes of the app read it. */
function placeOf<T>(
  body: object,
  gate: Gate,
  read: (fields: ReadonlyMap<string, unknown>, gate: Gate) => T,
): T {
  const given = Object.entries(body).filter(([, value]) => value !== null && value !== undefined)
  return read(new Map(given), gate)
}
