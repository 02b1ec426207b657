/**
 * Which spans of whole sources repeat the usage of others, kept while nothing is written anywhere: of costs and
 * tokens without a filter, which dashboards ask for again and again, finding it takes most of the time.
 */
import { LRUCache } from 'lru-cache'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { PlanRun } from './scan-rows.ts'

/** Of all sets of a service. */
const maximumBytes = 32 * 2 ** 20

/** By what belongs to a service alone. */
const kept = new WeakMap<object, LRUCache<string, SemiJoinSet>>()

/** The set that the plan finds; `find` finds it anew. */
export async function keptUsage(
  run: Pick<PlanRun, 'plan' | 'snapshot' | 'pool' | 'audit'>,
  find: () => Promise<SemiJoinSet>,
): Promise<SemiJoinSet> {
  const { plan, snapshot, pool, audit } = run
  // Who wants to see how a query runs, is shown all of it.
  if (!isOfWholeSources(plan) || audit.isKept) return find()
  let sets = kept.get(pool.dictionaries)
  if (!sets) {
    sets = new LRUCache({ maxSize: maximumBytes, sizeCalculation: bytesOf })
    kept.set(pool.dictionaries, sets)
  }
  const key = `${snapshot.transaction} ${plan.objects.map(({ number }) => number).join()}`
  const known = sets.get(key)
  if (known) return known
  const found = await find()
  sets.set(key, found)
  return found
}

function isOfWholeSources({ access, objects, predicates, after, stage }: PhysicalPlan): boolean {
  return (
    stage.kind === 'groups' &&
    stage.aggregates.some(({ name }) => name === 'repeated_usage') &&
    access.kind === 'scan' &&
    predicates.length === 0 &&
    after === undefined &&
    !objects.some(({ isHistory }) => isHistory)
  )
}

function bytesOf({ traces, numbered }: SemiJoinSet): number {
  const texts = traces.reduce(
    (sum, { bytes, offsets }) => sum + bytes.length + 3 * offsets.byteLength,
    0,
  )
  const codes = numbered?.held.reduce((sum, { length }) => sum + length, 0) ?? 0
  return 1024 + texts + codes
}
