/** Runs scans over records that a test wrote, without the stages before and after them. */
import type { BoundExpression, BoundObject } from '../../src/binder/bound.ts'
import { type KeyValues, vectorOf } from '../../src/executor/column/wire-values.ts'
import type { TaskStorage } from '../../src/executor/scan/row-run.ts'
import { runScan } from '../../src/executor/scan.ts'
import type { GroupsResult, RowsResult, ScanTask, TaskInput } from '../../src/executor/task/task.ts'
import { scanOf } from '../../src/planner/access-path.ts'
import type { PhysicalPlan } from '../../src/planner/physical-plan.ts'
import type { SegmentMetadata } from '../../src/storage/segment/metadata.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { Path, Value } from '../../src/type/value.ts'
import type { ColumnTable } from '../../src/vector/column-table.ts'
import { valueReader } from '../../src/vector/vector.ts'
import { TemporaryRecords } from './temporary-records.ts'

export const object: BoundObject = {
  number: 1,
  type: 'project_logs',
  id: 'P',
  projectId: 'P',
  organizationId: 'O',
}

export const context = { now: Date.UTC(2026, 0, 2), tzOffset: 0 }

/** Ways by which a scan comes to rows. */
export const inputKinds = ['segment', 'log', 'records'] as const
export type InputKind = (typeof inputKinds)[number]

export type PlanParts = Partial<PhysicalPlan> & Pick<PhysicalPlan, 'stage'>

export interface RecordWithId {
  readonly id: string
  readonly [field: string]: unknown
}

export class ScannedRecords {
  readonly ids: readonly string[]
  readonly set: ColumnTable
  #metadata: SegmentMetadata | undefined
  readonly storage: TaskStorage
  readonly #records = new TemporaryRecords()

  /** Rows need an `id` each. Every one is a request of its own. */
  constructor(rows: readonly RecordWithId[]) {
    const records = this.#records
    for (const row of rows) records.insert([row])
    this.ids = rows.map(({ id }) => id)
    const versions = [...records.reader.readDelta(1, 0, 2 ** 48 - 2)]
    this.set = shred(versions.map(({ key, view }) => ({ object: 1, version: key, row: view })))
    this.storage = {
      records: records.reader,
      openSegment: () => this.set,
      openMemtable: () => this.set,
      segmentMetadata: () => (this.#metadata ??= writeSegment(this.set, 1).metadata),
    }
  }

  /** Reads all rows in one task, unless `task` says otherwise. */
  scan(
    parts: PlanParts,
    kind: InputKind = 'segment',
    task: Partial<ScanTask> = {},
  ): GroupsResult | RowsResult {
    const plan = planOf(parts)
    return runScan(
      {
        kind: 'scan',
        plan,
        context,
        semiJoinSets: [],
        dictionaries: [],
        localGrouping: undefined,
        snapshot: { transaction: 2 ** 48 - 2 },
        inputs: [this.#input(kind)],
        share: undefined,
        wanted: Number.POSITIVE_INFINITY,
        threshold: undefined,
        mayBePartial: false,
        budgetBytes: Number.POSITIVE_INFINITY,
        cancelled: undefined,
        ...task,
      },
      this.storage,
    )
  }

  segmentRows(from: number, to: number): TaskInput {
    return { kind: 'segment', segment: 1, object: 1, from, to, mayBeNewer: false }
  }

  /** For tests that make many: the records are gone when `use` returns. */
  static during(rows: readonly RecordWithId[], use: (records: ScannedRecords) => void): void {
    const records = new ScannedRecords(rows)
    try {
      use(records)
    } finally {
      records.#records.close()
    }
  }

  #input(kind: InputKind): TaskInput {
    if (kind === 'segment') return this.segmentRows(0, this.set.rowCount)
    const logRanges = [{ object: 1, after: 0, through: 2 ** 48 - 2 }]
    return kind === 'log' ? { kind, object: 1, logRanges } : { kind, object: 1, ids: this.ids }
  }
}

export function planOf(parts: PlanParts): PhysicalPlan {
  const stages: PhysicalPlan['stages'] = []
  const plan = {
    objects: [object],
    predicates: [],
    after: undefined,
    unpivots: [],
    unpivotedPredicates: [],
    sort: [],
    afterSorted: undefined,
    limit: undefined,
    offset: 0,
    stages,
    output: { star: false, columns: [], preview: undefined },
    scannedFields: ['id', 'root_span_id', 'scores', 'metadata', 'tags'],
    ...parts,
  }
  return { access: scanOf(plan), ...plan }
}

/** Reads keys that were numbered without a shared dictionary. */
export function keyReader(keys: KeyValues): (group: number) => Value {
  if (keys.kind === 'shared') throw new Error('the keys are codes of a shared dictionary')
  return valueReader(vectorOf(keys))
}

export function field(...path: Path): BoundExpression {
  return { kind: 'field', path, type: 'json' }
}

export function constant(value: string | number | boolean): BoundExpression {
  return { kind: 'constant', value, type: 'json' }
}
