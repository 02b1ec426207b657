/**
 * Which spans of whole sources repeat the usage of others, kept while nothing is written anywhere: of costs and
 * tokens without a filter, which dashboards ask for again and again, finding it takes most of the time.
 */
import { LRUCache } from 'lru-cache'
import type { BoundAggregate } from '../../binder/bound.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'

/** Of all sets of a cache. */
const maximumBytes = 32 * 2 ** 20

/** Snapshots of one transaction must have the same rows: who reads parts of them has a cache of its own. */
export class UsageCache {
  readonly #sets = new LRUCache<string, SemiJoinSet>({
    maxSize: maximumBytes,
    sizeCalculation: bytesOf,
  })

  /** The set that the plan finds over a snapshot of the transaction; `find` finds it anew. */
  async of(
    plan: PhysicalPlan,
    transaction: number,
    find: () => Promise<SemiJoinSet>,
  ): Promise<SemiJoinSet> {
    if (!isOfWholeSources(plan)) return find()
    const key = `${transaction} ${plan.objects.map(({ number }) => number).join()}`
    const known = this.#sets.get(key)
    if (known) return known
    const found = await find()
    this.#sets.set(key, found)
    return found
  }
}

function isOfWholeSources(plan: PhysicalPlan): boolean {
  const { access, objects, predicates, after } = plan
  return (
    usageOf(plan) !== undefined &&
    access.kind === 'scan' &&
    predicates.length === 0 &&
    after === undefined &&
    !objects.some(({ isHistory }) => isHistory)
  )
}

/** Of a plan that finds the spans which repeat the usage of others, the aggregate that does. */
export function usageOf({ stage }: PhysicalPlan): BoundAggregate | undefined {
  if (stage.kind !== 'groups') return undefined
  return stage.aggregates.find(({ name }) => name === 'repeated_usage')
}

function bytesOf({ traces, numbered }: SemiJoinSet): number {
  const texts = traces.reduce(
    (sum, { bytes, offsets }) => sum + bytes.length + 3 * offsets.byteLength,
    0,
  )
  const codes = numbered?.held.reduce((sum, { length }) => sum + length, 0) ?? 0
  return 1024 + texts + codes
}
