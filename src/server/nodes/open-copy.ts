/** Opens the data directory of a query node, and makes it what its home node has. */
import { z } from 'zod'
import { ServiceSource } from '../../backup/service-source.ts'
import type { HomeSettings } from '../../config.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { FollowedExport } from '../../scheduler/cold/exported-records.ts'
import { parseTransaction } from '../../type/transaction.ts'
import type { Logger } from '../logger.ts'
import { CacheFolder } from './cache-folder.ts'
import { Home } from './home.ts'
import { HomeConnection } from './home-connection.ts'
import { takeOver } from './take-over.ts'

const statusThere = z.object({
  storage: z.object({ cold: z.object({ through: z.string().nullable() }).optional() }),
})

export interface CopyOptions {
  readonly dataDirectory: string
  readonly openEngine: (followedExport: FollowedExport | undefined) => Promise<Engine>
  /** Whether the node reads the home's cluster. */
  readonly readsCluster: boolean
  readonly logger: Logger
}

export interface OpenedCopy {
  readonly engine: Engine
  readonly home: Home
}

/**
 * Resolves once all that the home has is here; where the home cannot be reached, with what was here before. Throws
 * HOME_UNAVAILABLE where that is nothing, and what the home answers where it refuses.
 */
export async function openCopy(
  { url, key }: HomeSettings,
  options: CopyOptions,
): Promise<OpenedCopy> {
  const cache = new CacheFolder(options.dataDirectory)
  for (let tries = 1; ; tries++) {
    const opened = await openOnce(new HomeConnection(url, key), cache, options)
    if (typeof opened !== 'string') return opened
    options.logger.warn({ home: url }, opened)
    if (tries === 3) throw new AssayError('HOME_UNAVAILABLE', `${url} changes while it is copied`)
    cache.clear()
  }
}

/** Resolves to why all has to be copied anew, where that is so; then nothing is open. */
async function openOnce(
  connection: HomeConnection,
  cache: CacheFolder,
  { openEngine, readsCluster, logger }: CopyOptions,
): Promise<OpenedCopy | string> {
  const leftThrough = readsCluster ? await leftThere(connection) : 0
  const isToTakeOver = leftThrough > 0 && cache.isEmpty
  const mayBeBehind = isToTakeOver && !(await tryToTakeOver(connection, cache, logger))
  const followedExport = readsCluster ? new FollowedExport() : undefined
  if (cache.exported) followedExport?.tell(cache.exported)
  const engine = await openEngine(followedExport)
  if (leftThrough > engine.lastTransaction && !mayBeBehind) {
    await engine.close()
    connection.close()
    return 'records that are not here have left the home node: what it keeps of them is taken over'
  }
  // A copy that was never whole has no name yet.
  const home = new Home({ connection, engine, cache, followedExport, logger })
  try {
    await home.ready()
  } catch (thrown) {
    await close({ engine, home })
    throw thrown
  }
  if (home.stale === undefined) return { engine, home }
  const { stale } = home
  await close({ engine, home })
  return stale
}

/** The last transaction whose bodies have left the home for its cluster; 0 where none has, or the home cannot be asked. */
async function leftThere(connection: HomeConnection): Promise<number> {
  try {
    const { storage } = statusThere.parse(await connection.askForJson('/admin/status'))
    return storage.cold?.through ? parseTransaction(storage.cold.through) : 0
  } catch {
    // Why that is so is told of when the home is followed.
    return 0
  }
}

/** False where that failed: all bodies are copied then. */
async function tryToTakeOver(
  connection: HomeConnection,
  cache: CacheFolder,
  logger: Logger,
): Promise<boolean> {
  const source = new ServiceSource(connection)
  const home = connection.url
  for (let tries = 0; tries < 3; tries++) {
    try {
      const mark = await source.evicted()
      if (!mark) return false
      logger.info({ home, rows: mark.rows }, 'takes over what the home node keeps of older records')
      const { rows } = await cache.takeOver(() => takeOver(source, mark, cache.directory))
      logger.info({ home, rows }, 'has what the home node keeps of older records')
      return true
    } catch (err) {
      logger.warn({ home, err }, 'what the home node keeps of older records was not taken over')
    }
  }
  return false
}

async function close({ engine, home }: OpenedCopy): Promise<void> {
  await home.close()
  await engine.close()
}
