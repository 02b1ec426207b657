/**
 * A service that flushes and compacts all the while, until it is stopped or killed:
 * `node history-child.ts DIRECTORY`. It tells its address in the first line on standard output.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { startService, stopOnSignal } from '../../src/cli/service.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/server/logger.ts'

const [directory] = process.argv.slice(2)
const config = readConfig({ port: '0', dataDir: directory, logLevel: 'silent' }, process.env)
const logger = createLogger(config.logLevel)
const service = await startService(config, logger)
stopOnSignal(() => service, logger)
process.stdout.write(`${service.url}\n`)
for (let round = 0; ; round++) {
  await wait(Math.random() * 300)
  // It fails once the service is being stopped.
  const step = round % 4 === 3 ? service.compact() : service.flush()
  if (!(await step.then(() => true).catch(() => false))) break
}
