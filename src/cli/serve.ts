import { setTimeout as wait } from 'node:timers/promises'
import type { Config, ConfigFlags, LogLevel } from '../config.ts'
import { readConfig } from '../config.ts'
import { createLogger, type Logger } from '../server/logger.ts'
import { version } from '../server/version.ts'
import { LastingService } from './lasting-service.ts'
import { type Service, stopOnSignal } from './service.ts'
import { instead, startMessage } from './start-message.ts'
import { openFileLimit, ownFiles } from './system-limits.ts'

/**
 * Who waits to be told that the service listens may send much at once: the first bodies of threads that have
 * done nothing yet take three times as long. On a busy machine they are not waited for any longer.
 */
const longestStartMs = 1500

/** Connections take a file each. */
const enoughOpenFiles = 4096

/** Serves until a signal ends it. */
export async function runServe(flags: ConfigFlags): Promise<void> {
  const config = readConfig(flags, process.env)
  const isOnTerminal = process.stdout.isTTY === true
  const logger = createLogger(
    isOnTerminal ? terminalLevel(config, flags) : config.logLevel,
    isOnTerminal,
  )
  process.on('unhandledRejection', (error) => {
    // Whatever it was that nobody waits for, all others are to be served.
    logger.error({ err: error }, 'something failed that nobody waited for')
  })
  let lasting: LastingService | undefined
  stopOnSignal(() => lasting, logger)
  lasting = await LastingService.start(config, logger)
  const service = lasting.current
  // Not through the logger: logs are kept and passed on, and keys must not be.
  if (isOnTerminal) {
    const isKeyChosen = config.bootstrapKey !== undefined
    process.stdout.write(
      startMessage({
        ...service,
        // Where the page works: its cookies are of that address, and below its path.
        url: config.publicUrl ?? service.url,
        dataDirectory: config.dataDirectory,
        isKeyChosen,
      }),
    )
  } else if (service.newKey !== undefined) {
    process.stderr.write(
      `\nThe owner's API key, shown this once:\n\n  ${service.newKey}\n\n` +
        'Set ASSAY_BOOTSTRAP_KEY to choose one yourself.\n\n',
    )
  }
  const openFiles = openFileLimit()
  if (openFiles !== undefined && openFiles < enoughOpenFiles) {
    logger.warn(
      { openFiles },
      `only about ${Math.max(0, openFiles - ownFiles)} connections can be open at once; ` +
        'raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)',
    )
  }
  const { dataDirectory, workers, warmUpSeconds } = config
  const inserts = warmUpSeconds === 0 ? Promise.resolve() : warmUpInserts(service, logger)
  await Promise.race([inserts, wait(longestStartMs, undefined, { ref: false })])
  const { url, otlpGrpcPort, httpServer, httpServerFault } = service
  if (httpServerFault !== undefined) logger.info({ httpServer }, instead(httpServerFault))
  logger.info(
    { url, httpServer, otlpGrpcPort, dataDirectory, workers, version, openFiles },
    'listening',
  )
  if (warmUpSeconds === 0) return
  await inserts
  try {
    const queries = await service.warmUp(warmUpSeconds)
    logger.debug({ queries }, 'warmed up')
  } catch (error) {
    logger.warn({ err: error }, 'could not run typical queries')
  }
}

/** A person is told what is wrong, and each request only when they ask for it. */
function terminalLevel({ logLevel }: Config, flags: ConfigFlags): LogLevel {
  const isChosen = flags.logLevel !== undefined || process.env.ASSAY_LOG_LEVEL !== undefined
  return isChosen ? logLevel : 'warn'
}

async function warmUpInserts(service: Service, logger: Logger): Promise<void> {
  try {
    await service.warmUpInserts()
  } catch (error) {
    logger.warn({ err: error }, 'could not prepare sample rows')
  }
}
