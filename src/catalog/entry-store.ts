/**
 * The catalog in LMDB, as JSON whose numbers keep their texts:
 *
 *     <kind>/<id>                     entries
 *     deleted/<kind>/<id>             entries that were removed
 *     audit/<organization>/<number>   the audit trail
 *     audit_of/<id>/<number>          the key of what the trail says about one entry
 *     purge/<number>                  objects whose records are still to be removed from disk
 *     file/<name>/<type>:<object>     files that records of an object name
 *     last_number, last_sequence, last_audit
 */
import type { RecordsEnvironment } from '../storage/environment.ts'
import { objectOf, objectRange } from '../storage/record-key.ts'
import {
  type CatalogBatch,
  type CatalogWrite,
  writeCatalogBatch,
} from '../storage/write/catalog-batch.ts'
import { parseExactJson, writeExactJson } from '../type/exact-json.ts'
import type { ObjectReference, ObjectType } from '../type/record.ts'
import type { AuditRecord } from './audit-trail.ts'
import { type Entries, type EntryKind, entryKinds } from './entry.ts'
import { rulesOf } from './kind-rules.ts'
import { endOfNumbers, projectObjectNumbers } from './object-index.ts'

/** What an entry is found by. */
export interface EntryKey {
  readonly kind: EntryKind
  readonly id: string
}

export interface StoredEntry<K extends EntryKind> {
  /** In the order in which entries of the kind were made. */
  readonly sequence: number
  /** Stands for the entry in the keys of its records. */
  readonly number?: number
  entry: Entries[K]
  /** Removed, though lists may still have a place for it. */
  isGone?: true
}

/** What one change of the catalog writes. */
export interface Writes {
  readonly puts: readonly (readonly [kind: EntryKind, id: string, stored: StoredEntry<EntryKind>])[]
  readonly removals: readonly (readonly [
    kind: EntryKind,
    id: string,
    stored: StoredEntry<EntryKind>,
  ])[]
  readonly audit: readonly AuditRecord[]
  /** Objects, by their numbers, that lose their records. */
  readonly purges: readonly number[]
  readonly lastNumber: number
  readonly lastSequence: number
  readonly lastAudit: number
}

/** Numbers that are given to nothing where a counter was counted anew. */
const leftOut = 1000

const lastNumberKey = 'last_number'
const lastSequenceKey = 'last_sequence'
const lastAuditKey = 'last_audit'

export class EntryStore {
  readonly #records: RecordsEnvironment
  readonly #writeBatch: CatalogWrite

  /** @param write see `CatalogOptions` */
  constructor(records: RecordsEnvironment, write: CatalogWrite | undefined) {
    this.#records = records
    this.#writeBatch = write ?? (async (batch) => writeCatalogBatch(records, batch))
  }

  /** Those that can be read; `onDamage` is told of the others. */
  *entries<K extends EntryKind>(
    kind: K,
    onDamage: (damaged: EntryKey) => void,
  ): Generator<StoredEntry<K>> {
    for (const { stored } of this.#read(`${kind}/`, (id) => onDamage({ kind, id }))) {
      yield stored as StoredEntry<K>
    }
  }

  /** All that can be read, removed ones too. */
  *all(): Generator<{ readonly id: string; readonly stored: StoredEntry<EntryKind> }> {
    for (const kind of entryKinds) {
      for (const prefix of [`${kind}/`, `deleted/${kind}/`]) yield* this.#read(prefix, () => {})
    }
  }

  /** How many entries were removed, had records, and cannot be read. */
  damagedRemovals(): number {
    let count = 0
    for (const kind of entryKinds.filter((kind) => rulesOf(kind).records)) {
      for (const _ of this.#read(`deleted/${kind}/`, () => count++));
    }
    return count
  }

  *#read(prefix: string, onDamage: (id: string) => void) {
    const idOf = (key: Buffer) => key.toString().slice(prefix.length)
    const noteDamage = (_: unknown, key: Buffer) => onDamage(idOf(key))
    for (const { key, value } of this.#records.catalog.getReadable(rangeOf(prefix), noteDamage)) {
      yield { id: idOf(key), stored: parseExactJson(value.toString()) as StoredEntry<EntryKind> }
    }
  }

