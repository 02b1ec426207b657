/**
 * Makes damaged values of the records again that follow from others: what is known of ids, marks of earlier versions and
 * names of fields from the rows, entries of the log from rows and the transactions beside them. To be called while nobody
 * else has the directory, once damaged rows were set aside.
 */
import type { RowKey } from '../../type/transaction.ts'
import { compareRowKeys } from '../../type/transaction.ts'
import type { RecordDatabase, RecordsEnvironment } from '../environment.ts'
import { fullHash, hashId, hashIdKey, objectOfHash, runOf, runRange } from '../id/id-run.ts'
import { logStateKey, noteLogChange } from '../log-state.ts'
import { RecordReader, type StoredVersion } from '../read/record-reader.ts'
import type { RecordDamage } from '../record-damage.ts'
import {
  type CurrentVersion,
  encodeCurrentVersion,
  lastSupersessionKey,
  objectOf,
  objectRange,
  readRowKey,
  recordIdKey,
  rowVersionKey,
  transactionKey,
  transactionOf,
} from '../record-key.ts'
import {
  decodeLogEntry,
  decodeSpill,
  encodeLogEntry,
  encodeSpill,
  endOfLog,
  type ObjectWrite,
} from '../record-log.ts'
import { FieldPathStore } from '../write/field-path-store.ts'
import { restoreRunList } from './fold-ids.ts'
import { isUnreadable } from './set-aside.ts'

export interface RecordsRepair {
  /** What is whole again, each as the subject of a sentence. */
  readonly madeAgain: readonly string[]
  /** Whether what flushes have left out is not known any more, so that all segments have to be made again. */
  readonly isLeftOutLost: boolean
}

const mostObjects = 2 ** 32 - 2
const lowest: RowKey = { transaction: 0, index: 0 }
const highest: RowKey = { transaction: 2 ** 48 - 2, index: 0 }

/** A version whose body, and so its id, has left the directory. */
export interface EvictedId {
  readonly object: number
  readonly id: string
  readonly version: RowKey
}

/**
 * Each of `damages` that is of another database than `rows` and `catalog`.
 *
 * @param evicted of ids that are to be made again (`idsToRepair`)
 */
export function repairRecords(
  records: RecordsEnvironment,
  damages: readonly RecordDamage[],
  evicted: readonly EvictedId[],
): RecordsRepair {
  const repair = new Repair(records, evicted)
  return repair.run(damages)
}

/** Which ids of an object are to be made again; undefined: of no object any. */
export function idsToRepair(
  records: RecordsEnvironment,
  damages: readonly RecordDamage[],
): ((object: number, id: string) => boolean) | undefined {
  const [ids, chunks] = (['ids', 'id_runs'] as const).map((database) => {
    return damages
      .filter((damage) => damage.database === database && isUnreadable(records, damage))
      .map(({ key }) => Buffer.from(key, 'hex'))
  })
  if (ids!.length + chunks!.length === 0) return undefined
  const wanted = new WantedIds(records, ids!, chunks!)
  return (object, id) => wanted.has(fullHash(object, hashId(id)))
}

/** Ids that are damaged, by their hashes. */
class WantedIds {
  readonly #hashes: ReadonlySet<string>
  readonly #stretches: readonly { readonly first: string; readonly end: string | undefined }[]

  constructor(
    { idRuns }: Pick<RecordsEnvironment, 'idRuns'>,
    ids: readonly Buffer[],
    chunks: readonly Buffer[],
  ) {
    this.#hashes = new Set(ids.map((key) => fullHash(objectOf(key), hashIdKey(key))))
    // A part of a run tells of hashes up to those of the next part.
    this.#stretches = chunks.map((chunk) => {
      const { end } = runRange(runOf(chunk))
      const range = { start: chunk, exclusiveStart: true, end, limit: 1 }
      const [next] = idRuns.getKeys(range)
      return { first: chunk.toString('latin1', 4), end: next?.toString('latin1', 4) }
    })
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash) || this.#stretches.some((each) => isWithin(each, hash))
  }

  hasAnyOf(object: number): boolean {
    const [from, to] = [fullHash(object, ''), fullHash(object + 1, '')]
    if (this.#stretches.some(({ first, end }) => to > first && (end === undefined || from < end))) {
      return true
    }
    for (const hash of this.#hashes) if (objectOfHash(hash) === object) return true
    return false
  }
}

