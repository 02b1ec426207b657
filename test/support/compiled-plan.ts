/** Plans as they are compiled for a cluster, without an engine. */
import { KnownFields } from '../../src/binder/known-fields.ts'
import type { CatalogObject, CatalogView } from '../../src/catalog/catalog.ts'
import type { PhysicalQuery } from '../../src/planner/physical-plan.ts'
import { type PlanContext, planQuery } from '../../src/planner/plan-query.ts'
import type { ObjectType } from '../../src/type/record.ts'

export const clock = { now: 0, tzOffset: 0 }

/** A catalog that has every object that is asked for; `numberOf` gives its number. */
function viewOf(numberOf: (id: string) => number): CatalogView {
  const objectOf = (type: ObjectType, id: string): CatalogObject => {
    const number = numberOf(id)
    return { type, id, name: id, number, projectId: 'p', organizationId: 'o' }
  }
  return {
    readable: objectOf,
    writable: objectOf,
    readableInProject: (projectId) => [objectOf('project_logs', projectId)],
    readableOfType: (type) => [objectOf(type, 'any')],
    readableByName: (type, name) => [objectOf(type, name)],
    readableProject: () => ({ id: 'p', name: 'project' }),
    organization: () => ({ id: 'o', name: 'organization' }),
  }
}

const recorder = { now: () => 0, add: () => undefined }

const noFields = new KnownFields([])

/**
 * @param numberOf numbers of objects by their ids
 * @param from a source, where the query is an expression to filter it by
 */
export function physicalQuery(
  query: string,
  numberOf: (id: string) => number,
  from?: string,
): PhysicalQuery {
  const context: PlanContext = {
    now: 0,
    tzOffset: 0,
    view: viewOf(numberOf),
    randomSeed: 1,
    knownFields: () => noFields,
  }
  return planQuery({ query, from }, context, recorder).physical
}
