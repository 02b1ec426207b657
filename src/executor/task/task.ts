/** What is sent to a worker, and what comes back: plain data. */
import type { LastSorted } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import type { WireError } from '../../error.ts'
import type { MadeGroupsForm } from '../../planner/made-groups.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { OperatorMetrics, SkippedRange } from '../../planner/plan-profile.ts'
import type { LogRange } from '../../storage/prepare/memtable.ts'
import type { LostRows } from '../../storage/segment/lost-rows.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { SharedDictionary } from '../../vector/shared-dictionary.ts'
import type { WireState } from '../aggregate/wire-state.ts'
import type { RowList, SortedRows } from '../column/row-list.ts'
import type { KeyValues, WireValues } from '../column/wire-values.ts'
import type { SemiJoinSet } from '../expression/semi-join-set.ts'
import type { OrderBound } from '../order/order-bound.ts'
import type { ColumnsForm, PrintedRows, RowForm } from '../print/row-form.ts'
import type { Relation } from '../relation/relation.ts'
import type { SortThreshold } from '../scan/prune.ts'
import type { TaskDictionary } from './task-dictionaries.ts'

/** Rows to read: of a segment, of what is in none yet, of the row store, or of single records. */
export type TaskInput =
  | {
      readonly kind: 'segment'
      readonly segment: number
      /** Number of the object; the rows of the range are all of it. */
      readonly object: number
      readonly from: number
      readonly to: number
      /** Whether some of the rows may be newer than the snapshot, or be read elsewhere. */
      readonly mayBeNewer: boolean
    }
  | {
      /** A memtable, which is in memory only (`storage/prepare/memtable.ts`). */
      readonly kind: 'memtable'
      readonly memtable: number
      readonly memory: SharedArrayBuffer
      readonly object: number
      readonly from: number
      readonly to: number
      readonly mayBeNewer: boolean
    }
  | {
      /** Rows that are only in the row store. */
      readonly kind: 'log'
      readonly object: number
      /** The transactions that wrote them, ascending. */
      readonly logRanges: readonly LogRange[]
    }
  /** Rows of a segment that is damaged, which are read of the row store. */
  | ({ readonly kind: 'lost' } & LostRows)
  /** Row versions whose keys are from `from` on and before `to`, whether they were superseded or not. */
  | {
      readonly kind: 'history'
      readonly object: number
      readonly from: RowKey
      readonly to: RowKey
    }
  | { readonly kind: 'records'; readonly object: number; readonly ids: readonly string[] }
  /** Row versions that are not here: those of the object in the memory (`storage/row/lent-rows.ts`). */
  | { readonly kind: 'lent'; readonly object: number; readonly memory: SharedArrayBuffer }

/** What a query sees: rows of all transactions up to one. */
export interface SnapshotBounds {
  readonly transaction: number
  /** Rows of this transaction and earlier ones are read elsewhere, and come as lent ones; undefined: of none. */
  readonly exportedThrough?: number | undefined
  /** Numbers of objects of which no version was superseded by then, as far as that was asked. */
  readonly unsuperseded?: readonly number[]
}

/** Inputs that several tasks share (`task/shared-inputs.ts`): plain data over shared memory. */
export interface SharedInputs {
  /** How many morsels were taken, and for each 1 once it was. */
  readonly taken: Int32Array
  /** Where each morsel begins among the inputs; at the end, how many inputs there are. */
  readonly starts: Int32Array
  /** How many tasks there are at a time. */
  readonly tasks: number
  /** One number, that of tasks which wait for a thread: while there are any, a task ends after some morsels. */
  readonly waiting: Int32Array
}

export interface ScanTask {
  readonly kind: 'scan'
  /** Whether its operators are measured one by one. */
  readonly isProfiled?: boolean | undefined
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly semiJoinSets: readonly SemiJoinSet[]
  /** Of fields that rows are grouped by; with the maps of the segments of `inputs`. */
  readonly dictionaries: readonly TaskDictionary[]
  readonly localGrouping: LocalGrouping | undefined
  readonly snapshot: SnapshotBounds
  readonly inputs: readonly TaskInput[]
  /** How it shares the inputs with other tasks; undefined: all of them are its own. */
  readonly share: SharedInputs | undefined
  /** How many rows are wanted at most, of those that come first in the plan's order. */
  readonly wanted: number
  /** First sort keys beyond this are not wanted: as many rows at least as good are known already. */
  readonly threshold: SortThreshold | undefined
  /** The sort keys at the plan's `afterSorted`, where some are so long that they are null there: one row. */
  readonly longAfter?: readonly WireValues[] | undefined
  /** Whether rows that come last may be left out where all that are wanted would take too much memory. */
  readonly mayBePartial: boolean
  /** Rows that it reads by their keys, beside its inputs: see `LentRows`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
  /** Bytes that the query may hold: tasks that share their inputs, all of them together. */
  readonly budgetBytes: number
  /** Set to non-zero when nobody waits for the answer any more. */
  readonly cancelled: Int32Array | undefined
}