  /**
   * Kept apart from the entries, so that no number is given twice. One that is damaged is counted anew, and leaves out
   * some numbers: entries that had them may be damaged, too.
   */
  lastNumber(): number {
    return this.#integer(lastNumberKey, () => {
      const ofEntries = greatest(this.all(), ({ stored: { number = 0 } }) => number)
      const purged = greatest(this.purges(), (number) => (number < endOfNumbers ? number : 0))
      return Math.max(ofEntries, purged, this.#lastObject())
    })
  }

  lastSequence(): number {
    return this.#integer(lastSequenceKey, () => {
      return greatest(this.all(), ({ stored }) => Math.ceil(stored.sequence))
    })
  }

  lastAudit(): number {
    return this.#integer(lastAuditKey, () => {
      const keys = this.#records.catalog.getKeys(rangeOf('audit/'))
      return greatest(keys, (key) => Number(key.toString().split('/')[2]))
    })
  }

  /** An entry that was removed. */
  deleted<K extends EntryKind>(kind: K, id: string): StoredEntry<K> | undefined {
    const value = this.#records.catalog.getUnlessDamaged(Buffer.from(`deleted/${kind}/${id}`))
    return value && (parseExactJson(value.toString()) as StoredEntry<K>)
  }

  /** All that the trail says of an entry, oldest first; undefined when some of it cannot be read. */
  trailOf(id: string): AuditRecord[] | undefined {
    const { catalog } = this.#records
    const trail: AuditRecord[] = []
    let isWhole = true
    const noteDamage = () => {
      isWhole = false
    }
    for (const { value: key } of catalog.getReadable(rangeOf(`audit_of/${id}/`), noteDamage)) {
      const record = catalog.getUnlessDamaged(key)
      if (record) trail.push(parseExactJson(record.toString()) as AuditRecord)
      else isWhole = false
    }
    return isWhole ? trail : undefined
  }

  /** Id of the first record of the trail about an entry. */
  firstAuditOf(id: string): string | undefined {
    const prefix = `audit_of/${id}/`
    for (const key of this.#records.catalog.getKeys({ ...rangeOf(prefix), limit: 1 })) {
      return key.toString().slice(prefix.length)
    }
    return undefined
  }

  /** Whether there are records of the object with this number. */
  hasRows(number: number): boolean {
    for (const _ of this.#records.rows.getKeys({ ...objectRange(number), limit: 1 })) return true
    return false
  }

  /** Writes what is not worth an entry in the trail. */
  rewrite<K extends EntryKind>(kind: K, entries: readonly StoredEntry<K>[]): Promise<void> {
    const puts = entries.map((stored) => [`${kind}/${stored.entry.id}`, jsonBytes(stored)] as const)
    return this.#commit({ puts, removals: [] })
  }

  /** Resolves once everything is on disk. */
  write(writes: Writes): Promise<void> {
    const texts = (entries: Writes['puts']) =>
      entries.map(([kind, id, stored]) => [`${kind}/${id}`, jsonBytes(stored)] as const)
    const removed = texts(writes.removals)
    return this.#commit({
      removals: removed.map(([key]) => key),
      puts: [
        ...texts(writes.puts),
        ...removed.map(([key, value]) => [`deleted/${key}`, value] as const),
        ...writes.audit.flatMap((record) => {
          const { id, org_id, entry_id } = record
          const key = auditKey(org_id, id)
          return [
            [key, jsonBytes(record)] as const,
            [`audit_of/${entry_id}/${id}`, Buffer.from(key)] as const,
          ]
        }),
        ...writes.purges.map((number) => [purgeKey(number), Buffer.from('1')] as const),
        [lastNumberKey, Buffer.from(String(writes.lastNumber))],
        [lastSequenceKey, Buffer.from(String(writes.lastSequence))],
        [lastAuditKey, Buffer.from(String(writes.lastAudit))],
      ],
    })
  }

  /** Newest first, before `id`; of one entry if `entryId` is given. */
  *audit(organizationId: string, entryId?: string, before?: string): Generator<AuditRecord> {
    const { catalog } = this.#records
    const prefix = entryId === undefined ? `audit/${organizationId}/` : `audit_of/${entryId}/`
    // '0' is the character after '/': the range is everything that starts with the prefix.
    const start = Buffer.from(before === undefined ? `${prefix.slice(0, -1)}0` : prefix + before)
    const range = { start, end: Buffer.from(prefix), reverse: true, snapshot: false }
    for (const { key, value } of catalog.getRange(range)) {
      if (before !== undefined && key.equals(start)) continue
      const found = entryId === undefined ? value : catalog.get(value)
      if (!found) continue
      const record = parseExactJson(found.toString()) as AuditRecord
      if (record.org_id === organizationId) yield record
    }
  }

  purges(): number[] {
    const keys = this.#records.catalog.getKeys(rangeOf('purge/'))
    return Array.from(keys, (key) => Number(key.toString().slice('purge/'.length)))
  }

  purged(numbers: readonly number[]): Promise<void> {
    return this.#commit({ puts: [], removals: numbers.map(purgeKey) })
  }

  /** Notes that records of an object name these files. */
  async noteFiles(names: readonly string[], { type, id }: ObjectReference): Promise<void> {
    const { catalog } = this.#records
    const keys = names.map((name) => `file/${name}/${type}:${id}`)
    const unknown = keys.filter((key) => !catalog.getUnlessDamaged(Buffer.from(key)))
    if (unknown.length === 0) return
    await this.#commit({
      puts: unknown.map((key) => [key, Buffer.from('1')] as const),
      removals: [],
    })
  }

  /** The objects whose records name a file, removed ones too. */
  objectsNaming(name: string): ObjectReference[] {
    const prefix = `file/${name}/`
    return Array.from(this.#records.catalog.getKeys(rangeOf(prefix)), (key) => {
      const [type = '', id = ''] = key.toString().slice(prefix.length).split(':')
      return { type: type as ObjectType, id }
    })
  }

  forgetFile(name: string): Promise<void> {
    const keys = this.#records.catalog.getKeys(rangeOf(`file/${name}/`))
    return this.#commit({ puts: [], removals: Array.from(keys, (key) => key.toString()) })
  }

  async #commit(batch: CatalogBatch): Promise<void> {
    await this.#writeBatch(batch)
    // Written by another thread, it would be seen from the next turn of the event loop on.
    this.#records.root.resetReadTxn()
  }

  /** The greatest number that an object has records under. */
  #lastObject(): number {
    const { rows } = this.#records
    const shifts = projectObjectNumbers(0)
    const last = shifts.map((shift) => {
      const [start, end] = [shift + endOfNumbers, shift].map((at) => objectRange(at).start)
      const keys = rows.getKeys({ start: start!, end: end!, reverse: true, limit: 1 })
      return greatest(keys, (key) => objectOf(key) - shift)
    })
    return Math.max(...last)
  }

  /** @param countAnew at least what a damaged one was */
  #integer(name: string, countAnew: () => number): number {
    const { catalog } = this.#records
    const key = Buffer.from(name)
    const value = catalog.getUnlessDamaged(key)
    if (value) return Number(value.toString())
    return catalog.has(key) ? countAnew() + leftOut : 0
  }
}

function greatest<Item>(items: Iterable<Item>, numberOf: (item: Item) => number): number {
  let most = 0
  for (const item of items) most = Math.max(most, numberOf(item))
  return most
}

export function rangeOf(prefix: string): { start: Buffer; end: Buffer } {
  return { start: Buffer.from(prefix), end: Buffer.from(`${prefix.slice(0, -1)}0`) }
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(writeExactJson(value))
}

function auditKey(organizationId: string | null, id: string): string {
  return `audit/${organizationId ?? ''}/${id}`
}

function purgeKey(number: number): string {
  return `purge/${number}`
}
