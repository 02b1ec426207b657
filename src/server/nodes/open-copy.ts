/** Opens the data directory of a query node, and makes it what its home node has. */
import { ServiceSource } from '../../backup/service-source.ts'
import type { HomeSettings } from '../../config.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { FollowedExport } from '../../scheduler/cold/exported-records.ts'
import type { Logger } from '../logger.ts'
import { CacheFolder } from './cache-folder.ts'
import { Home } from './home.ts'
import { HomeConnection } from './home-connection.ts'
import { takeOver } from './take-over.ts'

/** Of a home that changes meanwhile. */
const mostTries = 3

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
    const isLast = tries === mostTries
    const opened = await openOnce(new HomeConnection(url, key), cache, options, isLast)
    if (typeof opened !== 'string') return opened
    options.logger.warn({ home: url }, opened)
    if (isLast) throw new AssayError('HOME_UNAVAILABLE', `${url} changes while it is copied`)
    cache.clear()
  }
}

/**
 * Resolves to why all has to be copied anew, where that is so; then nothing is open.
 *
 * @param isLast records that leave the home before they are copied are read of the cluster, however many these are
 */
async function openOnce(
  connection: HomeConnection,
  cache: CacheFolder,
  { openEngine, readsCluster, logger }: CopyOptions,
  isLast: boolean,
): Promise<OpenedCopy | string> {
  const hasFailed =
    readsCluster && cache.isEmpty && !(await tryToTakeOver(connection, cache, logger))
  const isTakingOver = readsCluster && !hasFailed && !isLast
  const followedExport = readsCluster ? new FollowedExport() : undefined
  if (cache.exported) followedExport?.tell(cache.exported)
  const engine = await openEngine(followedExport)
  // A copy that was never whole has no name yet.
  const home = new Home({ connection, engine, cache, followedExport, isTakingOver, logger })
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

/**
 * True where nothing has left the home; false where that failed: all bodies are copied then. Throws HOME_UNAVAILABLE where
 * there is no home.
 */
async function tryToTakeOver(
  connection: HomeConnection,
  cache: CacheFolder,
  logger: Logger,
): Promise<boolean> {
  const source = new ServiceSource(connection)
  const home = connection.url
  try {
    const mark = await source.evicted()
    if (!mark) return true
    logger.info({ home, rows: mark.rows }, 'takes over what the home node keeps of older records')
    const rows = await cache.takeOver(() => takeOver(source, mark, cache.directory))
    logger.info({ home, rows }, 'has what the home node keeps of older records')
    return true
  } catch (err) {
    if (err instanceof AssayError && err.code === 'HOME_UNAVAILABLE') throw err
    logger.warn({ home, err }, 'what the home node keeps of older records was not taken over')
    return false
  }
}

async function close({ engine, home }: OpenedCopy): Promise<void> {
  await home.close()
  await engine.close()
}