/** Prints rows of a relation as the plan's output says, or as many of the first as make one chunk. */
export interface PrintTask {
  readonly kind: 'print'
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly semiJoinSets: readonly SemiJoinSet[]
  readonly relation: Relation
  /** In which rows of the relation may be found. */
  readonly segments: readonly number[]
  /** With all that rows tell of it. */
  readonly form: RowForm
  /** Rows that are not here, of those that it is about: see `LentRows`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
  readonly cancelled: Int32Array | undefined
}

/** Finds out what only the rows of a relation tell of the form that they are to be printed in. */
export interface InferFormTask {
  readonly kind: 'infer form'
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly semiJoinSets: readonly SemiJoinSet[]
  readonly relation: Relation
  /** See `PrintTask`. */
  readonly segments: readonly number[]
  readonly form: ColumnsForm
  /** See `PrintTask`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
  readonly cancelled: Int32Array | undefined
}

/** Takes in groups that the cluster has made of its rows. */
export interface TakeGroupsTask {
  readonly kind: 'take groups'
  /** Whether its operators are measured one by one. */
  readonly isProfiled?: boolean | undefined
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly semiJoinSets: readonly SemiJoinSet[]
  /** Texts of groups, end to end (`json/prefixed-texts.ts`). */
  readonly parts: readonly SharedArrayBuffer[]
  readonly form: MadeGroupsForm
  /**
   * Groups of the same keys as theirs that others have found, too; undefined: the stages of the plan need all groups at
   * once. Over groups that are nowhere else the task runs the first stages.
   */
  readonly others: readonly GroupKeys[] | undefined
  /** Those that the keys of others name. */
  readonly dictionaries: readonly SharedDictionary[]
  readonly cancelled: Int32Array | undefined
}

/** Puts together what scans gave and runs the plan's stages over it. */
export interface FinishTask {
  readonly kind: 'finish'
  /** Whether its operators are measured one by one. */
  readonly isProfiled?: boolean | undefined
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly semiJoinSets: readonly SemiJoinSet[]
  /** Partial groups, or rows in their order, those of one list after the other. */
  readonly input:
    | {
        readonly kind: 'groups'
        readonly partials: readonly PartialGroups[]
        readonly local: readonly LocalGroups[]
        /** Those that the partial groups name. */
        readonly dictionaries: readonly SharedDictionary[]
      }
    | { readonly kind: 'rows'; readonly lists: readonly SortedRows[] }
  /** See `PrintTask`. */
  readonly segments: readonly number[]
  /** See `PrintTask`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
  readonly cancelled: Int32Array | undefined
}

/** Brings lists of rows into the one order of the plan. */
export interface OrderTask {
  readonly kind: 'order'
  readonly plan: PhysicalPlan
  readonly lists: readonly SortedRows[]
  /** Indexes of lists of which rows were left out that come after theirs. */
  readonly partial: readonly number[]
  /** How many of the first rows are wanted. */
  readonly wanted: number
  readonly cancelled: Int32Array | undefined
}

/** Adds the texts of a field in some segments, which have such texts, to its shared dictionary. */
export interface UnifyTask {
  readonly kind: 'unify'
  /** The dictionary's. */
  readonly id: number
  /** What it has so far; no other task may be adding to it. */
  readonly dictionary: SharedDictionary | undefined
  readonly path: readonly string[]
  readonly segments: readonly number[]
  /** Maps of the segments whose texts it has, where others have gone since it was made. */
  readonly homes: ReadonlyMap<number, Int32Array> | undefined
  /** The dictionary is given up when its texts are longer. */
  readonly maximumBytes: number
  readonly cancelled: Int32Array | undefined
}

/** All of a plan in one task: see `executor/answer.ts`. */
export interface AnswerTask {
  readonly kind: 'answer'
  readonly scan: ScanTask
  /** Groups of rows that need not be scanned. */
  readonly known: PartialGroups | undefined
  /** What is left to be read has no row that comes before this; undefined: nothing is left. */
  readonly bound: OrderBound | undefined
  readonly form: RowForm
  /** No further row is printed when the printed ones have so many bytes. */
  readonly printedBytes: number
  /** See `ScanTask`. */
  readonly lent?: readonly SharedArrayBuffer[] | undefined
}

export type Task =
  | ScanTask
  | TakeGroupsTask
  | PrintTask
  | InferFormTask
  | FinishTask
  | OrderTask
  | UnifyTask
  | AnswerTask

export interface ScanMetrics {
  /** Of the inputs that the task took. */
  readonly rowsTaken: number
  /** Without those that were left out by what an index, metadata or rows before them told. */
  readonly rowsRead: number
  readonly rowsMatched: number
  /** What was found out not to be worth reading. */
  readonly skipped: readonly SkippedRange[]
  readonly bytesRead: number
  readonly milliseconds: number
  /** Of a task that is profiled. */
  readonly operators?: readonly OperatorMetrics[]
}

export interface GroupKeys {
  readonly groupCount: number
  readonly keys: readonly KeyValues[]
}

export interface PartialGroups extends GroupKeys {
  readonly kind: 'groups'
  readonly states: readonly WireState[]
  /** The row that stands for each group; undefined when the grouping chooses none. */
  readonly rows: RowList | undefined
  /** One byte per group: 1 where that row is a preferred one. Undefined when none is preferred. */
  readonly preferred: Uint8Array | undefined
  /** What is kept of those rows. */
  readonly rowValues: readonly WireValues[]
}

/** How a task tells which of its groups are local: see `executor/group/local-groups.ts`. */
export interface LocalGrouping {
  /** The key whose texts have codes of a shared dictionary. */
  readonly key: number
  /** Segments of which one task reads every row that the query reads. */
  readonly segments: readonly number[]
  /** Codes of the dictionary that the query also finds elsewhere: among fresh rows. */
  readonly open: Int32Array
}

/** What the first stages make of the local groups of one task. */
export type LocalGroups =
  | { readonly kind: 'rows'; readonly relation: Relation }
  | { readonly kind: 'groups'; readonly groups: PartialGroups }

export interface GroupsResult extends PartialGroups {
  /** Of groups that are not among the partial ones. */
  readonly local: LocalGroups | undefined
  readonly metrics: ScanMetrics
}

export interface TakeGroupsResult {
  readonly kind: 'take groups'
  /** Of groups that are not among the local ones. */
  readonly partials: readonly PartialGroups[]
  /** Of those that are nowhere else; undefined where the task had to keep all. */
  readonly local: LocalGroups | undefined
  /** Of a task that is profiled. */
  readonly operators: readonly OperatorMetrics[]
}

export interface RowsResult {
  readonly kind: 'rows'
  readonly rows: SortedRows
  /** Whether wanted rows were left out, all of which come after these. */
  readonly isPartial: boolean
  readonly metrics: ScanMetrics
}

export interface PrintResult extends PrintedRows {
  readonly kind: 'print'
}

export interface InferFormResult {
  readonly kind: 'infer form'
  readonly form: ColumnsForm
}

export interface FinishResult {
  readonly kind: 'finish'
  /** Of a task that is profiled. */
  readonly operators?: readonly OperatorMetrics[]
  readonly relation: Relation
  /** Of stored rows that a stage has put in the order of sort keys: the place of the last one. */
  readonly lastSorted: LastSorted
}

export interface OrderResult {
  readonly kind: 'order'
  readonly rows: SortedRows
  /** Whether wanted rows are missing, all of which come after these. */
  readonly isPartial: boolean
}

export interface UnifyResult {
  readonly kind: 'unify'
  /** Undefined when it was given up. */
  readonly dictionary: SharedDictionary | undefined
  /**
   * By segment, in the order of the task's: see `SharedDictionaryBuilder.add`. Those of the first only, if the task
   * was cancelled.
   */
  readonly maps: readonly Int32Array[]
}

/** Where a row of an answer stands in the whole order. */
export interface RowPlace {
  /** Pagination key of the row; undefined unless rows come newest first. */
  readonly last: RowKey | undefined
  /**
   * Place in the order of the sort keys; undefined unless stored rows come in such an order. Rows of
   * more than one stage have it at their very end only.
   */
  readonly lastSorted: LastSorted
}

/** Its rows are the first of the answer. */
export interface AnswerResult extends PrintedRows {
  readonly kind: 'answer'
  readonly metrics: ScanMetrics
  /** That of the task, with what the rows have told. */
  readonly form: RowForm
  /** Of the last row that is printed. */
  readonly place: RowPlace
  /** Columns of the rows that only the data names. */
  readonly madeColumns: readonly string[]
  /** The rows that follow. */
  readonly rest: RowsResult | FinishResult | undefined
  /** In place of rows of the answer, those that were found, where of what is left some may come before them. */
  readonly found?: SortedRows | undefined
}

export type TaskResult =
  | GroupsResult
  | TakeGroupsResult
  | RowsResult
  | PrintResult
  | InferFormResult
  | FinishResult
  | OrderResult
  | UnifyResult
  | AnswerResult

/** An Error loses its class between threads, so failures travel as data. */
export type TaskOutcome = { readonly result: TaskResult } | { readonly error: WireError }
