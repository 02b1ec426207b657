/**
 * Traces in which a span may repeat the usage of others: only these are gone through for it. Which spans report usage
 * and have children in the same segment was found out when that was written. So a trace that lies in one segment, in
 * which none has, repeats nothing; most do. Over 1 M rows that leaves a look at the codes of traces, in place of
 * hashing the ids of all spans.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { inSemiJoinSet } from '../../planner/trace-plan.ts'
import { samePath } from '../../type/value.ts'
import type { SharedDictionary } from '../../vector/shared-dictionary.ts'
import { compileColdGroups } from './cold-groups.ts'
import { readsCold } from './cold-scan.ts'
import { isSegmentRange, type SegmentRange } from './scan-range.ts'
import { type PlanRun, scanGroups, sharedDictionaries, splitInputs } from './scan-rows.ts'
import { traceSetOfCodes, traceSetOfGroups } from './semi-join-sets.ts'
import { withCold } from './snapshot.ts'
import { usageOf } from './usage-cache.ts'

const tracePath = ['root_span_id']

/**
 * Of a plan that finds repeated usage, the run over the traces alone in which there may be any; undefined: there is
 * none. Other runs, and those of which nothing is known, stay as they are.
 */
export async function inRepeatingTraces(run: PlanRun): Promise<PlanRun | undefined> {
  const { plan } = run
  if (!usageOf(plan) || !plan.predicates.every(isOfTraces)) return run
  if (readsCold(run)) return inRepeatingTracesOfCluster(run)
  const { ranges, others } = splitInputs(run)
  // Rows of other kinds are versions of the past.
  if (!others.every(({ kind }) => kind === 'log' || kind === 'lost')) return run
  const segments = ranges.filter(isSegmentRange)
  const found = (await sharedDictionaries(run, ranges)).find(({ path }) =>
    samePath(path, tracePath),
  )
  if (!found?.isComplete || !segments.every(namesAllTraces)) return run
  const codes = openCodes(found.dictionary, segments)
  const { split: _, ...rest } = run
  const fresh = ranges.filter((range) => !isSegmentRange(range))
  const { traces, narrowed } = plansOf(plan, run.semiJoinSets.length)
  const hasFresh = fresh.length + others.length > 0
  const freshTraces = hasFresh
    ? await scanGroups({ ...rest, plan: traces, split: { ranges: fresh, others } })
    : undefined
  if (!hasFresh && [...codes.values()].every(({ length }) => length === 0)) return undefined
  const set = traceSetOfCodes(found.dictionary, codes, freshTraces)
  return { ...rest, plan: narrowed, semiJoinSets: [...run.semiJoinSets, set] }
}

/**
 * The same where the cluster has rows: it tells the traces. It is asked for all that it has, also of rows that are here, so that
 * few traces have others; of these nothing is known.
 */
async function inRepeatingTracesOfCluster(run: PlanRun): Promise<PlanRun | undefined> {
  const { plan, snapshot, semiJoinSets } = run
  const cold = snapshot.cold!.furthest(plan.objects.map(({ number }) => number))
  const { traces, tracesOfAll, narrowed } = plansOf(plan, semiJoinSets.length)
  const usage = usageOf(plan)
  const runs = [traces, tracesOfAll].map((plan) => {
    return { ...run, plan, snapshot: withCold(snapshot, cold) }
  })
  const told = runs.find((each) => compileColdGroups(each, usage) !== undefined)
  if (!told) return run
  const set = traceSetOfGroups(await scanGroups(told, usage))
  if (set.objects.length === 0) return undefined
  return { ...run, plan: narrowed, semiJoinSets: [...semiJoinSets, set] }
}

function isOfTraces({ kind }: BoundExpression): boolean {
  return kind === 'in_traces'
}

/** Whether all rows of its segment have a text as their trace, which then has a code. */
function namesAllTraces({ metadata }: SegmentRange): boolean {
  return metadata.columns.some(
    ({ path, type, nullCount }) => type === 'text' && nullCount === 0 && samePath(path, tracePath),
  )
}

/** By object, traces that several segments have, or one in which spans with children report usage. */
function openCodes(
  { homes, count }: SharedDictionary,
  ranges: readonly SegmentRange[],
): ReadonlyMap<number, Int32Array> {
  const sure = new Map<number, Set<number>>()
  for (const { input, objectRows } of ranges) {
    const ofObject = sure.get(input.object) ?? new Set()
    sure.set(input.object, ofObject)
    if (objectRows.isUsageOfLeaves) ofObject.add(input.segment)
  }
  return new Map(
    Array.from(sure, ([object, segments]) => [object, codesElsewhere(homes, count, segments)]),
  )
}

/** The codes of texts that are not in one of the segments alone. */
function codesElsewhere(
  homes: Int32Array,
  count: number,
  segments: ReadonlySet<number>,
): Int32Array {
  const isSure = new Uint8Array(Math.max(0, ...segments) + 1)
  for (const segment of segments) isSure[segment] = 1
  const codes = new Int32Array(count)
  let length = 0
  for (let code = 0; code < count; code++) {
    const home = homes[code]!
    if (home < 0 || isSure[home] !== 1) codes[length++] = code
  }
  return codes.subarray(0, length)
}

interface UsagePlans {
  /** Finds the traces of the rows that it is given. */
  readonly traces: PhysicalPlan
  /** The same of all rows: the cluster is told of few sets. */
  readonly tracesOfAll: PhysicalPlan
  /** The plan over the traces of one more set. */
  readonly narrowed: PhysicalPlan
}

/** Threads know a plan by its identity. */
const plans = new WeakMap<PhysicalPlan, UsagePlans>()

function plansOf(plan: PhysicalPlan, set: number): UsagePlans {
  let made = plans.get(plan)
  if (!made) {
    const stage = plan.stage.kind === 'groups' ? { ...plan.stage, aggregates: [] } : plan.stage
    const traces = { ...plan, stage, stages: [] }
    made = {
      traces,
      tracesOfAll: { ...traces, predicates: [] },
      narrowed: { ...plan, predicates: [...plan.predicates, inSemiJoinSet(set)] },
    }
    plans.set(plan, made)
  }
  return made
}
