/**
 * Groups are the same with and without shared dictionaries, and whether tasks finish those that only
 * they have or leave all of them to the merge.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BoundAggregate, BoundExpression } from '../../src/binder/bound.ts'
import { vectorOf } from '../../src/executor/column/wire-values.ts'
import { runFinish } from '../../src/executor/finish.ts'
import type { TaskStorage } from '../../src/executor/scan/row-run.ts'
import { runScan } from '../../src/executor/scan.ts'
import { sharedInputs } from '../../src/executor/task/shared-inputs.ts'
import type {
  FinishTask,
  GroupsResult,
  LocalGroups,
  ScanTask,
  TaskInput,
} from '../../src/executor/task/task.ts'
import type { TaskDictionary } from '../../src/executor/task/task-dictionaries.ts'
import { runUnify } from '../../src/executor/unify.ts'
import type { PhysicalPlan, RelationStage } from '../../src/planner/physical-plan.ts'
import { localGroupingKey, localGroupingOf } from '../../src/scheduler/scan/local-grouping.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import { valueReader } from '../../src/vector/vector.ts'
import { constant, context, field, planOf, ScannedRecords } from '../support/scan-task.ts'

const path = ['root_span_id']

function aggregate(name: BoundAggregate['name'], ...given: BoundExpression[]): BoundAggregate {
  return {
    name,
    arguments: given,
    parameters: [],
    distinct: false,
    filter: undefined,
    type: 'json',
  }
}

function column(index: number): BoundExpression {
  return { kind: 'group_column', index, type: 'json' }
}

const grouping = {
  kind: 'groups',
  aggregates: [
    aggregate('count'),
    aggregate('sum', field('metrics', 'n')),
    aggregate('count_distinct', field('metadata', 'v')),
    aggregate('array_agg', field('metadata', 'v')),
    aggregate('mode', field('metadata', 'v')),
    aggregate('max', field('metadata', 'v')),
    aggregate('count_distinct', field('root_span_id')),
    aggregate('median', field('metrics', 'n')),
  ],
  row: { preferred: undefined, pick: 'oldest', values: [field('metadata', 'v')] },
} as const

const filter: RelationStage = {
  kind: 'filter',
  predicates: [
    { kind: 'comparison', operator: 'gt', left: column(2), right: constant(1), type: 'boolean' },
  ] as never,
}
const sort: RelationStage = { kind: 'sort', keys: [{ expression: column(3), descending: true }] }
const limit: RelationStage = { kind: 'limit', count: 3, offset: 1 }
const byModel: RelationStage = {
  kind: 'aggregate',
  keys: [column(1)],
  aggregates: [aggregate('count'), aggregate('sum', column(3))],
  row: undefined,
}

const keys = fc.constantFrom(
  [field('root_span_id'), field('metadata', 'm')],
  [field('metadata', 'm'), field('root_span_id')],
  [field('metadata', 'v'), field('metadata', 'm')],
)

const stages = fc.constantFrom<RelationStage[]>(
  [],
  [filter],
  [sort, limit],
  [filter, sort, limit],
  [byModel],
  [filter, byModel, { kind: 'sort', keys: [{ expression: column(1), descending: false }] }],
)

const rows = fc.array(
  fc.record({
    // Undefined: a trace of two rows that follow each other.
    trace: fc.constantFrom(undefined, undefined, undefined, 't1', 't2', '', 'ä', null),
    m: fc.constantFrom('a', 'b', null, 7),
    v: fc.constantFrom('x', 'y', 1, null, true),
    n: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 8, maxLength: 40 },
)
const sizes = fc.integer({ min: 1, max: 3 })
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 6 })

it('groups are the same however they are numbered and wherever they are finished', () => {
  let localGroups = 0
  fc.assert(
    fc.property(rows, cuts, keys, stages, sizes, (given, places, keys, stages, size) => {
      const records = given.map(({ trace, m, v, n }, i) => {
        const root_span_id = trace === undefined ? `own ${i >> 1}` : trace
        return { id: `r${i}`, root_span_id, metadata: { m, v }, metrics: { n } }
      })
      ScannedRecords.during(records, (scanned) => {
        const parts = new Parts(
          scanned,
          places,
          planOf({ stage: { ...grouping, keys }, stages }),
          size,
        )
        const plain = parts.run([])
        const shared = parts.run(parts.dictionaries())
        localGroups += shared.local
        expect(shared.answer).toEqual(plain.answer)
      })
    }),
  )
  expect(localGroups).toBeGreaterThan(50)
})

/** Records cut into segments, and what is left into the delta. */
class Parts {
  readonly #plan: PhysicalPlan
  readonly #storage: TaskStorage
  readonly #segments: readonly number[]
  readonly #lists: readonly (readonly TaskInput[])[]
  readonly #snapshot: ScanTask['snapshot'] = { transaction: 2 ** 48 - 2 }
  readonly #logRanges: Extract<TaskInput, { kind: 'log' }>['logRanges']

