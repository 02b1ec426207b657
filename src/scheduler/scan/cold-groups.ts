/** Groups that the cluster makes of rows that only it has. */
import type { BoundAggregate } from '../../binder/bound.ts'
import { compileGroupScan } from '../../clickhouse/read/compile-scan.ts'
import type { CompiledGroupScan, CompiledScan } from '../../clickhouse/read/compiled-scan.ts'
import { firstStages } from '../../executor/group/local-groups.ts'
import type { GroupKeys, TakeGroupsResult, TakeGroupsTask } from '../../executor/task/task.ts'
import { prefixedText } from '../../json/prefixed-texts.ts'
import type { MadeGroupsForm } from '../../planner/made-groups.ts'
import type { SharedDictionary } from '../../vector/shared-dictionary.ts'
import { unordered } from '../admission/in-flight.ts'
import { faultsTold } from '../cold/cold-view.ts'
import { mostInlineTaken } from '../cost/cost.ts'
import { boundsOf, type ColdPlan, type ColdRun, provenOf, readsCold } from './cold-scan.ts'
import { toldTraces } from './told-traces.ts'

/**
 * Undefined where the cluster is not asked for groups of a plan.
 *
 * @param usage see `CompileGroupScan`
 */
export function compileColdGroups(
  run: ColdPlan,
  usage?: BoundAggregate,
): CompiledGroupScan | undefined {
  const { plan, context, semiJoinSets, snapshot } = run
  const { cold, transaction } = snapshot
  if (!cold || !readsCold(run) || plan.stage.kind !== 'groups') return undefined
  const bounds = boundsOf(plan, cold, transaction)
  return compileGroupScan(plan, bounds, context, toldTraces(semiJoinSets), usage)
}

export interface ColdGroupsRun extends ColdRun {
  readonly pool: ColdRun['pool'] & {
    readonly workers: number
    readonly run: (task: TakeGroupsTask, short: boolean) => Promise<TakeGroupsResult>
    /** Counts what the query holds; throws LIMIT_MEMORY. */
    readonly hold: (bytes: number) => void
    readonly letGo: (bytes: number) => void
  }
  readonly cancelled: Int32Array
}

/** Groups as the nodes have sent them: they are held until somebody lets go of them. */
export interface ColdGroups {
  /** Texts end to end. */
  readonly parts: readonly SharedArrayBuffer[]
  readonly form: MadeGroupsForm
  /** Rows that are in none of them; undefined: there are none. */
  readonly rest: CompiledScan | undefined
  readonly letGo: () => void
}

/** Undefined where tasks are to aggregate the rows. */
export async function coldGroups(
  run: ColdGroupsRun,
  usage?: BoundAggregate,
): Promise<ColdGroups | undefined> {
  const { name, snapshot, pool, audit } = run
  const compiled = compileColdGroups(run, usage)
  if (!compiled) return undefined
  await pool.admitted()
  const started = audit.now()
  const parts: SharedArrayBuffer[] = []
  let [groups, inDoubt, bytes] = [0, 0, 0]
  const letGo = () => pool.letGo(bytes)
  try {
    for await (const part of faultsTold(snapshot.cold!.reader.texts(compiled, pool.ending))) {
      pool.hold(part.byteLength)
      bytes += part.byteLength
      parts.push(part)
      const found = describeGroups(part)
      groups += found.groups
      inDoubt += found.inDoubt
    }
  } catch (thrown) {
    letGo()
    throw thrown
  }
  audit.noteBytes(bytes)
  const { sql, form, rest, isRestCounted } = compiled
  const made = { sql, rows: groups, bytes }
  audit.add('cluster groups', started, { plan: name, ...provenOf(compiled), ...made })
  const hasRest = !isRestCounted || inDoubt > 0
  return { parts, form, rest: hasRest ? rest : undefined, letGo }
}

const bracket = '['.charCodeAt(0)

/** How many groups there are, and how many rows that are in none. */
function describeGroups(part: SharedArrayBuffer): {
  readonly groups: number
  readonly inDoubt: number
} {
  const bytes = Buffer.from(part)
  let [groups, inDoubt, at] = [0, 0, 0]
  for (let text = prefixedText(bytes, at); text; text = prefixedText(bytes, at)) {
    if (bytes[text.from] === bracket) groups++
    else inDoubt += Number(bytes.toString('latin1', text.from, text.to))
    at = text.to
  }
  return { groups, inDoubt }
}

/** Bytes of texts that one task takes in: some ten thousands of groups. */
const taskBytes = 16 * 2 ** 20
/** And more of them where others have found many groups, each of which every task looks at. */
const bytesPerOther = 64

/**
 * Has tasks take in the groups.
 *
 * @param others what was found of all other rows
 * @param dictionaries those that their keys name
 */
export async function* takeColdGroups(
  run: ColdGroupsRun,
  { parts, form }: ColdGroups,
  others: readonly GroupKeys[],
  dictionaries: readonly SharedDictionary[],
): AsyncGenerator<TakeGroupsResult> {
  const { name, plan, context, semiJoinSets, pool, audit, cancelled } = run
  const mayFinish = form.keyCount > 0 && firstStages(plan) !== undefined
  const keys = others.map(({ groupCount, keys }) => ({ groupCount, keys }))
  const otherCount = others.reduce((sum, { groupCount }) => sum + groupCount, 0)
  const most = Math.max(taskBytes, otherCount * bytesPerOther)
  const tasks = Array.from(together(parts, most), (some) => () => {
    const task: TakeGroupsTask = {
      kind: 'take groups',
      isProfiled: audit.isKept,
      ...{ plan, context, semiJoinSets, dictionaries, form, cancelled },
      parts: some,
      others: mayFinish ? keys : undefined,
    }
    return pool.run(task, sizeOf(some) <= mostInlineTaken)
  })
  for await (const result of unordered(tasks, Math.max(1, pool.workers))) {
    for (const metrics of result.operators) audit.profile(name).add(metrics)
    yield result
  }
}

/** The parts in their order, some at a time: at least one, and no more than so many bytes of several. */
function* together(
  parts: readonly SharedArrayBuffer[],
  most: number,
): Generator<readonly SharedArrayBuffer[]> {
  let some: SharedArrayBuffer[] = []
  for (const part of parts) {
    if (some.length > 0 && sizeOf(some) + part.byteLength > most) {
      yield some
      some = []
    }
    some.push(part)
  }
  if (some.length > 0) yield some
}

function sizeOf(parts: readonly SharedArrayBuffer[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
