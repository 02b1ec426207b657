/** Opens the data directory of a query node, and makes it what its home node has. */
import type { HomeSettings } from '../../config.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { FollowedExport } from '../../scheduler/cold/exported-records.ts'
import type { Logger } from '../logger.ts'
import { CacheFolder } from './cache-folder.ts'
import { Home } from './home.ts'
import { HomeConnection } from './home-connection.ts'

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
  { dataDirectory, openEngine, readsCluster, logger }: CopyOptions,
): Promise<OpenedCopy> {
  const cache = new CacheFolder(dataDirectory)
  const open = async () => {
    const followedExport = readsCluster ? new FollowedExport() : undefined
    if (cache.exported) followedExport?.tell(cache.exported)
    const engine = await openEngine(followedExport)
    const connection = new HomeConnection(url, key)
    const home = new Home({ connection, engine, cache, followedExport, logger })
    try {
      await home.ready()
    } catch (thrown) {
      await close({ engine, home })
      throw thrown
    }
    return { engine, home }
  }
  // A copy that was never whole has no name yet.
  let copy = await open()
  for (let tries = 0; copy.home.stale !== undefined; tries++) {
    logger.warn({ home: url }, copy.home.stale)
    await close(copy)
    if (tries === 2) throw new AssayError('HOME_UNAVAILABLE', `${url} changes while it is copied`)
    cache.clear()
    copy = await open()
  }
  return copy
}

async function close({ engine, home }: OpenedCopy): Promise<void> {
  await home.close()
  await engine.close()
}
