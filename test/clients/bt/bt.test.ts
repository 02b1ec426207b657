/**
 * Every command of `bt`, the hosted product's command line, that talks to a service: the binaries from
 * the npm registry, unmodified, each with a home of its own.
 */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { RunningService } from '../../support/running-service.ts'
import { accountTests } from './account.ts'
import { installedBinaries } from './binaries.ts'
import { CommandLine } from './command-line.ts'
import { datasetTests } from './datasets.ts'
import { experimentTests } from './experiments.ts'
import { functionTests } from './functions.ts'
import { logTests } from './logs.ts'
import type { Session, Suite } from './session.ts'
import { topicTests } from './topics.ts'

const binaries = installedBinaries()

test.skipIf(binaries.length > 0)('bt is left out: it could not be installed', () => undefined)

describe.each(binaries)('bt $version', ({ version, path }) => {
  let session: Session

  beforeAll(async () => {
    const service = await RunningService.start()
    const bt = new CommandLine(path, service.url)
    session = { service, bt, project: await service.project('app') }
  })
  afterAll(async () => {
    session.bt.remove()
    await session.service.stop()
  })

  const suite: Suite = { isNew: version !== '0.12.0', session: () => session }
  describe('account', () => accountTests(suite))
  describe('datasets', () => datasetTests(suite))
  describe('experiments', () => experimentTests(suite))
  describe('logs', () => logTests(suite))
  describe('functions', () => functionTests(suite))
  describe('topics', () => topicTests(suite))
})
