/** `assay backup` and `assay restore` as they are called. */
import { spawnSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BackupState } from '../../src/backup/backup-state.ts'
import { runAssay } from '../support/assay-process.ts'
import { allAnswers, differences } from '../support/backups.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let service: RunningService
let folder: string
let environment: Record<string, string>

beforeAll(async () => {
  folder = await makeTemporaryDirectory('commands')
  service = await RunningService.start()
  environment = { ASSAY_URL: service.url, ASSAY_API_KEY: testKey }
  const project = await service.project('p')
  const experiment = await service.create('experiment', project, 'e')
  const removed = await service.create('experiment', project, 'removed')
  const rows = Array.from({ length: 300 }, (_, i) => ({ id: `r${i}`, input: `text ${i}` }))
  await service.insert('experiment', experiment, rows)
  await service.insert('experiment', removed, rows)
  await service.request(`/v1/experiment/${removed}`, { method: 'DELETE' })
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

async function restored(args: readonly string[], input?: Buffer): Promise<string> {
  const data = join(folder, `data-${args[0] === '-' ? 'stream' : 'file'}`)
  const outcome = await runAssay(['restore', ...args, '--data-dir', data], input ? { input } : {})
  expect(outcome.code, outcome.stderr).toBe(0)
  return data
}

test('a backup is an archive of tar, from which it is restored, and a folder is not written over', async () => {
  const archive = join(folder, 'backup.tar')
  const taken = await runAssay(['backup', archive], { environment })
  expect(taken.code, taken.stderr).toBe(0)
  const expected = await allAnswers(service)
  const { stdout } = spawnSync('tar', ['tf', archive], { encoding: 'utf8' })
  expect(stdout.trim().split('\n').at(-1)).toMatch(/^backups\/.*\.json$/)
  const data = await restored([archive])
  const again = await RunningService.over(data)
  expect(differences(await allAnswers(again), expected)).toEqual([])
  await again.stop()
  const stream = await restored(['-'], await readFile(archive))
  const refused = await runAssay(['restore', archive, '--data-dir', stream])
  expect(refused.stderr).toContain('is not empty')
  expect(refused.code).not.toBe(0)
})

test('what the service knows of its last backup is told, and warned of once it is too old', async () => {
  const status = async () => (await service.request('/admin/status')).json
  expect((await status()).backup).toMatchObject({ kind: 'backup', last: expect.any(String) })
  expect((await status()).warnings).toEqual([])
  const last = { kind: 'backup', transaction: 1, max_age_seconds: 60 }
  const time = Date.now()
  await service.request('/admin/backup/done', { body: { ...last, time } })
  expect((await status()).warnings).toEqual([])
  const later = new BackupState(service.directory)
  expect(later.warning(time + 59_000)).toBeUndefined()
  expect(later.warning(time + 180_000)).toContain('the last good backup is 3 minutes old')
  const { text } = await service.request('/metrics')
  expect(text).toContain(`assay_backup_last_timestamp_seconds ${time / 1000}`)
  expect(text).toContain('assay_backup_max_age_seconds 60')
})

test('a key of somebody who does not own all organizations takes no backup', async () => {
  const { json } = await service.request('/v1/service_token', { body: { name: 'nobody' } })
  const outcome = await runAssay(['backup', join(folder, 'none')], {
    environment: { ...environment, ASSAY_API_KEY: String(json.key ?? 'sk-none') },
  })
  expect(outcome.code).not.toBe(0)
})
