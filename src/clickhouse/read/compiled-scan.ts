/** What of a scan the cluster runs: the seam between who compiles plans and who asks the nodes. */
import type { BoundAggregate } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { MadeGroupsForm } from '../../planner/made-groups.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { ProofLevel } from './bounds.ts'

/**
 * Of the predicates of a scan: whether the nodes decide them (`exact`), leave out some rows that do not pass (`superset`), or
 * give all rows that are seen (`none`). Rows that columns do not have just as they are come back in any case, to be decided
 * by their bodies.
 */
export type ScanLevel = ProofLevel

/**
 * What of a scan is not made on the nodes, so that more rows come back than are in doubt: rows are left to be decided, to be
 * grouped, or to be put in order and cut by the limit.
 */
export type ScanRemainder = 'filter' | 'groups' | 'limit'

/** What of an object is read on the nodes. */
export interface ColdBounds {
  readonly database: string
  /** Row versions of this transaction and earlier ones are read there, later ones are not. */
  readonly exportedThrough: number
  /** Only replicas that have this transaction and earlier ones are read; not before `exportedThrough`. */
  readonly arrivedThrough: number
  /** Of the export that they arrived with. */
  readonly round: string
  /** What was superseded at this transaction or before is not seen. */
  readonly transaction: number
  /**
   * Whether such replicas know of all versions that were. Otherwise whoever asks looks at each version that comes back, and
   * neither groups nor the first rows can be had.
   */
  readonly areEndsKnown: boolean
  /** Only records whose pagination keys come before it. */
  readonly after: RowKey | undefined
  /** And only those from this one on; undefined: all. */
  readonly from?: RowKey | undefined
}

/** Rows whose pagination keys come before one, and from another one on; undefined: all on that side. */
export type ColdSlice = Pick<ColdBounds, 'after' | 'from'>

/** Values of `{name:Type}` in the text. */
export type ScanParameters = Readonly<
  Record<string, string | number | readonly (string | number)[]>
>

export interface CompiledScan {
  /** Without a format. */
  readonly sql: string
  readonly parameters: ScanParameters
  readonly level: ScanLevel
  /** Undefined: the nodes make all of it, but for rows in doubt. */
  readonly left: ScanRemainder | undefined
  readonly result: ScanResult
}

/** Row versions with the columns of `coldColumns`, in no order; `limit`: only so many that come first in the plan's, and others. */
export type ScanResult = { readonly kind: 'rows'; readonly limit: number | undefined }

export type CompileScan = (
  plan: PhysicalPlan,
  bounds: ColdBounds,
  context: EvaluationContext,
  traceSet?: TraceSetSql,
) => CompiledScan

/**
 * How many rows are seen, and pagination keys of some of them, as texts of integers, the newest first: the JSON of a list of
 * both.
 */
export type CompileKeySample = (
  plan: PhysicalPlan,
  bounds: ColdBounds,
) => Pick<CompiledScan, 'sql' | 'parameters'>

/** What of the groups of a scan the cluster makes. */
export interface CompiledGroupScan
  extends Pick<CompiledScan, 'sql' | 'parameters' | 'level' | 'left'> {
  /** Of each row, which has one text. Where `rest` is counted there are numbers, too: of how many rows of it. */
  readonly form: MadeGroupsForm
  /** Row versions that are in none of these groups; undefined: there are none. */
  readonly rest: CompiledScan | undefined
  readonly isRestCounted: boolean
}

/** @param usage `repeated_usage`, where only groups are wanted that it may find anything in; undefined: all are */
export type CompileGroupScan = (
  plan: PhysicalPlan,
  bounds: ColdBounds,
  context: EvaluationContext,
  traceSet?: TraceSetSql,
  usage?: BoundAggregate,
) => CompiledGroupScan | undefined

/**
 * SQL whose rows are the objects and traces that are in a set of the query: a list of tuples, or a query; empty, if nothing is
 * in it. Undefined of a set that is not told to the nodes.
 */
export type TraceSetSql = (set: number) => string | undefined
