/** What a query node takes over of its home: random histories, of which a part has left for a cluster. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type KeptSource, takeOver } from '../../../src/server/nodes/take-over.ts'
import { RecordCopies } from '../../../src/storage/backup/copy-records.ts'
import { entryPiece, idRunPiece, idsKept } from '../../../src/storage/backup/read-kept.ts'
import { BackupReader } from '../../../src/storage/backup/read-rows.ts'
import {
  closeSegments,
  openRecords,
  openSegments,
  type RecordsEnvironment,
} from '../../../src/storage/environment.ts'
import {
  evictRows,
  evictSegments,
  noteEvicted,
} from '../../../src/storage/maintenance/evict-rows.ts'
import { flush } from '../../../src/storage/maintenance/flush.ts'
import { foldIds } from '../../../src/storage/maintenance/fold-ids.ts'
import { notePurges } from '../../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../../src/storage/maintenance/purge-versions.ts'
import { readEvictedMark } from '../../../src/storage/read/evicted-mark.ts'
import { RecordReader } from '../../../src/storage/read/record-reader.ts'
import { defaultLimits } from '../../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../../src/storage/segment/segment-store.ts'
import { isSlow, randomSeed as seed } from '../../support/random-seed.ts'
import { TemporaryRecords, temporaryDirectory } from '../../support/temporary-records.ts'

const object = 1
const ids = 12
const endOfTime = 2 ** 48 - 2
/** So that everything comes in several pieces. */
const pieceBytes = 100

const rows = fc.record({
  id: fc.integer({ min: 0, max: ids - 1 }).map((n) => `r${n}`),
  kind: fc.constantFrom('whole', 'whole', 'merge', 'deletion'),
  field: fc.constantFrom('input', 'output', 'metadata'),
})

/** Of up to nine rows each: from four on, ids are written as a run. */
const requests = fc.array(fc.array(rows, { minLength: 1, maxLength: 9 }), {
  minLength: 1,
  maxLength: 12,
})

/** What was written before it left, and after that. */
const histories = fc.record({ before: requests, after: fc.option(requests, { nil: [] }) })

type History = typeof histories extends fc.Arbitrary<infer Type> ? Type : never

class Home {
  readonly records = new TemporaryRecords()
  readonly #segments = openSegments(this.records.directory, { readOnly: false })
  readonly store = new SegmentStore(this.#segments)

  constructor({ before, after }: History) {
    this.#write(before, 0)
    this.flush()
    const { environment } = this.records
    const through = this.records.reader.lastTransaction()
    noteEvicted(environment, this.store, { through, database: 'main/assay' })
    while (evictSegments(environment, this.store, defaultLimits));
    while (!evictRows(environment, this.store));
    this.#write(after, before.length)
    this.flush()
  }

  flush(): void {
    flush(this.records.environment, this.store, defaultLimits)
  }

  /** Merges of what has left are refused: nothing is lent here. */
  #write(all: History['before'], from: number): void {
    for (const [i, request] of all.entries()) {
      const named = new Map(request.map((row) => [row.id, row]))
      this.records.insert(
        Array.from(named.values(), ({ id, kind, field }) => {
          if (kind === 'deletion') return { id, _object_delete: true }
          const value = { [`name${i + from}`]: `${field} of ${id}` }
          return { id, root_span_id: `t${i % 3}`, [field]: value, _is_merge: kind === 'merge' }
        }),
      )
    }
  }

