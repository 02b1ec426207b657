/** `assay status` tells how a service is, in lines for people and as JSON for programs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linesOf, type ServiceStatus } from '../../src/cli/status.ts'
import { runAssay } from '../support/assay-process.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

const ask = (key = testKey) => runAssay(['status', '--url', service.url, '--key', key])

test('a program gets what the service answers', async () => {
  const project = await service.project('p')
  await service.insert('project_logs', project, [{ id: 'a' }, { id: 'b' }])
  const { code, stdout } = await ask()
  expect(code).toBe(0)
  const status = JSON.parse(stdout) as ServiceStatus
  expect(status).toMatchObject({
    storage: { hot: { rows: 2 }, cold: { through: null, rows: 0 } },
    export: null,
    backup: { last: null },
    warnings: [],
  })
  expect(linesOf(status)).toEqual([
    `version      ${status.version}`,
    `transaction  ${status.transaction}`,
    expect.stringMatching(/^here {9}2 rows, [\d.]+ MB on disk$/),
    'last backup  none',
  ])
})

test('who may not know is told so', async () => {
  const { code, stderr } = await ask('sk-of-nobody')
  expect(code).toBe(1)
  expect(stderr).toMatch(/key/)
})

test('troubles stand below, and what is elsewhere is told', () => {
  const status: ServiceStatus = {
    version: '1.0.0',
    transaction: '1000',
    storage: {
      hot: { rows: 1234, disk_bytes: { records: 2 ** 20, segments: 2 ** 21 } },
      cold: { through: '900', rows: 1, freed_bytes: 2 ** 19, fault: 'a replica differs' },
    },
    export: {
      state: 'waiting',
      database: 'assay',
      lag: { transactions: 2, rows: 3000, seconds: 12.3 },
      fault: { message: 'node 2 does not answer', since: '2026-11-28T10:00:00.000Z' },
    },
    backup: { last: '2026-11-20T10:00:00.000Z', kind: 'backup' },
    warnings: ['the last backup is 8 days old'],
  }
  expect(linesOf(status)).toEqual([
    'version           1.0.0',
    'transaction       1000',
    'here              1,234 rows, 3 MB on disk',
    'ClickHouse alone  1 row version up to 900, 0.5 MB freed here',
    'export            waiting, assay lacks 3,000 row versions, the oldest of 13 s ago',
    'last backup       2026-11-20T10:00:00.000Z (backup)',
    '! the last backup is 8 days old',
    '! the export waits since 2026-11-28T10:00:00.000Z: node 2 does not answer',
    '! older records stay on the disk: a replica differs',
  ])
})
