import type { BoundObject } from '../binder/bound.ts'
import type { Value } from '../type/value.ts'

/**
 * The value of a column that is the same for all rows of an object; undefined for other columns. Null
 * where the object's type does not have the column.
 */
export function objectField(name: string, object: BoundObject): Value | undefined {
  switch (name) {
    case 'project_id':
      return object.projectId
    case 'org_id':
      return object.type === 'project_logs' ? object.organizationId : null
    case 'log_id':
      return object.type === 'project_logs' ? 'g' : null
    case 'experiment_id':
      return object.type === 'experiment' ? object.id : null
    case 'dataset_id':
      return object.type === 'dataset' ? object.id : null
    default:
      return undefined
  }
}
