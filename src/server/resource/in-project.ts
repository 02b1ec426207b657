/** What resources that belong to a project have in common. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { identifier, name } from '../../catalog/schema/field.ts'

type Values = { readonly [field: string]: unknown }

/** Parameters of lists. */
export const projectQuery = {
  project_id: identifier.optional(),
  project_name: z.string().optional(),
}

/** A body names its project by id or by name. */
export function inProject(body: z.ZodObject): z.ZodObject {
  return body
    .extend({ project_id: identifier.nullish(), project_name: name.nullish() })
    .meta(namesProject)
}

/** What the API document tells of a body that has to name its project in one way or the other. */
export const namesProject = {
  anyOf: ['project_id', 'project_name'].map((field) => {
    return { required: [field], properties: { [field]: { type: 'string' } } }
  }),
}

/** The project that a list is narrowed to; null when the query names one that is not to be seen. */
export function projectScope(
  { project_id, project_name }: Values,
  gate: Gate,
): { readonly parentId?: string } | null {
  if (project_id === undefined && project_name === undefined) return {}
  const project =
    typeof project_name === 'string'
      ? gate.projectByName(project_name)
      : gate.find('project', String(project_id))
  if (!project) return null
  const isOther = typeof project_id === 'string' && project.id !== project_id
  return isOther ? null : { parentId: project.id }
}
