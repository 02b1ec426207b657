import type { Gate } from '../../access/gate.ts'
import type { Reply } from '../reply.ts'
import { listReply } from './list.ts'

interface ListedInProject {
  readonly id: string
  readonly name: string
  readonly project_id: string
}

/** As `listReply`; also takes `project_id` and `project_name`. A name that is unknown selects nothing. */
export function listInProject(
  entries: readonly ListedInProject[],
  query: URLSearchParams,
  gate: Gate,
  nameParameter: string,
): Reply {
  const projectId = query.get('project_id')
  const projectName = query.get('project_name')
  const named = projectName === null ? undefined : gate.projectByName(projectName)?.id
  const selected = entries.filter(
    ({ project_id }) =>
      (projectId === null || project_id === projectId) &&
      (projectName === null || project_id === named),
  )
  return listReply(selected, query, [nameParameter, 'name'])
}
