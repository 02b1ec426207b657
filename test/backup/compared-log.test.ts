/** What backups compare of the log with what was read before, and how far they go. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BackupSource } from '../../src/backup/backup-source.ts'
import { allAnswers, backUp, differences, restoreFrom, sourceOf } from '../support/backups.ts'
import { RunningService } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let service: RunningService
let project: string
let experiment: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('p')
  experiment = await service.create('experiment', project, 'e')
})
afterAll(() => service.stop())

const records = (from: number, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({
    id: `r${from + i}`,
    input: `question ${from + i}`,
    scores: { a: i },
    ...more,
  }))

async function insert(events: readonly object[]): Promise<void> {
  const { status, text } = await service.insert('experiment', experiment, events)
  expect(status, text).toBe(200)
}

/** A source that counts how often the log is compared, and does something once before some question. */
function watched(asked: { compared: number }, part?: keyof BackupSource, before?: () => unknown) {
  const source = sourceOf(service)
  let isDone = false
  return new Proxy<BackupSource>(source, {
    get:
      (_, name: keyof BackupSource) =>
      async (...values: readonly unknown[]) => {
        if (name === 'logDigest') asked.compared++
        if (name === part && !isDone) {
          isDone = true
          await before?.()
        }
        return (source[name] as (...given: readonly unknown[]) => unknown).apply(source, [
          ...values,
        ])
      },
  })
}

test('the log is compared with what was read only after rows have left for good', async () => {
  const place = await makeTemporaryDirectory('compared')
  const compared = async (kind: 'backup' | 'archive', part?: 'catalog', before?: () => unknown) => {
    const asked = { compared: 0 }
    await backUp(watched(asked, part, before), place, { kind })
    return asked.compared
  }
  const leave = async (id: string) => {
    const filter = `id = '${id}'`
    const body = { project_id: project, filter }
    const { status, text } = await service.request('/v1/delete_person', { body })
    expect(status, text).toBe(200)
  }
  await insert(records(2000, 20))
  expect(await compared('backup')).toBe(0)
  await insert(records(2020, 1))
  expect(await compared('archive')).toBe(0)
  expect(await compared('backup')).toBe(0)
  await leave('r2000')
  expect(await compared('backup')).toBeGreaterThan(0)
  expect(await compared('backup')).toBe(0)
  await insert(records(2021, 1))
  // What leaves while an archive is taken may have been in those before it: none goes on from it.
  await compared('archive', 'catalog', () => leave('r2001'))
  await insert(records(2022, 1))
  await expect(compared('archive')).rejects.toMatchObject({ code: 'COMMAND_INVALID' })
  await compared('backup')
  const last = await restoreFrom(place)
  expect(differences(await allAnswers(last.service), await allAnswers(service))).toEqual([])
  await last.stop()
  await rm(place, { recursive: true, force: true })
}, 60_000)

test('a time restores all that was written until its second ended', async () => {
  const place = await makeTemporaryDirectory('time')
  const nextSecond = async () => {
    const second = Math.floor(Date.now() / 1000)
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(second)
  }
  await insert(records(3000, 5))
  await backUp(service, place)
  await insert(records(3005, 5))
  const time = new Date().toISOString()
  const expected = await allAnswers(service)
  await nextSecond()
  await insert(records(3000, 20, { output: 'later' }))
  await service.create('experiment', project, 'made after the time')
  await backUp(service, place)
  const { service: restored, stop } = await restoreFrom(place, time)
  expect(differences(await allAnswers(restored), expected)).toEqual([])
  await stop()
  await expect(restoreFrom(place, '2999-01-01T00:00:00Z')).rejects.toThrow('end before that')
  await expect(restoreFrom(place, '2001-01-01T00:00:00Z')).rejects.toThrow('nothing yet')
  await rm(place, { recursive: true, force: true })
}, 60_000)