  async close(): Promise<void> {
    await closeSegments(this.#segments)
    this.records.close()
  }

  /** As the home answers, while it goes on: `disturb` comes before each piece. */
  source(disturb: () => void = () => undefined): KeptSource {
    const { environment } = this.records
    const reader = new BackupReader(environment)
    const asked = <Result>(answer: () => Result): Promise<Result> => {
      disturb()
      return Promise.resolve(answer())
    }
    return {
      log: (range) => asked(() => reader.log(range, pieceBytes)),
      rows: (range, from) => asked(() => reader.rows(range, from, pieceBytes, undefined)),
      ids: () => asked(() => idsKept(environment)),
      idRuns: (runs, after) => asked(() => idRunPiece(environment, runs, after, pieceBytes)),
      entries: (of, after) => asked(() => entryPiece(environment, of, after, pieceBytes)),
      logDigest: (range) => asked(() => reader.logDigest(range)),
    }
  }

  get mark() {
    this.records.environment.root.resetReadTxn()
    return readEvictedMark(this.records.environment.progress)!
  }
}

/** All that queries go by: log, rows as they are kept, what is superseded, and each id's newest version. */
function contentOf(environment: RecordsEnvironment) {
  environment.root.resetReadTxn()
  const reader = new RecordReader(environment)
  const { log, supersessions } = environment
  return {
    log: entriesOf(log),
    supersessions: entriesOf(supersessions),
    rows: Array.from(reader.keptDelta(object, 0, endOfTime), ({ key, view }) => [
      key,
      view.flags,
      view.paginationKey,
      view.previous,
      view.transaction,
      view.fieldText('root_span_id'),
      view.isEvicted || view.bytes.toString(),
    ]),
    newest: Array.from({ length: ids }, (_, i) => {
      return [reader.has(object, `r${i}`), reader.latest(object, `r${i}`)?.key]
    }),
  }
}

function entriesOf(database: RecordsEnvironment['log']): string[] {
  const entry = ({ key, value }: { key: Buffer; value: Buffer }) =>
    `${key.toString('hex')} ${value.toString('hex')}`
  return Array.from(database.getRange(), entry)
}

/** Copies what is newer, as a node does that follows its home. */
function follow(environment: RecordsEnvironment, home: Home, after: number): void {
  const reader = new BackupReader(home.records.environment)
  const range = { after, through: home.records.reader.lastTransaction() }
  if (range.through === after) return
  const log = reader.log(range, Number.POSITIVE_INFINITY).list
  const piece = reader.rows(range, undefined, Number.POSITIVE_INFINITY, undefined)
  const outcome = new RecordCopies(environment).write({ log, rows: [piece.list] })
  expect(outcome).toHaveProperty('ids')
}

describe('what a query node takes over', () => {
  test('is all that its home keeps, with what is newer', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), async (history, isFolding) => {
        const home = new Home(history)
        const { environment } = home.records
        // Few ids are enough to be folded, and runs become others while they are read.
        const fold = () => void (isFolding && foldIds(environment, { recentIds: 2, fanIn: 2 }, 0))
        const directory = join(temporaryDirectory(), 'node')
        const { mark } = home
        const taken = await takeOver(home.source(fold), mark, directory)
        const kept = new RecordReader(environment).keptDelta(object, 0, mark.through)
        expect(taken).toBe([...kept].length)
        const node = openRecords(directory, { readOnly: false })
        const segments = openSegments(directory, { readOnly: false })
        try {
          expect(new SegmentStore(segments).manifest().flushedThrough).toBe(mark.through)
          expect(readEvictedMark(node.progress)).toEqual(mark)
          for (const [isThere, version] of contentOf(node).newest) {
            expect(isThere, 'of what is newer nothing is known yet').toBe(version !== undefined)
          }
          follow(node, home, mark.through)
          expect(contentOf(node)).toEqual(contentOf(environment))
          const fields = expect.arrayContaining(entriesOf(environment.fieldPaths))
          expect(entriesOf(node.fieldPaths)).toEqual(fields)
        } finally {
          await node.root.close()
          await closeSegments(segments)
          await home.close()
        }
      }),
      { numRuns: isSlow ? 400 : 25, seed },
    )
  })

  test('is refused where rows leave the home for good meanwhile', async () => {
    const row = (id: string) => ({ id, kind: 'whole', field: 'input' }) as const
    const home = new Home({ before: [[row('r1'), row('r2')]], after: [] })
    const { environment } = home.records
    let isPurged = false
    const purge = () => {
      if (isPurged) return
      isPurged = true
      home.records.insert([{ id: 'r1', _object_delete: true }])
      notePurges(environment, [{ kind: 'deleted', object, ids: ['r1'] }])
      home.flush()
      while (purgeSegments(environment, home.store, defaultLimits));
      expect(purgePlannedRows(environment, home.store)).toBe(true)
    }
    const source = home.source()
    const directory = join(temporaryDirectory(), 'node')
    const whilePurged: KeptSource = {
      ...source,
      ids: () => {
        purge()
        return source.ids()
      },
    }
    await expect(takeOver(whilePurged, home.mark, directory)).rejects.toMatchObject({
      code: 'HOME_AHEAD',
    })
    await home.close()
  })
})
