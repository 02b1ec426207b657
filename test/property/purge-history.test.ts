/**
 * Row versions are removed for good in the midst of random histories of inserts, merges, deletions, flushes, compaction,
 * packing and folding, and the work is cut short between any two transactions, as kills do. A model that shares no code
 * says what each snapshot must see, and no file may have the bytes of what is gone.
 */
import { expect, test } from 'vitest'
import {
  closeSegments,
  openSegments,
  type RecordsEnvironment,
  type SegmentsEnvironment,
} from '../../src/storage/environment.ts'
import { compact } from '../../src/storage/maintenance/compaction.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { foldIds } from '../../src/storage/maintenance/fold-ids.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { notePurges, type Purge, readPurges } from '../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../src/storage/maintenance/purge-versions.ts'
import { wipeFiles } from '../../src/storage/maintenance/wipe-free.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import { namedBy } from '../../src/storage/segment/manifest.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { filesWith } from '../support/files-with.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, visibleAt } from '../support/temporary-segments.ts'

const seconds = Number(process.env.ASSAY_PURGE_SECONDS ?? (isSlow ? 600 : 6))

interface ModelVersion {
  readonly transaction: number
  /** Undefined: it is a deletion. */
  readonly text: string | undefined
  isPurged: boolean
}

/** What is thrown where a process would be killed. */
const killed = new Error('killed')

class History {
  readonly records = new TemporaryRecords()
  readonly store: SegmentStore
  readonly #segments: SegmentsEnvironment
  readonly choice: RandomChoice
  readonly model = new Map<string, ModelVersion[]>()
  readonly snapshots: number[] = []
  readonly limits = { ...defaultLimits, rows: 8 }
  kills = 0
  #words = 0

  constructor(seed: number) {
    this.choice = new RandomChoice(seed)
    this.#segments = openSegments(this.records.directory, { readOnly: false })
    this.store = new SegmentStore(this.#segments)
  }

  async close(): Promise<void> {
    await closeSegments(this.#segments)
    this.records.close()
  }

  step(): void {
    const { environment } = this.records
    switch (this.choice.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        this.#write()
        break
      case 4:
        flush(environment, this.store, this.limits)
        break
      case 5:
        packRows(environment, this.store.manifest().flushedThrough)
        break
      case 6:
        foldIds(environment, { recentIds: 1, fanIn: 2 })
        break
      case 7:
        this.#compact()
        break
      default:
        this.#purge()
    }
    environment.root.resetReadTxn()
    this.check()
  }

  #write(): void {
    const ids = new Set(
      Array.from({ length: 1 + this.choice.below(12) }, () => this.choice.below(20)),
    )
    const rows: object[] = []
    const versions: [string, string | undefined][] = []
    for (const number of ids) {
      const id = `record-${number}`
      const isLive = this.model.get(id)?.at(-1)?.text !== undefined
      if (isLive && this.choice.below(3) === 0) {
        rows.push({ id, _object_delete: true })
        versions.push([id, undefined])
        continue
      }
      const text = `word-${this.#words++}-${this.choice.below(2 ** 30).toString(36)}${this.choice.below(2 ** 30).toString(36)}-end`
      const isMerge = this.choice.below(3) === 0
      rows.push({
        id,
        input: text,
        metadata: { n: number % 3 },
        ...(isMerge && { _is_merge: true }),
      })
      versions.push([id, text])
    }
    const outcome = this.records.insert(rows)
    if ('error' in outcome) throw new Error(outcome.error.message)
    const { transaction } = outcome.written
    for (const [id, text] of versions) {
      const known = this.model.get(id) ?? []
      this.model.set(id, [...known, { transaction, text, isPurged: false }])
    }
    this.snapshots.push(transaction)
  }

  #compact(): void {
    const ids = this.store.manifest().segments.map(({ id }) => id)
    const some = ids.filter(() => this.choice.below(2) === 0)
    if (some.length > 0)
      compact(this.records.environment, this.store, some, { limits: this.limits })
  }

