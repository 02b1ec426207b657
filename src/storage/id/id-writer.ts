/** The writer's side of ids: knows at once that an id is new, and writes those of a request together. */
import type { RecordsEnvironment } from '../environment.ts'
import { damageError, type RecordDamage } from '../record-damage.ts'
import { type CurrentVersion, encodeCurrentVersion, objectOf, recordIdKey } from '../record-key.ts'
import { IdFilter } from './id-filter.ts'
import {
  encodeRun,
  fullHash,
  hashesOf,
  hashIdKey,
  type IdEntry,
  type IdHash,
  runRange,
} from './id-run.ts'
import { type IdRunList, readRunList, writeRunList } from './id-run-list.ts'
import { newest, recentVersion, versionInRuns } from './known-ids.ts'

/** A commit of so many records writes a run: it costs less than as many places in a tree. */
const defaultRunIds = 256

interface WrittenId extends IdEntry {
  readonly object: number
  readonly id: string
}

/** A part of a run that is damaged: what is beside it can be read. */
interface UnreadableIds {
  readonly after: IdHash
  /** Undefined at the end of the run. */
  readonly before: IdHash | undefined
  readonly damage: RecordDamage
}

/** One per writer. All but the constructor must be called in a write transaction. */
export class IdWriter {
  readonly #records: RecordsEnvironment
  readonly #runIds: number
  readonly #filter = new IdFilter()
  /** What the commit has written so far, by hash. */
  #written = new Map<IdHash, WrittenId>()
  #list: IdRunList | undefined
  /** Between which hashes there may be ids of which nothing can be read. */
  readonly #unreadable: UnreadableIds[] = []

  /** Reads all ids that there are: a second for some two million. */
  constructor(records: RecordsEnvironment, runIds = defaultRunIds) {
    this.#records = records
    this.#runIds = runIds
    for (const key of records.ids.getKeys()) {
      this.#filter.add(fullHash(objectOf(key), hashIdKey(key)))
    }
    for (const { id } of readRunList(records.progress).runs) {
      this.#addRun(id)
    }
  }

  #addRun(run: number): void {
    let last: IdHash = ''
    let damage: RecordDamage | undefined
    const noteDamage = (found: RecordDamage) => {
      damage ??= found
    }
    for (const { value } of this.#records.idRuns.getReadable(runRange(run), noteDamage)) {
      for (const hash of hashesOf(value)) {
        if (damage) this.#unreadable.push({ after: last, before: hash, damage })
        damage = undefined
        this.#filter.add(hash)
        last = hash
      }
    }
    if (damage) this.#unreadable.push({ after: last, before: undefined, damage })
  }

  /**
   * The newest version of the record, deleted perhaps. `hash` is that of object and id. Throws STORAGE_CORRUPT when what is
   * known of it may be damaged.
   */
  find(object: number, id: string, hash: IdHash): CurrentVersion | undefined {
    if (this.#unreadable.length > 0) this.#refuseUnreadable(hash)
    if (!this.#filter.mayHave(hash)) return undefined
    const written = this.#written.get(hash)
    if (written) return written
    this.#list ??= readRunList(this.#records.progress)
    return newest(
      recentVersion(this.#records, object, id),
      versionInRuns(this.#records, this.#list.runs, hash),
    )
  }

  /** Whoever is not found where nothing can be read may be there all the same, and would be doubled. */
  #refuseUnreadable(hash: IdHash): void {
    for (const { after, before, damage } of this.#unreadable) {
      if (hash > after && (before === undefined || hash < before)) throw damageError(damage)
    }
  }

  put(object: number, id: string, hash: IdHash, current: CurrentVersion, isKnown: boolean): void {
    if (!isKnown) this.#filter.add(hash)
    const { version, paginationKey, isDeleted } = current
    this.#written.set(hash, { object, id, hash, version, paginationKey, isDeleted })
  }

  /** Stores what was put since the last call. */
  store(): void {
    const written = this.#written
    this.forget()
    if (written.size >= this.#runIds) this.#storeRun(written)
    else {
      for (const current of written.values()) {
        const key = recordIdKey(current.object, current.id)
        this.#records.ids.putSync(key, encodeCurrentVersion(current))
      }
    }
  }

  /** Drops what was put since the last call of `store`. */
  forget(): void {
    this.#written = new Map()
    this.#list = undefined
  }

  #storeRun(written: ReadonlyMap<IdHash, IdEntry>): void {
    const { progress, idRuns } = this.#records
    const { next, runs } = readRunList(progress)
    const hashes = [...written.keys()].sort()
    const entries = hashes.map((hash) => written.get(hash)!)
    for (const { key, value } of encodeRun(next, entries)) idRuns.putSync(key, value)
    writeRunList(progress, {
      next: next + 1,
      runs: [...runs, { id: next, entries: written.size }],
    })
  }
}
