/** What the routes of the app side have in common: how their bodies name projects and objects. */
import type { Gate } from '../../../access/gate.ts'
import type { Project } from '../../../catalog/entry.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import { AssayError } from '../../../error.ts'
import type { ObjectType } from '../../../type/record.ts'
import { type JsonBody, stringField } from '../../json-body.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id in `name`; throws when it is missing or is no UUID. */
export function requiredId(id: string | null | undefined, name: string): string {
  if (id === undefined || id === null) {
    throw new AssayError('REQUEST_INVALID', `"${name}" is missing`, { path: name })
  }
  if (!uuid.test(id)) {
    throw new AssayError('REQUEST_INVALID', `"${name}" is no UUID: ${id.slice(0, 100)}`, {
      path: name,
    })
  }
  return id
}

/** Clients name the organization that they found at login; a key has only that one. */
export function checkOrganization(body: JsonBody, gate: Gate): void {
  const organization = gate.organization()
  const id = stringField(body, 'org_id')
  const name = stringField(body, 'org_name')
  if (id !== undefined && id !== organization.id) throw missingAccess('read', 'organization', id)
  if (name !== undefined && name !== organization.name) {
    throw missingAccess('read', 'organization', name)
  }
}

/** The project that a body names by `project_id`, or by `project_name`, which makes it. */
export async function registeredProject(body: JsonBody, gate: Gate): Promise<Project> {
  checkOrganization(body, gate)
  const id = stringField(body, 'project_id')
  if (id !== undefined) return gate.require('read', 'project', id)
  const name = stringField(body, 'project_name')
  if (name === undefined) {
    throw new AssayError('REQUEST_INVALID', '"project_name" is missing', {
      path: 'project_name',
      hint: 'give a project_name or a project_id',
    })
  }
  const { entry } = await gate.findOrCreate('project', { name })
  return entry
}

/** The project that a body names, if there is one that may be read. */
export function knownProject(body: JsonBody, gate: Gate): Project | undefined {
  checkOrganization(body, gate)
  const id = stringField(body, 'project_id')
  const name = stringField(body, 'project_name')
  const found = gate.readableProject(id ?? name ?? '')
  return found && (id === undefined || found.id === id)
    ? gate.require('read', 'project', found.id)
    : undefined
}

/** Id of the project's object of a type and name. */
export function namedObject(
  gate: Gate,
  type: ObjectType,
  projectId: string,
  name: string,
): string | undefined {
  return gate.readableByName(type, name).find((object) => object.projectId === projectId)?.id
}