function isWithin(
  { first, end }: { readonly first: string; readonly end: string | undefined },
  hash: string,
): boolean {
  return hash >= first && (end === undefined || hash < end)
}

class Repair {
  readonly #records: RecordsEnvironment
  readonly #reader: RecordReader
  readonly #evicted: readonly EvictedId[]

  constructor(records: RecordsEnvironment, evicted: readonly EvictedId[]) {
    this.#records = records
    this.#evicted = evicted
    this.#reader = new RecordReader(records)
  }

  run(damages: readonly RecordDamage[]): RecordsRepair {
    const of = (database: RecordDamage['database']) =>
      damages
        .filter((damage) => damage.database === database && isUnreadable(this.#records, damage))
        .map(({ key }) => Buffer.from(key, 'hex'))
    const found = {
      log: of('log'),
      supersessions: of('supersessions'),
      ids: of('ids'),
      runs: of('id_runs'),
      fieldPaths: of('field_paths'),
      progress: of('progress'),
    }
    const keys = new Set(
      Object.values(found)
        .flat()
        .map((key) => key.toString('hex')),
    )
    const madeAgain = damages.filter(({ key }) => keys.has(key)).map(({ what }) => what)
    this.#repairLog(found.log)
    this.#repairMarks(found.supersessions)
    const isLeftOutLost = this.#repairNotes(found.progress)
    this.#repairIds(found.ids, found.runs)
    this.#repairFieldPaths(found.fieldPaths)
    this.#records.root.resetReadTxn()
    return { madeAgain, isLeftOutLost }
  }

  #repairLog(keys: readonly Buffer[]): void {
    const { log, root } = this.#records
    if (keys.length > 0) root.transactionSync(() => noteLogChange(this.#records))
    // Entries first: of two that are damaged, that of the request tells the other.
    for (const key of keys.toSorted((a, b) => a[0]! - b[0]!)) {
      const last = transactionOf(key)
      if (key[0] === endOfLog[0]) {
        const entry = log.get(transactionKey(last))
        const first = entry ? decodeLogEntry(transactionKey(last), entry).first : last
        this.#put(log, key, encodeSpill({ first, last }).value)
        continue
      }
      const first = this.#firstOf(last)
      const objects: ObjectWrite[] = []
      for (const object of this.#objects()) {
        let [rows, bytes] = [0, 0]
        for (const { view } of this.#reader.keptDelta(object, first - 1, last)) {
          rows++
          bytes += view.bytes.length
        }
        // Each may have superseded another.
        if (rows > 0) objects.push({ object, rows, supersessions: rows, bytes })
      }
      this.#put(log, key, encodeLogEntry({ transaction: last, first, objects }).value)
    }
  }

  /** Of the rows' keys of a request: all that come after the request before are its own. */
  #firstOf(last: number): number {
    const { log } = this.#records
    const spillKey = encodeSpill({ first: last, last }).key
    if (!log.has(spillKey)) return last
    const spill = log.getUnlessDamaged(spillKey)
    if (spill) return decodeSpill(spillKey, spill).first
    const range = {
      start: transactionKey(last - 1),
      end: transactionKey(0),
      reverse: true,
      limit: 1,
    }
    for (const before of log.getKeys(range)) return transactionOf(before) + 1
    return 1
  }

  /** A mark says which transaction wrote the version that came next of its record. */
  #repairMarks(keys: readonly Buffer[]): void {
    for (const [object, marks] of byObject(keys)) {
      const wanted = new Map(marks.map((key) => [key.toString('hex', 4, 20), key]))
      const oldest = marks.map((key) => readRowKey(key, 12)).sort(compareRowKeys)[0]!
      for (const { key: version, view } of this.#rows(object, oldest)) {
        const { previous, paginationKey } = view
        if (!previous) continue
        const name = rowVersionKey(0, paginationKey).toString('hex', 4)
        const mark = wanted.get(name + rowVersionKey(0, previous).toString('hex', 4))
        if (!mark || compareRowKeys(version, previous) <= 0) continue
        this.#put(this.#records.supersessions, mark, transactionKey(view.transaction))
        wanted.delete(mark.toString('hex', 4, 20))
      }
      // The version that came next is lost: the one before it was not current any more all the same.
      for (const mark of wanted.values()) {
        const { transaction } = readRowKey(mark, 12)
        this.#put(this.#records.supersessions, mark, transactionKey(transaction + 1))
      }
    }
  }

  /** Returns whether the note of what flushes have left out was damaged, which is removed. */
  #repairNotes(keys: readonly Buffer[]): boolean {
    const { progress, supersessions } = this.#records
    restoreRunList(this.#records)
    let isLeftOutLost = false
    for (const key of keys) {
      const [name, object] = key.toString().split(' ')
      if (name === 'superseded') {
        let last = 0
        for (const { value } of supersessions.getRange(objectRange(Number(object)))) {
          last = Math.max(last, transactionOf(value))
        }
        this.#put(progress, lastSupersessionKey(Number(object)), transactionKey(last))
      } else if (name === logStateKey.toString()) {
        this.#records.root.transactionSync(() => noteLogChange(this.#records))
      } else if (progress.getUnlessDamaged(key) === undefined) {
        // Without it, work is done once more.
        isLeftOutLost ||= name === 'left'
        this.#records.root.transactionSync(() => progress.removeSync(key))
      }
    }
    return isLeftOutLost
  }

  /** What cannot be read is known by itself from then on, as ids of small requests are. */
  #repairIds(keys: readonly Buffer[], chunks: readonly Buffer[]): void {
    const { ids, idRuns } = this.#records
    const wanted = new WantedIds(this.#records, keys, chunks)
    for (const object of this.#objects()) {
      if (!wanted.hasAnyOf(object)) continue
      const found = new Map<string, CurrentVersion>()
      for (const [id, current] of this.#current(object)) {
        if (!wanted.has(fullHash(object, hashId(id)))) continue
        const known = found.get(id)
        if (!known || compareRowKeys(known.version, current.version) < 0) found.set(id, current)
      }
      for (const [id, current] of found) {
        this.#put(ids, recordIdKey(object, id), encodeCurrentVersion(current))
      }
    }
    this.#records.root.transactionSync(() => {
      for (const key of chunks) idRuns.removeSync(key)
      // Of ids that no row has any more.
      for (const key of keys) if (ids.getUnlessDamaged(key) === undefined) ids.removeSync(key)
    })
  }

  /** Ids of versions of an object, of those that have left with their bodies, too. */
  *#current(object: number): Generator<readonly [string, CurrentVersion]> {
    for (const { object: of, id, version } of this.#evicted) {
      const view = of === object ? this.#reader.keptRowAt(object, version) : undefined
      if (view) yield [id, { version, paginationKey: view.paginationKey, isDeleted: false }]
    }
    for (const { key: version, view } of this.#rows(object, lowest)) {
      if (view.isEvicted) continue
      const { paginationKey, isTombstone: isDeleted } = view
      const id = JSON.parse(view.fieldText('id') ?? '""') as string
      yield [id, { version, paginationKey, isDeleted }]
    }
  }

  /** A key has the whole name, unless that is long. */
  #repairFieldPaths(keys: readonly Buffer[]): void {
    const { fieldPaths, root } = this.#records
    const long = keys.filter((key) => key[4] === 0xff)
    for (const key of keys) {
      if (key[4] !== 0xff) this.#put(fieldPaths, key, key.subarray(4))
    }
    root.transactionSync(() => {
      for (const key of long) fieldPaths.removeSync(key)
      const paths = new FieldPathStore(this.#records)
      for (const object of byObject(long).keys()) {
        for (const { view } of this.#rows(object, lowest)) paths.addOf(object, view)
      }
    })
  }

  #put(database: RecordDatabase, key: Buffer, value: Buffer): void {
    this.#records.root.transactionSync(() => database.putSync(key, value))
    this.#records.root.resetReadTxn()
  }

  #rows(object: number, from: RowKey): Iterable<StoredVersion> {
    return this.#reader.keptDelta(object, Math.max(0, from.transaction - 1), highest.transaction)
  }

  /** That have rows. */
  *#objects(): Generator<number> {
    for (let object = 0; object < mostObjects; object++) {
      const start = rowVersionKey(object, lowest)
      const [found] = this.#records.rows.getKeys({ start, limit: 1 })
      if (!found) return
      object = objectOf(found)
      yield object
    }
  }
}

function byObject(keys: readonly Buffer[]): Map<number, Buffer[]> {
  const objects = new Map<number, Buffer[]>()
  for (const key of keys) objects.set(objectOf(key), [...(objects.get(objectOf(key)) ?? []), key])
  return objects
}
