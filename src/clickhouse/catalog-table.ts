/**
 * The catalog as a backup without secrets has it, in a table of all nodes: who restores a data directory from them needs it
 * beside the records.
 */
import { createHash } from 'node:crypto'
import { isSession, withoutSecrets } from '../catalog/without-secrets.ts'
import { beginRead, type RecordsEnvironment } from '../storage/environment.ts'
import type { ClickHouseCluster } from './cluster.ts'

/** All of it is read to find what has changed, so that is not done more often. */
const leastPauseMs = 2000
const bytesAtOnce = 8 * 2 ** 20

interface Shown {
  readonly key: string
  /** Empty when the entry is no more. */
  readonly value: string
}

export class CatalogTable {
  readonly #cluster: ClickHouseCluster
  readonly #records: RecordsEnvironment
  /** Hashes of values by key, as all nodes have them; undefined before that is known. */
  #known: Map<string, string> | undefined
  #changes = -1
  #updatedAt = Number.NEGATIVE_INFINITY
  /** In microseconds since 1970: what is written is later, whatever the clock does. */
  #last = 0

  constructor(cluster: ClickHouseCluster, records: RecordsEnvironment) {
    this.#cluster = cluster
    this.#records = records
  }

  /**
   * Sends what has changed.
   *
   * @param changes another number than before when something may have
   * @param isUrgent false when that may be done later
   */
  async update(changes: number, isUrgent: boolean): Promise<void> {
    if (changes === this.#changes) return
    if (!isUrgent && performance.now() - this.#updatedAt < leastPauseMs) return
    this.#known ??= await this.#read()
    const hashes = new Map<string, string>()
    let changed: Shown[] = []
    let bytes = 0
    const entries = this.#changed(this.#known, hashes)
    for (const entry of entries) {
      changed.push(entry)
      bytes += entry.key.length + entry.value.length
      if (bytes < bytesAtOnce) continue
      await this.#insert(changed, false)
      changed = []
      bytes = 0
    }
    await this.#insert(changed, false)
    const gone = [...this.#known.keys()].filter((key) => !hashes.has(key))
    await this.#insert(
      gone.map((key) => ({ key, value: '' })),
      true,
    )
    this.#known = hashes
    this.#changes = changes
    this.#updatedAt = performance.now()
  }

  /** A node may have lost what it had. */
  forget(): void {
    this.#known = undefined
    this.#changes = -1
  }

  /** @param hashes is given those of all entries */
  #changed(known: ReadonlyMap<string, string>, hashes: Map<string, string>): Shown[] {
    const { root, catalog } = this.#records
    root.resetReadTxn()
    const transaction = beginRead(root)
    try {
      const changed: Shown[] = []
      // What cannot be read now may be there.
      const keep = (_: unknown, key: Buffer) => {
        const name = key.toString()
        const hash = known.get(name)
        if (hash !== undefined) hashes.set(name, hash)
      }
      for (const { key: bytes, value } of catalog.getReadable({ transaction }, keep)) {
        const key = bytes.toString()
        const shown = isSession(key) ? undefined : withoutSecrets(key, value)
        if (!shown) continue
        const hash = createHash('md5').update(shown).digest('hex')
        hashes.set(key, hash)
        if (known.get(key) !== hash) changed.push({ key, value: shown.toString() })
      }
      return changed
    } finally {
      transaction.done()
    }
  }

  /** What only some nodes have is not known. */
  async #read(): Promise<Map<string, string>> {
    const { database } = this.#cluster.settings
    const byNode = await this.#cluster.onNodes((node) =>
      node.longRows<{ readonly key: string; readonly hash: string; readonly at: string }>(
        `SELECT key, lower(hex(MD5(value))) AS hash, toUnixTimestamp64Micro(at) AS at
          FROM ${database}.catalog FINAL WHERE NOT removed`,
      ),
    )
    const known = new Map<string, string>()
    const counts = new Map<string, number>()
    for (const { key, hash, at } of byNode.flat()) {
      this.#last = Math.max(this.#last, Number(at))
      // Of one that some node has otherwise nothing is known but its name.
      if (known.has(key) && known.get(key) !== hash) known.set(key, '')
      else if (!known.has(key)) known.set(key, hash)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    for (const [key, count] of counts) if (count < byNode.length) known.set(key, '')
    return known
  }

  async #insert(entries: readonly Shown[], removed: boolean): Promise<void> {
    if (entries.length === 0) return
    const { database } = this.#cluster.settings
    this.#last = Math.max(this.#last + 1, Date.now() * 1000)
    const at = (this.#last / 1e6).toFixed(6)
    const rows = entries.map(({ key, value }) => JSON.stringify([key, value, removed, at]))
    await this.#cluster.onNodes((node) =>
      node.insertText(
        `INSERT INTO ${database}.catalog (key, value, removed, at) FORMAT JSONCompactEachRow`,
        rows.join('\n'),
      ),
    )
  }
}
