import type { PhysicalQuery } from './physical-plan.ts'

/** The plan in a few words, for those who want to see at a glance how a query ran. */
export function summarizePlan({ semiJoinSets, plan }: PhysicalQuery): string {
  const { access, objects, stage, sort, limit } = plan
  const steps = [
    access.kind === 'look_up' ? `look up ${access.ids.length}` : access.kind,
    ...(plan.unpivots.length > 0 ? ['unpivot'] : []),
    ...(sort.length > 0 ? ['sort'] : []),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
    ...(stage.kind === 'groups' ? ['group'] : []),
    ...plan.stages.map(({ kind }) => kind),
  ]
  const sets = semiJoinSets.length === 0 ? '' : `${semiJoinSets.length} semi-join sets; `
  return `${sets}${objects.length} objects: ${steps.join(' > ')}`
}
