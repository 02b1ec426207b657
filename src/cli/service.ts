import { Access } from '../access/access.ts'
import { bootstrap } from '../access/bootstrap.ts'
import { SecretBox, storedSecrets } from '../access/secret-box.ts'
import { Attachments } from '../attachment/attachments.ts'
import { BackupState } from '../backup/backup-state.ts'
import type { Config } from '../config.ts'
import { Engine } from '../engine.ts'
import { assert } from '../error.ts'
import type { FollowedExport } from '../scheduler/cold/exported-records.ts'
import { AsyncQueries } from '../server/async/async-queries.ts'
import { ScheduledExports } from '../server/export/scheduled-exports.ts'
import { openHttpServer } from '../server/http/open-http-server.ts'
import type { Logger } from '../server/logger.ts'
import { openCopy } from '../server/nodes/open-copy.ts'
import { Retention } from '../server/retention/retention.ts'
import type { Route } from '../server/route.ts'
import { Server } from '../server/server.ts'
import { fileFault } from '../storage/directory/file-fault.ts'

export type { Config, Logger }

export interface Service {
  readonly url: string
  readonly httpServer: 'uwebsockets' | 'node'
  /** Why uWebSockets.js does not load, where it would have been taken. */
  readonly httpServerFault: string | undefined
  /** Of OTLP over gRPC; undefined where there is none. */
  readonly otlpGrpcPort: number | undefined
  /** The owner's key, if it was made up on this start: nobody can find it out later. */
  readonly newKey: string | undefined
  /** Who may do what, for what is run in the same process. */
  readonly access: Access
  /** All that is served. */
  readonly routes: readonly Route[]
  /** See `Engine.warmUp`. */
  warmUp(seconds: number): Promise<number>
  /** See `Engine.warmUpInserts`. */
  warmUpInserts(): Promise<void>
  /** See `Engine.flush`. */
  flush(): Promise<void>
  /** See `Engine.compact`. */
  compact(): Promise<void>
  /** Why the data directory has to be closed and opened anew; undefined as long as it is well. */
  mustReopen(): string | undefined
  /** Takes no more requests, lets the running ones end for so long, and closes the store, as far as it is well. */
  close(graceMs?: number): Promise<void>
}

/** How long running requests may take to end when the service is told to stop. */
const usualGraceMs = 10_000

/** Opens the store and serves it. Throws when the directory or the port is taken. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const { dataDirectory, workers, prices, limits, leastFreeBytes } = config
  let secrets: SecretBox | undefined
  const openEngine = (followedExport?: FollowedExport) =>
    Engine.open({
      dataDirectory,
      workers,
      prices,
      limits,
      leastFreeBytes,
      maintenance: { scrubBytesPerSecond: config.scrubBytesPerSecond },
      clickhouse: config.clickhouse,
      // What has left the home node leaves its query nodes, too.
      hot: followedExport ? { after: () => followedExport.through } : config.hot,
      followedExport,
      masker: config.masker,
      logger,
      maskingKey: (organizationId) => {
        assert(secrets, 'rows came before the service was there')
        return secrets.derived('masking', organizationId)
      },
    })
  const readsCluster = config.clickhouse !== undefined
  const copyOptions = { dataDirectory, openEngine, readsCluster, logger }
  const copy = config.home && (await openCopy(config.home, copyOptions))
  const engine = copy?.engine ?? (await openEngine())
  try {
    secrets = SecretBox.open(dataDirectory, {
      given: config.secretKey,
      // A query node opens none of them.
      stored: copy ? [] : storedSecrets(engine.catalog),
      isForgetting: config.isForgettingSecrets,
    })
    const access = new Access(engine.catalog, engine)
    const newKey = copy ? undefined : await bootstrap(access, config.bootstrapKey)
    const attachments = await Attachments.open(
      dataDirectory,
      engine.catalog,
      (error) => logger.warn({ err: error }, 'could not tidy up attachments'),
      (bytes) => engine.reserve.requireRoom(bytes),
    )
    const asyncQueries = await AsyncQueries.open({
      ...config.asyncLimits,
      engine,
      access,
      dataDirectory,
      logger,
    })
    const retention = new Retention({ engine, logger, isActive: !copy })
    const exports = await ScheduledExports.open({
      engine,
      access,
      places: config.exportPlaces,
      dataDirectory,
      logger,
      isActive: !copy,
    })
    const { host, port, maxBodyBytes, requestsPerMinute } = config
    // What comes there is written: a query node writes nothing.
    const otlpGrpcPort = copy ? undefined : config.otlpGrpcPort
    const { publicUrl, trustedProxies, languageModel } = config
    const http = await openHttpServer(config.httpServer)
    const server = await Server.start({
      http: http.server,
      engine,
      access,
      attachments,
      retention,
      exports,
      asyncQueries,
      secrets,
      backups: new BackupState(dataDirectory),
      dataDirectory,
      signIn: config.signIn,
      bootstrapKey: config.bootstrapKey,
      host,
      port,
      otlpGrpcPort,
      maxBodyBytes,
      requestsPerMinute,
      publicUrl,
      trustedProxies,
      languageModel,
      home: copy?.home,
      logger,
    })
    const shownHost = host.includes(':') ? `[${host}]` : host
    const close = async (graceMs = usualGraceMs) => {
      await server.close(graceMs)
      await retention.close()
      await exports.close()
      await asyncQueries.close()
      attachments.close()
      // Only when keys were last used is lost by that.
      await access.close().catch((error) => {
        logger.warn({ err: error }, 'could not note when keys were last used')
      })
      await copy?.home.close()
      await engine.close()
    }
    return {
      url: `http://${shownHost}:${server.port}`,
      httpServer: http.server.name,
      httpServerFault: http.fault,
      otlpGrpcPort: server.otlpGrpcPort,
      newKey,
      access,
      routes: server.routes,
      warmUp: (seconds) => engine.warmUp(seconds),
      warmUpInserts: () => engine.warmUpInserts(),
      flush: () => engine.flush(),
      compact: () => engine.compact(),
      mustReopen: () =>
        engine.mustReopen() ? 'the disk did not take the end of a transaction' : copy?.home.stale,
      close,
    }
  } catch (error) {
    await copy?.home.close()
    await engine.close()
    throw fileFault(error, `cannot use the data directory ${dataDirectory}`) ?? error
  }
}

/**
 * Closes the service on SIGTERM and SIGINT and ends the process; a second signal does not wait, nor does one that comes
 * while the service starts, which may be ended at any moment. To be called before the start: to the first process of a
 * container the kernel gives no signal that it does not listen for.
 *
 * @param started the service; undefined while it starts
 */
export function stopOnSignal(
  started: () => Pick<Service, 'close'> | undefined,
  logger: Logger,
): void {
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    logger.info({ signal }, 'stopping')
    try {
      await started()?.close()
      logger.info('stopped')
      process.exit(0)
    } catch (error) {
      logger.fatal({ err: error }, 'could not stop cleanly')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, stop)
  }
}