  /** @param size segments that a task reads */
  constructor(
    { storage }: ScannedRecords,
    places: readonly number[],
    plan: PhysicalPlan,
    size: number,
  ) {
    this.#plan = plan
    const versions = [...storage.records.readDelta(1, 0, 2 ** 48 - 2)]
    const ends = [...new Set(places)].filter((at) => at > 0 && at <= versions.length)
    ends.sort((a, b) => a - b)
    const sets = ends.map((end, i) => {
      const part = versions.slice(i === 0 ? 0 : ends[i - 1]!, end)
      return shred(part.map(({ key, view }) => ({ object: 1, version: key, row: view })))
    })
    this.#storage = {
      records: storage.records,
      openSegment: (segment) => sets[segment - 1]!,
      openMemtable: () => sets[0]!,
      segmentMetadata: (segment) => writeSegment(sets[segment - 1]!, 1).metadata,
    }
    this.#segments = sets.map((_, i) => i + 1)
    const inputs = sets.map((set, i): TaskInput => {
      const range = { object: 1, from: 0, to: set.rowCount, mayBeNewer: false }
      return { kind: 'segment', segment: i + 1, ...range }
    })
    const lists: TaskInput[][] = []
    for (let i = 0; i < inputs.length; i += size) lists.push(inputs.slice(i, i + size))
    this.#lists = lists
    const last = versions[(ends.at(-1) ?? 0) - 1]
    const after = last?.key.transaction ?? 0
    this.#logRanges = [{ object: 1, after, through: 2 ** 48 - 2 }]
  }

  /** One for the traces, of all segments that have any. */
  dictionaries(): TaskDictionary[] {
    const segments = this.#segments.filter((segment) => {
      return this.#storage.openSegment(segment).columns(path)?.text
    })
    const task = { kind: 'unify', id: 1, dictionary: undefined, path, segments } as const
    const unlimited = { maximumBytes: 1e6, homes: undefined, cancelled: undefined }
    const { dictionary, maps } = runUnify({ ...task, ...unlimited }, this.#storage)
    const bySegment = new Map(segments.map((segment, i) => [segment, maps[i]!]))
    return [{ path, dictionary: dictionary!, maps: bySegment, isComplete: true }]
  }

  run(dictionaries: readonly TaskDictionary[]): { answer: string[]; local: number } {
    const delta = this.#scan(
      [{ kind: 'log', object: 1, logRanges: this.#logRanges }],
      dictionaries,
      undefined,
    )
    const key = localGroupingKey(this.#plan, dictionaries)
    const localGrouping = key === undefined ? undefined : localGroupingOf(this.#lists, key, [delta])
    // Each task ends after a unit, as if others waited.
    const { inputs, share } = sharedInputs(this.#lists, 1, Int32Array.of(1))
    const results = this.#lists.map(() => this.#scan(inputs, dictionaries, localGrouping, share))
    const local: LocalGroups[] = results.flatMap((result) => result.local ?? [])
    const task: FinishTask = {
      kind: 'finish',
      plan: this.#plan,
      context,
      semiJoinSets: [],
      input: {
        kind: 'groups',
        partials: [delta, ...results],
        local,
        dictionaries: dictionaries.map(({ dictionary }) => dictionary),
      },
      segments: [],
      cancelled: undefined,
    }
    const { relation } = runFinish(task, this.#storage)
    const columns = relation.groupColumns.map((values) => valueReader(vectorOf(values)))
    const answer = Array.from({ length: relation.rowCount }, (_, row) =>
      columns.map((read) => canonicalJson(read(row))).join(' '),
    )
    return { answer, local: local.reduce((sum, part) => sum + countOf(part), 0) }
  }

  #scan(
    inputs: readonly TaskInput[],
    dictionaries: readonly TaskDictionary[],
    localGrouping: ScanTask['localGrouping'],
    share?: ScanTask['share'],
  ): GroupsResult {
    const task: ScanTask = {
      kind: 'scan',
      plan: this.#plan,
      context,
      semiJoinSets: [],
      dictionaries,
      localGrouping,
      snapshot: this.#snapshot,
      inputs,
      share,
      wanted: Number.POSITIVE_INFINITY,
      threshold: undefined,
      mayBePartial: false,
      budgetBytes: Number.POSITIVE_INFINITY,
      cancelled: undefined,
    }
    return runScan(task, this.#storage) as GroupsResult
  }
}

function countOf(groups: LocalGroups): number {
  return groups.kind === 'rows' ? groups.relation.rowCount : groups.groups.groupCount
}
