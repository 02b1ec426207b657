/** `assay backup` and `assay restore` as they are called. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BackupState } from '../../src/backup/backup-state.ts'
import { FolderStore } from '../../src/backup/folder-store.ts'
import { readManifests } from '../../src/backup/manifest.ts'
import { verifyBackups } from '../../src/backup/verify-backups.ts'
import { runAssay, spawnAssay } from '../support/assay-process.ts'
import { allAnswers, differences, restoreFrom } from '../support/backups.ts'
import { isSlow } from '../support/random-seed.ts'
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

test('a command that is killed leaves what it has read to the next one', async () => {
  const place = join(folder, 'killed')
  const store = new FolderStore(place)
  const dataset = await service.create('dataset', await service.project('large'), 'd')
  const text = (i: number) => randomBytes(5000).toString('hex') + i
  for (let from = 0; from < 1000; from += 250) {
    const rows = Array.from({ length: 250 }, (_, i) => ({ id: `r${from + i}`, input: text(i) }))
    expect((await service.insert('dataset', dataset, rows)).status).toBe(200)
  }
  for (const pieces of isSlow ? [0, 1, 2] : [1]) {
    const child = spawnAssay(['backup', place, '--mb-per-second', '2'], environment)
    const ended = once(child, 'close')
    await expect
      .poll(async () => (await store.list('pieces/')).length, { timeout: 30_000, interval: 5 })
      .toBeGreaterThan(pieces)
    child.kill('SIGKILL')
    expect((await ended)[1]).toBe('SIGKILL')
    expect(await verifyBackups(store)).toMatchObject({ backups: [], faults: [] })
  }
  const { code, stderr } = await runAssay(['backup', place], { environment })
  expect(code, stderr).toBe(0)
  expect((await verifyBackups(store)).faults).toEqual([])
  const { service: other, stop } = await restoreFrom(place)
  expect(differences(await allAnswers(other), await allAnswers(service))).toEqual([])
  await stop()
}, 120_000)

test('a schedule reads everything anew once in the time of --full-every, and goes on from that', async () => {
  const place = join(folder, 'full-every')
  const store = new FolderStore(place)
  const child = spawnAssay(
    ['backup', place, '--schedule', '1s', '--full-every', '4s', '--keep', '100'],
    environment,
  )
  const ended = once(child, 'close')
  const fullTimes = async () =>
    (await readManifests(store)).map(({ manifest }) => manifest.fullTime)
  await expect
    .poll(async () => new Set(await fullTimes()).size, { timeout: 60_000 })
    .toBeGreaterThan(2)
  child.kill('SIGTERM')
  expect((await ended)[0]).toBe(0)
  const times = await fullTimes()
  // Of each but the last, later ones have gone on from it.
  for (const time of [...new Set(times)].slice(0, -1)) {
    expect(times.filter((each) => each === time).length).toBeGreaterThan(1)
  }
  const gaps = [...new Set(times)].map((time, i, all) => time - (all[i - 1] ?? 0)).slice(1)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4000)
  expect((await verifyBackups(store)).faults).toEqual([])
}, 120_000)
