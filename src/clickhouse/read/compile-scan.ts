/** Compiles what of a plan's scan the nodes do: which versions are seen, which may pass, and what is made of them. */
import type { BoundAggregate } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { arrivedCondition } from '../arrived-table.ts'
import {
  type Bounds,
  conjunction,
  disjunction,
  negation,
  type ProofLevel,
  unproven,
} from './bounds.ts'
import { compileOrder } from './compile-order.ts'
import { type CompiledPredicates, compilePredicates } from './compile-predicates.ts'
import { compilePlanGroups } from './compile-unpivot.ts'
import { mayRepeatUsage } from './compile-usage.ts'
import type { CompileContext } from './compile-value.ts'
import type {
  ColdBounds,
  CompiledGroupScan,
  CompiledScan,
  CompileGroupScan,
  CompileKeySample,
  CompileScan,
  ScanParameters,
  ScanRemainder,
  TraceSetSql,
} from './compiled-scan.ts'
import { keyNumber } from './sql-text.ts'
import { StatementConstants } from './statement-names.ts'

/** What comes back of a row version, as `cold-rows.ts` reads it. */
export const coldColumns =
  'object, pagination_key, version, transaction, flags, previous, toUnixTimestamp64Micro(created), body'

const noSets: TraceSetSql = () => undefined

/** All rows that may be of the scan; where that will do, only those that come first in its order. */
export const compileScan: CompileScan = (
  plan,
  bounds,
  context,
  traceSet = noSets,
): CompiledScan => {
  const scanned = scannedRows(plan, bounds, context, traceSet)
  const { from, rows, level, parameters } = scanned
  const first = scanned.isWhole ? firstRowsOf(plan, scanned) : undefined
  const all = `SELECT ${coldColumns} ${from()} AND ${rows.may}`
  const made = first ?? { sql: all, result: { kind: 'rows', limit: undefined } as const }
  const sql = scanned.compileContext.constants.before(made.sql)
  return { ...made, sql, parameters, level, left: leftOf(plan, level, first !== undefined) }
}

/** @param isCut whether the nodes give no more rows than the limit */
function leftOf(
  { stage, limit }: PhysicalPlan,
  level: ProofLevel,
  isCut: boolean,
): ScanRemainder | undefined {
  if (level !== 'exact') return 'filter'
  if (stage.kind === 'groups') return 'groups'
  return limit === undefined || isCut ? undefined : 'limit'
}

/** Groups of the rows of the scan; undefined where all are to be aggregated elsewhere. */
export const compileGroupScan: CompileGroupScan = (
  plan,
  bounds,
  context,
  traceSet = noSets,
  usage,
) => {
  const scanned = scannedRows(plan, bounds, context, traceSet)
  return scanned.isWhole ? groupsOf(plan, scanned, usage) : undefined
}

/** Keys that a sample has: with more of them, its slices are smaller. */
const sampledKeys = 1000

export const compileKeySample: CompileKeySample = (plan, bounds) => {
  const { sql: seen, parameters } = seenVersions(plan, bounds)
  const keys = `arrayReverseSort(groupArraySample(${sampledKeys})(pagination_key))`
  const sample = `[toString(count())], arrayMap(key -> toString(key), ${keys})`
  return {
    sql: `SELECT toJSONString((${sample})) FROM ${bounds.database}.records WHERE ${seen}`,
    parameters,
  }
}

function scannedRows(
  plan: PhysicalPlan,
  bounds: ColdBounds,
  context: EvaluationContext,
  traceSet: TraceSetSql,
): ScannedRows {
  const { sql: seen, parameters } = seenVersions(plan, bounds)
  const compileContext = contextOf(plan, context, traceSet)
  return {
    ...predicatesOf(plan, compileContext),
    from: (join = '') => `FROM ${bounds.database}.records${join} WHERE ${seen}`,
    parameters,
    compileContext,
    isWhole: bounds.areEndsKnown,
  }
}

function contextOf(
  { objects }: PhysicalPlan,
  context: EvaluationContext,
  traceSet: TraceSetSql,
): CompileContext {
  // With all that the context inherits.
  return Object.assign(Object.create(context) as EvaluationContext, {
    objects,
    traceSet,
    constants: new StatementConstants(),
  })
}

/** What a history shows of a version is not what its columns have. */
function predicatesOf(
  { objects, predicates }: PhysicalPlan,
  context: CompileContext,
): Pick<CompiledPredicates, 'level' | 'rows'> {
  if (objects.some(({ isHistory }) => isHistory)) return { level: 'none', rows: unproven }
  return compilePredicates(predicates, context)
}

interface ScannedRows {
  /** @param join of which elements of rows are read, too */
  readonly from: (join?: string) => string
  readonly rows: Bounds
  readonly level: ProofLevel
  readonly parameters: ScanParameters
  readonly compileContext: CompileContext
  readonly isWhole: boolean
}

