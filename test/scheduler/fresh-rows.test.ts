import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runScan } from '../../src/executor/scan.ts'
import type { RowsResult } from '../../src/executor/task/task.ts'
import { FreshRows } from '../../src/scheduler/maintenance/fresh-rows.ts'
import { splitScan } from '../../src/scheduler/scan/split.ts'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { sealRows } from '../../src/storage/maintenance/seal-rows.ts'
import { type LogRange, MemtableBuilder } from '../../src/storage/prepare/memtable.ts'
import { type PrepareOptions, prepareTogether } from '../../src/storage/prepare/prepare.ts'
import { TaskReads } from '../../src/storage/read/task-reads.ts'
import { emptyManifest, type Manifest } from '../../src/storage/segment/manifest.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { sharedKeys } from '../../src/vector/shared-columns.ts'
import { context, planOf } from '../support/scan-task.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { visibleAt } from '../support/temporary-segments.ts'

const limits = { rows: 1000, rowBytes: 1e9 }

/** A store that is written and flushed step by step, and what its queries read. */
class Store {
  readonly records = new TemporaryRecords()
  readonly #environment = openSegments(this.records.directory, { readOnly: false })
  readonly segments = new SegmentStore(this.#environment)
  manifest: Manifest = emptyManifest
  fresh = new FreshRows({ seal: (logRanges) => this.#seal(logRanges) })
  #reads = new TaskReads(this.records.environment, this.#environment)
  readonly #parts = new MemtableBuilder(2)
  #finishSeal: () => void = () => undefined
  #isHeld = false
  #onSeal: (rows: number) => void = () => undefined

  /** Writes the events in so many requests, which come together. */
  write(events: readonly object[], isLarge: boolean, requestCount = 1): void {
    const options: PrepareOptions = {
      form: 'events',
      object: { type: 'project_logs', id: 'P' },
      nowMs: 0,
      ...(isLarge && { blockLimits: { bytes: 300, worthwhileBytes: 0 } }),
    }
    const requests = Array.from({ length: requestCount }, (_, request) => {
      const own = events.filter((_, i) => i % requestCount === request)
      return { body: Buffer.from(JSON.stringify({ events: own })), options }
    })
    const { rows } = prepareTogether(requests)
    const parts = this.#parts.make(rows)
    const [outcome] = this.records.writer.write([{ rows, objectNumbers: [1] }])
    if (!outcome || 'error' in outcome) throw new Error('the rows were not written')
    this.fresh.add(outcome.written, parts, [1])
  }

  /** Row counts of what is sealed together from now on. */
  noteSeals(): number[] {
    const sealed: number[] = []
    this.#onSeal = (rows) => sealed.push(rows)
    return sealed
  }

  /** Until then, what is sealed is on its way. */
  holdSeals(): void {
    this.#isHeld = true
  }

  async finishSeals(): Promise<void> {
    this.#isHeld = false
    this.#finishSeal()
    await new Promise((done) => setImmediate(done))
  }

  /** @param meanwhile what happens before the new segments are known */
  async flush(meanwhile: () => Promise<void>): Promise<void> {
    const taken = this.fresh.take()
    await meanwhile()
    const { environment } = this.records
    this.manifest = flush(environment, this.segments, limits, taken)
    this.fresh.flushed(this.manifest.flushedThrough)
  }

  /** What comes back after a restart. */
  restart(): void {
    this.#reads = new TaskReads(this.records.environment, this.#environment)
    this.fresh = new FreshRows({ seal: (logRanges) => this.#seal(logRanges) })
    this.fresh.restore(this.records.reader.log(this.manifest.flushedThrough))
  }

  /** Versions of the rows that a query of the snapshot reads. */
  seen(transaction: number): string[] {
    const plan = planOf({ stage: { kind: 'rows', carried: [] } })
    const snapshot = {
      transaction,
      segments: this.manifest.segments,
      fresh: this.fresh.at(transaction),
      history: () => [],
      release: () => undefined,
    }
    const { ranges, others } = splitScan(plan, snapshot, [], { findKeys: () => new Map() })
    const inputs = [...others, ...ranges.map(({ input }) => input)]
    const { rows } = this.#reads.during((storage) =>
      runScan(
        {
          kind: 'scan',
          plan,
          context,
          semiJoinSets: [],
          dictionaries: [],
          localGrouping: undefined,
          snapshot: { transaction },
          inputs,
          share: undefined,
          wanted: Number.POSITIVE_INFINITY,
          threshold: undefined,
          mayBePartial: false,
          budgetBytes: Number.POSITIVE_INFINITY,
          cancelled: undefined,
        },
        storage,
      ),
    ) as RowsResult
    return Array.from(rows.transaction, (of, i) => `1/${of}/${rows.index[i]}`).sort()
  }

  async close(): Promise<void> {
    await closeSegments(this.#environment)
    this.records.close()
  }

  async #seal(logRanges: readonly LogRange[]): Promise<SharedArrayBuffer | undefined> {
    const memory = sealRows(this.records.environment, { logRanges })
    this.#onSeal(memory ? sharedKeys(memory).object.length : 0)
    if (this.#isHeld) {
      await new Promise<void>((resolve) => {
        this.#finishSeal = resolve
      })
    }
    return memory
  }
}

const row = fc.tuple(
  fc.integer({ min: 0, max: 30 }),
  fc.constantFrom('put', 'put', 'merge', 'delete'),
)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ rows: fc.array(row, { minLength: 1, maxLength: 5 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      newRows: fc.integer({ min: 2, max: 6 }),
      requests: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      event: fc.constantFrom('hold seals', 'finish seals', 'flush', 'flush slowly', 'restart'),
    }),
  },
)

it('shows every snapshot the same rows, whether they are in logRanges, parts or segments', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const store = new Store()
      try {
        let fresh = 100
        const write = (
          isLarge: boolean,
          rows: readonly (readonly [number, string])[],
          requests?: number,
        ) =>
          store.write(
            rows.map(([id, action]) => ({
              id: `${id}`,
              ...(action === 'merge' && { _is_merge: true }),
              ...(action === 'delete' && { _object_delete: true }),
              metadata: { step: action },
              // So long that logRanges are sealed after a few rows.
              ...(action === 'put' && !isLarge && { input: 'x'.repeat(300_000) }),
            })),
            isLarge,
            requests,
          )
        for (const each of steps) {
          if ('rows' in each) write(false, each.rows)
          else if ('newRows' in each) {
            write(
              true,
              Array.from({ length: each.newRows }, () => [fresh++, 'put']),
              each.requests,
            )
          } else if (each.event === 'hold seals') store.holdSeals()
          else if (each.event === 'finish seals') await store.finishSeals()
          else if (each.event === 'restart') store.restart()
          else {
            await store.flush(async () => {
              if (each.event !== 'flush slowly') return
              write(false, [
                [fresh++, 'put'],
                [1, 'put'],
                [2, 'delete'],
              ])
              await store.finishSeals()
              checkAll(store)
            })
          }
          checkAll(store)
        }
      } finally {
        await store.close()
      }
    }),
    { numRuns: 40 },
  )
}, 240_000)

