/** Automations, as the app side takes them. They are kept; nothing is run by them. */
import { z } from 'zod'
import type { Gate } from '../../../access/gate.ts'
import {
  newProjectAutomation,
  projectAutomationPatch,
  projectAutomationSchema,
} from '../../../catalog/schema/automation.ts'
import { identifier, name } from '../../../catalog/schema/field.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { checkBody } from '../../request-check.ts'
import { present, withoutNulls } from '../../resource/resource.ts'
import type { Route, RouteRequest } from '../../route.ts'

export const appAutomationRoutes: readonly Route[] = [
  { method: 'POST', path: '/api/project_automation/register', access: 'key', handle: register },
  { method: 'POST', path: '/api/project_automation/patch_id', access: 'key', handle: change },
]

const { project_id, description, config } = newProjectAutomation.shape

const registered = z.object({
  project_automation_name: name,
  project_id,
  description,
  config,
  update: z.boolean().nullish(),
})

const changed = z.object({ ...projectAutomationPatch.shape, id: identifier })

const shown = { kind: 'project_automation', schema: projectAutomationSchema } as const

/** Makes an automation. One of that name is answered as it is, or changed if the body has `update`. */
async function register(request: RouteRequest, gate: Gate): Promise<Reply> {
  const { project_automation_name, update, ...given } = await read(registered, request)
  const fields = { ...given, description: given.description ?? null, name: project_automation_name }
  const { entry, found } = await gate.findOrCreate('project_automation', fields)
  const isChanged = found && update === true
  const automation = isChanged ? await gate.update('project_automation', entry.id, fields) : entry
  return jsonReply({ project_automation: present(shown, automation, gate), found_existing: found })
}

/** A configuration takes the place of the one before as a whole, so that parts can be taken out. */
async function change(request: RouteRequest, gate: Gate): Promise<Reply> {
  const { id, ...fields } = await read(changed, request)
  const automation = await gate.update('project_automation', id, withoutNulls(fields))
  return jsonReply(present(shown, automation, gate))
}

/** The body, of which fields that the schema does not know count as ignored. */
async function read<Body extends z.ZodObject>(
  schema: Body,
  request: RouteRequest,
): Promise<z.infer<Body>> {
  const { value, unknown, unknownWithin } = checkBody(schema, await request.body)
  request.ignored = () => [...unknown.keys(), ...unknownWithin]
  return value
}