function groupsOf(
  plan: PhysicalPlan,
  { from, rows, level, parameters, compileContext }: ScannedRows,
  usage: BoundAggregate | undefined,
): CompiledGroupScan | undefined {
  const { stage } = plan
  if (stage.kind !== 'groups' || rows.sure === '0') return undefined
  const groups = compilePlanGroups(plan, stage, compileContext)
  if (!groups) return undefined
  const { keys, aggregates, names, states, doubts, join, passes } = groups
  const grouped = conjunction([rows.sure, negation(disjunction(doubts))])
  const others = conjunction([rows.may, negation(grouped)])
  // Elements come of rows that have some: of others nobody would see that they are in doubt.
  const isCounting = level === 'exact' && others !== '0' && join === ''
  const having = usage && mayRepeatUsage(usage, compileContext)
  const toldKeys = isCounting ? toldApart(keys, grouped) : keys
  const by = toldKeys.length === 0 ? '' : ` GROUP BY ${toldKeys.map((_, i) => `k${i}`).join(', ')}`
  const columns = [...toldKeys.map((key, i) => `${key} AS k${i}`), ...aggregates]
  const condition = isCounting ? rows.may : conjunction([grouped, passes])
  // By keys that are the same for all rows, nodes make a group even of none.
  const hasRows = toldKeys.length === 0 ? '1' : 'n > 0'
  const isWanted = having ? disjunction([isCounting ? isInDoubt : '0', having]) : '1'
  const kept = conjunction([hasRows, isWanted])
  const made = `SELECT ${columns.join(', ')} ${from(join)} AND ${condition}${by}${kept === '1' ? '' : ` HAVING ${kept}`}`
  const shown = `toJSONString((${names.join(', ')}, 0))`
  const text = isCounting ? `if(${isInDoubt}, toString(n), ${shown})` : shown
  const left = level === 'exact' ? undefined : 'filter'
  const { constants } = compileContext
  const rest: CompiledScan = {
    sql: constants.before(`SELECT ${coldColumns} ${from()} AND ${others}`),
    parameters,
    level,
    left,
    result: { kind: 'rows', limit: undefined },
  }
  return {
    sql: constants.before(`SELECT ${text} FROM (${made})`),
    parameters,
    level,
    left,
    form: {
      keyCount: keys.length,
      states,
      rowValues: stage.row?.values.length,
      hasPreferred: stage.row?.preferred !== undefined,
    },
    rest: others === '0' ? undefined : rest,
    isRestCounted: isCounting,
  }
}

/** The first key of groups of rows in doubt: no letter of a kind. */
const doubtKey = "'?'"
const isInDoubt = `ifNull(k0 = ${doubtKey}, 0)`

/** Keys of groups that are of rows in doubt alone, or have none. With one key more, nodes would look groups up in a slower way. */
function toldApart(keys: readonly string[], isTold: string): readonly string[] {
  const [first = 'NULL', ...others] = keys
  return [`if(${isTold}, ${first}, ${doubtKey})`, ...others]
}

/**
 * The first rows of those that surely pass and come after the plan's position, and all of which only the body tells that they
 * do, and where they come. Without a limit all rows but those that surely come before the position.
 */
function firstRowsOf(
  plan: PhysicalPlan,
  { from, rows, compileContext }: ScannedRows,
): Pick<CompiledScan, 'sql' | 'result'> | undefined {
  const { stage, limit, offset, unpivots } = plan
  const isAll = limit === undefined && !plan.afterSorted
  if (stage.kind !== 'rows' || unpivots.length > 0 || isAll) return undefined
  if (limit !== undefined && rows.sure === '0') return undefined
  const order = compileOrder(plan, compileContext)
  if (!order) return undefined
  if (limit === undefined) {
    const left = conjunction([rows.may, disjunction([order.isInDoubt, order.isAfter])])
    return { sql: `SELECT ${coldColumns} ${from()} AND ${left}`, result: { kind: 'rows', limit } }
  }
  const told = conjunction([rows.sure, negation(order.isInDoubt)])
  const others = conjunction([rows.may, negation(told)])
  const ordered = conjunction([told, order.isAfter])
  const wanted = limit + offset
  const first = `SELECT ${coldColumns} ${from()} AND ${ordered} ORDER BY ${order.sql} LIMIT ${wanted}`
  const rest = `SELECT ${coldColumns} ${from()} AND ${others}`
  return {
    sql: others === '0' ? first : `SELECT * FROM (${first}) UNION ALL ${rest}`,
    result: { kind: 'rows', limit: wanted },
  }
}

/** Versions that are seen at the bounds. */
function seenVersions(
  plan: PhysicalPlan,
  { database, exportedThrough, arrivedThrough, round, transaction, after, from }: ColdBounds,
): { readonly sql: string; readonly parameters: ScanParameters } {
  const [current, past] = objectsOf(plan)
  const parameters: Record<string, ScanParameters[string]> = {
    exportedThrough,
    arrivedThrough,
    round,
  }
  const seen: string[] = []
  if (current.length > 0) {
    parameters.objects = current
    parameters.seenAt = transaction
    seen.push('object IN {objects:Array(UInt32)} AND by > {seenAt:UInt64} AND NOT deleted')
  }
  if (past.length > 0) {
    parameters.histories = past
    seen.push('object IN {histories:Array(UInt32)}')
  }
  const conditions = [
    `(${seen.map((each) => `(${each})`).join(' OR ')})`,
    // A row's key may have an earlier transaction than the row shows.
    'version < ({exportedThrough:UInt64} + 1) * 65536',
    arrivedCondition(database),
  ]
  if (after) {
    parameters.after = keyNumber(after)
    conditions.push('pagination_key < {after:UInt64}')
  }
  if (from) {
    parameters.from = keyNumber(from)
    conditions.push('pagination_key >= {from:UInt64}')
  }
  return { sql: conditions.join(' AND '), parameters }
}

/** Of which the version that is seen is read, and of which all are. */
function objectsOf({ objects }: PhysicalPlan): [current: number[], past: number[]] {
  const [current, past]: [number[], number[]] = [[], []]
  for (const { number, isHistory } of objects) (isHistory ? past : current).push(number)
  return [current, past]
}
