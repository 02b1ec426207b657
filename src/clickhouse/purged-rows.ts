/**
 * Row versions that retention, or the deletion of a person, has removed from the data directory go from the nodes, too. What
 * they were is not known any more: the log tells how many rows of each transaction are left, and where nodes have more, their
 * versions are compared.
 */
import type { LogEntry } from '../storage/record-log.ts'
import type { ClickHouseCluster } from './cluster.ts'
import { numberOf } from './compare.ts'
import { deleteVersions } from './delete-versions.ts'
import type { ReadSource } from './read-records.ts'

/** Transactions that are compared at once, and those whose versions are. */
const transactionsAtOnce = 50_000
const differentAtOnce = 500

type Logged = Pick<LogEntry, 'transaction' | 'first'> & { readonly rows: number }

/** Returns how many versions were deleted of what transactions up to `through` wrote. */
export async function deletePurged(
  cluster: ClickHouseCluster,
  within: ReadSource,
  object: number,
  through: number,
): Promise<number> {
  let deleted = 0
  for (let from = 0; from < through; ) {
    const { logged, to } = loggedAfter(within, object, from, through)
    const more = await withMoreRows(cluster, object, from, to, logged)
    for (let at = 0; at < more.length; at += differentAtOnce) {
      const some = more.slice(at, at + differentAtOnce)
      const versions = await versionsThere(cluster, object, some)
      const here = versionsHere(within, object, some)
      const gone = versions.filter((version) => !here.has(version))
      await deleteVersions(cluster, object, gone)
      deleted += gone.length
    }
    from = to
  }
  return deleted
}

function loggedAfter(within: ReadSource, object: number, from: number, through: number) {
  return within(({ reader, transaction }) => {
    const logged = new Map<number, Logged>()
    let to = through
    for (const entry of reader.log(from, through, transaction)) {
      const written = entry.objects.find((each) => each.object === object)
      if (!written) continue
      const { transaction: last, first } = entry
      logged.set(last, { transaction: last, first, rows: written.rows })
      if (logged.size < transactionsAtOnce) continue
      to = last
      break
    }
    return { logged, to }
  })
}

async function withMoreRows(
  cluster: ClickHouseCluster,
  object: number,
  from: number,
  to: number,
  logged: ReadonlyMap<number, Logged>,
): Promise<Logged[]> {
  if (logged.size === 0) return []
  const rows = await cluster.entry.longRows<{ readonly transaction: string; readonly n: string }>(
    `SELECT transaction, count() AS n FROM ${tableOf(cluster)}
      WHERE object = ${object} AND transaction > ${from} AND transaction <= ${to} GROUP BY transaction`,
  )
  return rows.flatMap(({ transaction, n }) => {
    const entry = logged.get(Number(transaction))
    return entry && Number(n) > entry.rows ? [entry] : []
  })
}

async function versionsThere(
  cluster: ClickHouseCluster,
  object: number,
  entries: readonly Logged[],
): Promise<string[]> {
  const transactions = entries.map(({ transaction }) => transaction).join(', ')
  const rows = await cluster.entry.longRows<{ readonly version: string }>(
    `SELECT version FROM ${tableOf(cluster)} WHERE object = ${object} AND transaction IN (${transactions})`,
  )
  return rows.map(({ version }) => version)
}

function versionsHere(
  within: ReadSource,
  object: number,
  entries: readonly Logged[],
): ReadonlySet<string> {
  return within(({ reader, transaction }) => {
    const versions = new Set<string>()
    for (const { first, transaction: last } of entries) {
      for (const { key } of reader.keptDelta(object, first - 1, last, transaction)) {
        versions.add(String(numberOf(key)))
      }
    }
    return versions
  })
}

function tableOf({ settings: { database } }: ClickHouseCluster): string {
  return `${database}.records`
}