it('takes many rows of before a start in ranges: queries, seals and flushes hold few of them', async () => {
  const store = new Store()
  try {
    const input = 'x'.repeat(1_000_000)
    const count = 90
    for (let i = 0; i < count; i++) {
      store.write([{ id: `${i}`, input }], false)
      await new Promise((done) => setImmediate(done))
    }
    const { last } = store.fresh
    store.holdSeals()
    store.restart()
    // Of 16 MiB each.
    expect(store.fresh.at(last).logRangesOf(1).length).toBeGreaterThan(4)
    const first = store.fresh.take()
    expect(first.logRanges.length).toBeLessThan(count)
    const left = store.fresh.after(first.through)
    expect(left.rows).toBeGreaterThan(count * 0.2)
    expect(left.bytes).toBeLessThan(count * input.length - 60 * 2 ** 20)
    const sealed = store.noteSeals()
    store.restart()
    await store.finishSeals()
    await expect.poll(() => store.fresh.at(last).logRangesOf(1)).toEqual([])
    expect(Math.max(...sealed)).toBeLessThan(12)
    expect(sealed.reduce((sum, rows) => sum + rows)).toBeGreaterThanOrEqual(count)
    await store.flush(async () => undefined)
    expect(store.manifest.flushedThrough).toBeLessThan(last)
    checkAll(store)
    await store.flush(async () => undefined)
    expect(store.manifest.flushedThrough).toBe(last)
    checkAll(store)
  } finally {
    await store.close()
  }
})

function checkAll(store: Store): void {
  const { reader } = store.records
  const snapshots = Array.from(reader.log(0), ({ transaction }) => transaction)
  for (const snapshot of [snapshots[0]!, snapshots.at(-2), snapshots.at(-1)]) {
    if (snapshot === undefined) continue
    const expected = visibleAt(reader, store.segments, emptyManifest, snapshot)
    expect(store.seen(snapshot)).toEqual(expected.map((name) => name.split(' ')[0]))
  }
}