  #purge(): void {
    const purges: Purge[] = []
    if (this.choice.below(2) === 0) {
      const deleted = [...this.model].filter(([, versions]) => versions.at(-1)!.text === undefined)
      const ids = deleted.map(([id]) => id).filter(() => this.choice.below(3) > 0)
      // Of a record that is there, what was before its last deletion leaves.
      const live = [...this.model.keys()].filter(() => this.choice.below(4) === 0)
      const all = [...new Set([...ids, ...live])]
      if (all.length > 0) purges.push({ kind: 'deleted', object: 1, ids: all })
      for (const id of all) {
        const versions = this.model.get(id)!
        const last = versions.findLastIndex(({ text, isPurged }) => text === undefined && !isPurged)
        for (const version of versions.slice(0, last + 1)) version.isPurged = true
      }
    } else if (this.snapshots.length > 0) {
      const before = this.choice.pick(this.snapshots)
      purges.push({ kind: 'superseded', object: 1, before })
      for (const versions of this.model.values()) {
        versions.forEach((version, i) => {
          const next = versions[i + 1]
          const goes =
            version.text === undefined
              ? version.transaction < before
              : next && next.transaction < before
          if (goes) version.isPurged = true
        })
      }
    }
    if (purges.length === 0) return
    notePurges(this.records.environment, purges)
    // As many transactions are let through as come before a kill; after it, another process begins.
    while (!this.#survives(this.choice.below(2) === 0 ? 1 + this.choice.below(8) : 1e9));
    expect(readPurges(this.records.environment.progress)).toEqual([])
  }

  #survives(transactions: number): boolean {
    const { environment } = this.records
    const root = environment.root
    let left = transactions
    const transactionSync: typeof root.transactionSync = (run) => {
      if (left-- === 0) throw killed
      return root.transactionSync(run)
    }
    const counted = new Proxy(root, {
      get: (target, name) => {
        if (name === 'transactionSync') return transactionSync
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const process: RecordsEnvironment = { ...environment, root: counted }
    try {
      flush(environment, this.store, this.limits)
      while (purgeSegments(process, this.store, this.limits)) if (left-- <= 0) throw killed
      expect(purgePlannedRows(process, this.store)).toBe(true)
      this.#removeRetired()
      while (wipeFiles(process, this.store.environment));
      return true
    } catch (thrown) {
      if (thrown !== killed) throw thrown
      this.kills++
      root.resetReadTxn()
      this.store.endReads()
      return false
    }
  }

  #removeRetired(): void {
    const named = new Set(namedBy(this.store.manifest()))
    const retired = this.store.storedIds().filter((id) => !named.has(id))
    if (retired.length > 0) this.store.remove(retired)
    this.store.endReads()
  }

  check(): void {
    const { reader } = this.records
    for (const [id, versions] of this.model) {
      const last = versions.at(-1)!
      expect(this.records.latest(id)?.input, id).toBe(last.text)
      for (const snapshot of this.snapshots.slice(-6)) {
        const seen = versions.findLast(({ transaction }) => transaction <= snapshot)
        const wanted = seen?.isPurged ? undefined : seen?.text
        const found = reader.versionAsOf(1, id, snapshot)?.view.fieldText('input')
        expect(found && (JSON.parse(found) as unknown), `${id} at ${snapshot}`).toBe(wanted)
      }
    }
    const now = reader.lastTransaction()
    const visible = visibleAt(reader, this.store, this.store.manifest(), now)
    const live = [...this.model].filter(([, versions]) => versions.at(-1)!.text !== undefined)
    expect(visible.map((line) => line.split(' ')[1]).sort()).toEqual(live.map(([id]) => id).sort())
  }

  /** At the end: nothing is damaged, and no file has what is gone. */
  finish(): void {
    const { environment, reader } = this.records
    notePurges(environment, [{ kind: 'deleted', object: 1, ids: [] }])
    while (!this.#survives(1e9));
    const damages: unknown[] = []
    for (const _ of verifyRecords(environment, (damage) => damages.push(damage)));
    expect(damages).toEqual([])
    for (const row of rowsOfSegments(this.store, this.store.manifest())) {
      expect(reader.rowAt(1, row.version), 'a row of a segment').toBeDefined()
    }
    const versions = [...this.model.values()].flat()
    for (const { text, isPurged } of versions) {
      if (!isPurged || text === undefined) continue
      expect(filesWith(this.records.directory, text), text).toEqual([])
    }
  }
}

test(
  'what is removed is gone from snapshots and files, and all else stays as it was',
  async () => {
    const end = Date.now() + seconds * 1000
    let [histories, steps, kills, purged] = [0, 0, 0, 0]
    for (let seed = randomSeed; histories === 0 || Date.now() < end; seed++) {
      const history = new History(seed)
      try {
        for (let i = 0; i < 60; i++, steps++) history.step()
        history.finish()
      } catch (thrown) {
        console.log(`seed ${seed}`)
        throw thrown
      }
      histories++
      kills += history.kills
      purged += [...history.model.values()].flat().filter(({ isPurged }) => isPurged).length
      await history.close()
    }
    console.log({ seed: randomSeed, histories, steps, kills, purged })
    expect(purged).toBeGreaterThan(0)
  },
  (seconds + 60) * 1000,
)
