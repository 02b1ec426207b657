/** Which object a row belongs to. */
import type { ObjectReference, ObjectType } from '../type/record.ts'
import type { Value } from '../type/value.ts'
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
  project_logs: 'project_id',
} as const satisfies Record<ObjectType, keyof NamedObject>

/** Finds the object of a row that must name it itself. */
export function findObject(named: NamedObject, path: string): ObjectReference {
  const { experiment_id, dataset_id, project_id, log_id } = named
  if (named.prompt_session_id !== null) {
    throw invalid(`${path}.prompt_session_id`, 'names a playground, which cannot hold records here')
  }
  if (experiment_id !== null && dataset_id !== null) {
    throw invalid(path, 'names both an experiment_id and a dataset_id', 'a row has one object')
  }
  if (experiment_id !== null) {
    return { type: 'experiment', id: readString(experiment_id, `${path}.experiment_id`) }
  }
  if (dataset_id !== null) {
    return { type: 'dataset', id: readString(dataset_id, `${path}.dataset_id`) }
  }
  if (project_id !== null) {
    if (log_id !== 'g') {
      throw invalid(`${path}.log_id`, 'must be "g"', 'a row of project logs has "log_id": "g"')
    }
    return { type: 'project_logs', id: readString(project_id, `${path}.project_id`) }
  }
  throw invalid(
    path,
    'names no object',
    'give it an experiment_id, a dataset_id, or a project_id and "log_id": "g"',
  )
}

/** Throws if a row whose object is known already names another. */
export function checkObject(named: NamedObject, object: ObjectReference, path: string): void {
  const own = idMembers[object.type]
  for (const member of ['experiment_id', 'dataset_id', 'project_id'] as const) {
    const given = named[member]
    // Rows of experiments and datasets may name their project, which is known.
    if (given === null || (member === 'project_id' && own !== 'project_id')) continue
    if (member !== own || given !== object.id) {
      throw invalid(
        `${path}.${member}`,
        'names another object than the request',
        `leave it out, or write to the object it names`,
      )
    }
  }
}
