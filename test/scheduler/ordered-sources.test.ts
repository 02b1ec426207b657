/** Sources are taken from the best on: none that is left has a row that comes before what their bound says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OrderedSources } from '../../src/scheduler/scan/ordered-sources.ts'
import { isSegmentRange, rowCountOf, type ScanRange } from '../../src/scheduler/scan/scan-range.ts'
import type { TaskReads } from '../../src/storage/read/task-reads.ts'
import { compareRowKeys } from '../../src/type/transaction.ts'
import { granuleRows, type KeyColumns } from '../../src/vector/column.ts'
import { paginationKeyAt } from '../../src/vector/row-keys.ts'
import { randomSeed as seed } from '../support/random-seed.ts'
import { field, planOf } from '../support/scan-task.ts'

/** Rows of a segment or a memtable: as old as these say, and with a number, or null, in each granule of a segment. */
interface Rows {
  readonly isPart: boolean
  readonly count: number
  readonly first: number
  readonly step: number
  readonly values: readonly (readonly number[] | null)[]
}

const value = fc.option(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 3 }))
const rows: fc.Arbitrary<Rows> = fc.record({
  isPart: fc.boolean(),
  count: fc.integer({ min: 1, max: 3 * granuleRows }),
  first: fc.integer({ min: 0, max: 50_000 }),
  step: fc.integer({ min: 1, max: 3 }),
  values: fc.array(value, { minLength: 3, maxLength: 3 }),
})

const made = new WeakMap<Rows, KeysOfRows>()

type KeysOfRows = Pick<KeyColumns, 'paginationTransaction' | 'paginationIndex'>

function keysOf(given: Rows): KeysOfRows {
  const { count, first, step } = given
  const keys = made.get(given) ?? {
    paginationTransaction: Float64Array.from({ length: count }, (_, i) => first + i * step),
    paginationIndex: new Int32Array(count),
  }
  made.set(given, keys)
  return keys
}

const boundsOf = (values: readonly number[] | null | undefined, pick: typeof Math.min) =>
  values ? pick(...values) : null

/** Some of the rows, as pruning may have left them: with the bounds of all. */
function pieceOf(given: Rows, id: number, cut: { from: number; to: number }): ScanRange {
  const keys = keysOf(given)
  const { count, values, isPart } = given
  const [oldest, newest] = [paginationKeyAt(keys, 0), paginationKeyAt(keys, count - 1)]
  const shared = { object: 1, mayBeNewer: false }
  if (isPart) {
    const input = {
      kind: 'memtable',
      memtable: id,
      memory: undefined as never,
      from: 0,
      to: count,
    } as const
    return { input: { ...input, ...shared }, oldest, newest }
  }
  const all = values.flatMap((each) => each ?? [])
  const column = {
    type: all.length > 0 ? 'number' : 'nulls',
    path: ['n'],
    nullCount: 1,
    minimum: Math.min(...all),
    maximum: Math.max(...all),
    granuleMinimums: values.map((each) => boundsOf(each, Math.min)),
    granuleMaximums: values.map((each) => boundsOf(each, Math.max)),
  }
  const part = { object: 1, from: 0, to: count, firstPagination: oldest, lastPagination: newest }
  const metadata = { rowCount: count, objects: [part], columns: [column], keys: {} }
  const input = { kind: 'segment', segment: id, ...cut } as const
  return {
    input: { ...input, ...shared },
    metadata: metadata as never,
    objectRows: part as never,
    oldest,
    newest,
  }
}

/** Takes all, some rows at a time, and tells what was taken and is left each time. */
function takeAll(
  given: readonly Rows[],
  isPruned: boolean,
  sort: { descending: boolean } | undefined,
  most: number,
  check: (sources: OrderedSources, taken: readonly ScanRange[]) => void,
) {
  const ranges = given.flatMap((each, id) => {
    const cut = isPruned && each.count > 2 ? Math.floor(each.count / 2) : each.count
    const from = { from: 0, to: cut }
    const first = pieceOf(each, id, from)
    if (each.isPart || cut === each.count) return [first]
    return [first, pieceOf(each, id, { from: cut + 1, to: each.count })]
  })
  const reads = {
    openSegment: (id: number) => ({ keys: keysOf(given[id]!) }),
  } as unknown as TaskReads
  const key = sort && { expression: field('n'), descending: sort.descending }
  const plan = planOf({
    stage: { kind: 'rows', carried: [] },
    ...(key && { sort: [key], limit: 9 }),
  })
  const sources = new OrderedSources(ranges, plan, reads)
  const seen = new Set<string>()
  for (let steps = 0; ; steps++) {
    expect(steps).toBeLessThan(1000)
    const taken = sources.take(most)
    if (taken.length === 0) break
    for (const { input } of taken) {
      for (let row = input.from; row < input.to; row += 997) {
        const name = `${input.kind} ${input.kind === 'segment' ? input.segment : input.memtable} ${row}`
        expect(seen.has(name)).toBe(false)
        seen.add(name)
      }
    }
    check(sources, taken)
  }
  expect(sources.ranges).toEqual([])
  expect(sources.bound).toBeUndefined()
  return ranges
}

const segmentsAlone = fc.array(
  rows.map((each) => ({ ...each, isPart: false })),
  {
    minLength: 1,
    maxLength: 5,
  },
)

test('by age, all that is left is as old as the bound, and a row is as new', () => {
  fc.assert(
    fc.property(
      segmentsAlone,
      fc.boolean(),
      fc.integer({ min: 2000, max: 20_000 }),
      (given, isPruned, most) => {
        takeAll(given, isPruned, undefined, most, ({ bound, ranges }) => {
          if (!bound) return
          expect(bound.kind).toBe('age')
          if (bound.kind !== 'age') return
          const newest = ranges.map(({ input }) => {
            const { segment, to } = input as { segment: number; to: number }
            return paginationKeyAt(keysOf(given[segment]!), to - 1)
          })
          const best = newest.reduce((a, b) => (compareRowKeys(a, b) > 0 ? a : b))
          expect(bound.newest).toEqual(best)
        })
      },
    ),
    { seed, numRuns: 40 },
  )
})

test('by a field, granules that are left have no better value than the bound', () => {
  fc.assert(
    fc.property(
      fc.array(rows, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 20_000 }),
      (given, descending, most) => {
        takeAll(given, false, { descending }, most, ({ bound, ranges }) => {
          if (!bound || bound.kind === 'age') return
          for (const range of ranges) {
            if (!isSegmentRange(range)) {
              // Nothing is known of a part.
              expect(bound.kind).toBe('any')
              continue
            }
            const { segment, from, to } = range.input
            const first = Math.floor(from / granuleRows)
            const granules = given[segment]!.values.slice(first, Math.ceil(to / granuleRows))
            const values = granules.flatMap((each) => each ?? [])
            if (bound.kind === 'any' || values.length === 0) continue
            expect(bound.kind).toBe('number')
            if (bound.kind !== 'number') continue
            const best = descending ? Math.max(...values) : Math.min(...values)
            expect(descending ? best <= bound.value : best >= bound.value).toBe(true)
          }
        })
      },
    ),
    { seed, numRuns: 100 },
  )
})

test('as many of the newest rows are taken as are asked for', () => {
  const given = [{ isPart: false, count: 40, first: 0, step: 1, values: [null, null, null] }]
  const sizes: number[] = []
  takeAll(given, false, undefined, 5, (_, taken) => {
    if (sizes.length < 3) sizes.push(...taken.map(rowCountOf))
  })
  expect(sizes).toEqual([5, 5, 5])
})
