/** Which object a row belongs to. */
import { logIds, type ObjectReference, type ObjectType } from '../../type/record.ts'
import type { Value } from '../../type/value.ts'
import { invalid, readString } from './prepare-control.ts'

/** Members of a row that name its object; null means that the row lacks it. */
export interface NamedObject {
  experiment_id: Value
  dataset_id: Value
  project_id: Value
  prompt_session_id: Value
  log_id: Value
}

export function noObject(): NamedObject {
  return {
    experiment_id: null,
    dataset_id: null,
    project_id: null,
    prompt_session_id: null,
    log_id: null,
  }
}

const idMembers = {
  experiment: 'experiment_id',
  dataset: 'dataset_id',
  playground_logs: 'prompt_session_id',
  project_logs: 'project_id',
  project_prompts: 'project_id',
  project_views: 'project_id',
} as const satisfies Record<ObjectType, keyof NamedObject>

/** Those that have an id of their own; a project's id only says where they are. */
const ownMembers = [
  ['experiment_id', 'experiment'],
  ['dataset_id', 'dataset'],
  ['prompt_session_id', 'playground_logs'],
] as const

const projectTypes = ['project_logs', 'project_prompts', 'project_views'] as const

/** Finds the object of a row that must name it itself. */
export function findObject(named: NamedObject, path: string): ObjectReference {
  let found: ObjectReference | undefined
  for (const [member, type] of ownMembers) {
    if (named[member] === null) continue
    if (found) {
      const other = idMembers[found.type]
      throw invalid(path, `names both an ${other} and a ${member}`, 'a row has one object')
    }
    found = { type, id: readString(named[member], `${path}.${member}`) }
  }
  if (found) return found
  const { project_id, log_id } = named
  if (project_id === null) {
    throw invalid(
      path,
      'names no object',
      'give it an experiment_id, a dataset_id, a prompt_session_id, or a project_id and a log_id',
    )
  }
  const type = projectTypes.find((candidate) => logIds[candidate] === log_id)
  if (!type) {
    throw invalid(
      `${path}.log_id`,
      'must be "g", "p" or "v"',
      'rows of a project are logs ("g"), prompts and functions ("p") or views ("v")',
    )
  }
  return { type, id: readString(project_id, `${path}.project_id`) }
}

/** Throws if a row whose object is known already names another. */
export function checkObject(named: NamedObject, object: ObjectReference, path: string): void {
  const own = idMembers[object.type]
  for (const member of Object.keys(named) as (keyof NamedObject)[]) {
    const given = named[member]
    // Rows of experiments, datasets and playgrounds may name their project, which is known.
    if (given === null || member === 'log_id') continue
    if (member === 'project_id' && own !== 'project_id') continue
    if (member !== own || given !== object.id) {
      throw invalid(
        `${path}.${member}`,
        'names another object than the request',
        `leave it out, or write to the object it names`,
      )
    }
  }
}
