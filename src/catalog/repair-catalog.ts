/** Mends the catalog of a data directory that nobody has open. */
import type { RecordsEnvironment } from '../storage/environment.ts'
import { Catalog } from './catalog.ts'
import { EntryStore, jsonBytes, rangeOf } from './entry-store.ts'
import { rulesOf } from './kind-rules.ts'
import { catalogFormat } from './migrate.ts'
import type { DamagedEntry } from './restore-entries.ts'

/** What became of damaged entries, each as the subject of a sentence. */
export interface CatalogRepair {
  readonly madeAgain: readonly string[]
  readonly removed: readonly string[]
  /** They stay as they are. */
  readonly left: readonly string[]
}

const consequence = {
  env_var: ', whose secret is to be written again,',
  ai_secret: ', whose secret is to be written again,',
} as const

/**
 * Writes anew what can be made again, and removes the rest, but what others belong to, which would be gone with it.
 *
 * @param damaged keys of the database `catalog`
 */
export function repairCatalog(
  records: RecordsEnvironment,
  damaged: readonly Buffer[],
): CatalogRepair {
  const { root, catalog: database } = records
  const entries = new Map(
    new Catalog(records).damaged.map((each) => [`${each.kind}/${each.id}`, each]),
  )
  const madeAgain: string[] = []
  const removed: string[] = []
  const left: string[] = []
  const values = valuesMadeAgain(records)
  root.transactionSync(() => {
    for (const key of damaged) {
      const name = key.toString()
      const entry = entries.get(name)
      const value = entry ? entryValue(entry) : values(name)
      const what = entry?.what ?? `the entry ${JSON.stringify(name)}`
      if (value) {
        database.putSync(key, value)
        const secret = consequence[entry?.kind as keyof typeof consequence] ?? ''
        madeAgain.push(`${what}${secret}`)
      } else if (entry && mayHoldOthers(entry)) left.push(what)
      else {
        database.removeSync(key)
        removed.push(what)
      }
    }
  })
  root.resetReadTxn()
  return { madeAgain, removed, left }
}

function entryValue({ state, stored }: DamagedEntry): Buffer | undefined {
  return state === 'restored' && stored ? jsonBytes(stored) : undefined
}

function mayHoldOthers({ kind }: DamagedEntry): boolean {
  return kind === 'organization' || rulesOf(kind).records !== undefined
}

/** Gives what else was under a key, where that is known. */
function valuesMadeAgain(records: RecordsEnvironment): (name: string) => Buffer | undefined {
  const store = new EntryStore(records, undefined)
  const counters = new Map<string, () => number>([
    ['last_number', () => store.lastNumber()],
    ['last_sequence', () => store.lastSequence()],
    ['last_audit', () => store.lastAudit()],
  ])
  return (name) => {
    const [kind = ''] = name.split('/')
    if (kind === 'purge' || kind === 'file') return Buffer.from('1')
    if (name === 'catalog_format') return Buffer.from(catalogFormat)
    if (kind === 'audit_of') return auditKeyOf(records, name.split('/')[2]!)
    const count = counters.get(name)
    return count && Buffer.from(String(count()))
  }
}

/** The key of the record of the trail that has this number: there is none beside it. */
function auditKeyOf({ catalog }: RecordsEnvironment, number: string): Buffer | undefined {
  for (const key of catalog.getKeys(rangeOf('audit/'))) {
    if (key.toString().endsWith(`/${number}`)) return Buffer.from(key)
  }
  return undefined
}
