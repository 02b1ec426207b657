/** Backups that go on from one another: increments, points in time, resumption, damage and removal. */
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BackupSource } from '../../src/backup/backup-source.ts'
import { FolderStore } from '../../src/backup/folder-store.ts'
import { readManifest } from '../../src/backup/manifest.ts'
import { removeBackups } from '../../src/backup/remove-backups.ts'
import { verifyBackups } from '../../src/backup/verify-backups.ts'
import { formatTransaction } from '../../src/type/transaction.ts'
import { allAnswers, backUp, differences, restoreFrom, sourceOf } from '../support/backups.ts'
import { carryOut } from '../support/carry-out.ts'
import { RunningService } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let service: RunningService
let folder: string
let project: string
let experiment: string

beforeAll(async () => {
  folder = await makeTemporaryDirectory('chain')
  service = await RunningService.start()
  project = await service.project('p')
  experiment = await service.create('experiment', project, 'e')
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

const records = (from: number, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({
    id: `r${from + i}`,
    input: `question ${from + i}`,
    scores: { a: i },
    ...more,
  }))

async function insert(events: readonly object[], into = experiment): Promise<void> {
  const { status, text } = await service.insert('experiment', into, events)
  expect(status, text).toBe(200)
}

/** A source of which some question fails, as when the service or the network is gone. */
function failingAfter(count: number): BackupSource {
  let asked = 0
  return new Proxy<BackupSource>(sourceOf(service), {
    get(source, name: keyof BackupSource) {
      return (...values: readonly unknown[]) => {
        if (asked++ >= count) throw new Error('the service is gone')
        return (source[name] as (...values: readonly unknown[]) => unknown).apply(source, [
          ...values,
        ])
      }
    },
  })
}

test('a later backup reads what was written since, and both can be restored', async () => {
  await insert(records(0, 400))
  const first = await backUp(service, folder)
  const expected = await allAnswers(service)
  await insert(records(380, 60, { output: 'changed' }))
  await insert([{ id: 'r3', _object_delete: true }])
  let read = 0
  const onRead = async (what: string, bytes: number) => {
    if (what === 'rows') read += bytes
  }
  const second = await backUp(service, folder, { onRead })
  expect(second.previous?.path).toBe(first.path)
  expect(read).toBeLessThan(first.manifest.ranges[0]!.bytes)
  expect(second.manifest.ranges.map(({ rows }) => rows)).toEqual([400, 61])

  const last = await restoreFrom(folder)
  expect(differences(await allAnswers(last.service), await allAnswers(service))).toEqual([])
  await last.stop()
  const earlier = await restoreFrom(folder, formatTransaction(first.manifest.transaction))
  expect(earlier.restored.from.path).toBe(first.path)
  expect(differences(await allAnswers(earlier.service), expected)).toEqual([])
  await earlier.stop()
}, 60_000)

test('a moment between two backups has the records and the catalog of that moment', async () => {
  const other = await service.create('experiment', project, 'removed later')
  await insert(records(0, 5), other)
  await backUp(service, folder)
  await insert(records(500, 5))
  const transaction = String(
    (await service.query(`measures: max(_xact_id) as x | from: experiment('${experiment}')`)).json
      .data?.[0]?.x,
  )
  const expected = await allAnswers(service)
  // Transactions, and what is taken back of the catalog, are told apart by their seconds.
  const second = Math.floor(Date.now() / 1000)
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(second)
  await service.request(`/v1/experiment/${other}`, { method: 'DELETE' })
  await service.request(`/v1/project/${project}`, { method: 'PATCH', body: { name: 'renamed' } })
  await service.create('experiment', project, 'made later')
  await insert(records(500, 5, { output: 'later' }))
  await backUp(service, folder)
  const { service: restored, stop } = await restoreFrom(folder, transaction)
  expect(differences(await allAnswers(restored), expected)).toEqual([])
  await stop()
}, 60_000)

test('a backup that was broken off at any question is gone on with, and older ones stay whole', async () => {
  await insert(records(600, 200, { output: 'x'.repeat(2000) }))
  const before = (await verifyBackups(new FolderStore(folder))).backups.length
  const expected = await allAnswers(service)
  for (let count = 0; ; count++) {
    const taken = await backUp(failingAfter(count), folder).catch(() => undefined)
    const verified = await verifyBackups(new FolderStore(folder))
    expect(verified.faults).toEqual([])
    expect(verified.backups.length).toBe(before + (taken ? 1 : 0))
    if (taken) break
  }
  const { service: restored, stop } = await restoreFrom(folder)
  expect(differences(await allAnswers(restored), expected)).toEqual([])
  await stop()
}, 60_000)

test('the data of a service that was restored is not mixed with what comes after in the older one', async () => {
  const { service: restored, stop } = await restoreFrom(folder)
  const taken = await backUp(restored, folder)
  expect(taken.previous).toBeUndefined()
  expect(taken.manifest.ranges.length).toBe(1)
  await stop()
  await rm(join(folder, taken.path))
}, 60_000)

test('each changed or missing file of a backup is found and named', async () => {
  const store = new FolderStore(folder)
  // What was read in vain is in no backup.
  await removeBackups(store, 100)
  const files = (await store.list('')).filter((path) => /^(backups|pieces)\//.test(path))
  expect(files.length).toBeGreaterThan(10)
  for (const path of files) {
    const whole = await readFile(join(folder, path))
    const damaged = Buffer.from(whole)
    const at = Math.floor(whole.length * 0.4)
    damaged[at]! ^= 1 << (at % 8)
    const damages = [
      () => writeFile(join(folder, path), damaged),
      () => truncate(join(folder, path), whole.length - 1),
      () => rm(join(folder, path)),
    ]
    for (const damage of damages) {
      await damage()
      // A manifest that is gone is a backup that is not there.
      const isGone = damage === damages[2] && path.startsWith('backups/')
      const { faults } = await verifyBackups(store)
      if (!isGone) expect(faults.map(({ what }) => what).join(), path).toContain(path)
      await writeFile(join(folder, path), whole)
    }
  }
  expect((await verifyBackups(store)).faults).toEqual([])
}, 60_000)

test('a damaged piece is not restored from, and written anew by a backup of everything', async () => {
  const { manifest } = await backUp(service, folder, { isFull: true })
  const { hash } = manifest.ranges[0]!.pieces
  const path = join(folder, 'pieces', hash.slice(0, 2), hash)
  const whole = await readFile(path)
  await writeFile(path, Buffer.concat([whole, Buffer.of(0)]))
  await expect(restoreFrom(folder)).rejects.toThrow(`${hash} is damaged`)
  // Rows are the same, and so are their pieces.
  await backUp(service, folder, { isFull: true })
  expect((await readFile(path)).equals(whole)).toBe(true)
}, 60_000)

test('older backups are removed with the pieces that none needs, and those that stay are whole', async () => {
  const store = new FolderStore(folder)
  const expected = await allAnswers(service)
  const full = await backUp(service, folder, { isFull: true })
  await insert(records(900, 1))
  const pieces = (await store.list('pieces/')).length
  const removal = await removeBackups(store, 1)
  expect(removal.backups.length).toBeGreaterThan(2)
  expect(removal.pieces).toBeGreaterThan(0)
  expect((await store.list('pieces/')).length).toBe(pieces - removal.pieces)
  expect(await store.list('backups/')).toEqual([full.path])
  expect((await verifyBackups(store)).faults).toEqual([])
  expect(await readManifest(store, full.path)).toEqual(full.manifest)
  const { service: restored, stop } = await restoreFrom(folder)
  expect(differences(await allAnswers(restored), expected)).toEqual([])
  await stop()
}, 60_000)

test('archives have what was written between backups, to the last transaction of each', async () => {
  const base = await backUp(service, folder)
  const states: { readonly transaction: string; readonly answers: Map<string, string> }[] = []
  for (let i = 0; i < 3; i++) {
    await insert(records(1000 + i, 2, { output: i }))
    const taken = await backUp(service, folder, { kind: 'archive' })
    expect(taken.manifest.ranges.length).toBe(1)
    const transaction = formatTransaction(taken.manifest.transaction)
    states.push({ transaction, answers: await allAnswers(service) })
  }
  expect((await backUp(service, folder, { kind: 'archive' })).isUnchanged).toBe(true)
  for (const { transaction, answers } of states.slice(1)) {
    const { service: restored, stop } = await restoreFrom(folder, transaction)
    expect(differences(await allAnswers(restored), answers)).toEqual([])
    await stop()
  }
  const next = await backUp(service, folder)
  expect(next.previous?.path).toBe(base.path)
  expect((await verifyBackups(new FolderStore(folder))).faults).toEqual([])
}, 60_000)

test('what was removed for good is in no later backup, and nothing is missing then', async () => {
  const purged = await makeTemporaryDirectory('purged')
  const old = { created: '2020-01-01T00:00:00Z', input: 'leaves for good' }
  const at = (from: number, more: object) =>
    records(from, 150, more).map((record, i) => ({ ...record, root_span_id: `t${from}${i}` }))
  const { status } = await service.insert('project_logs', project, [
    ...at(5000, old),
    ...at(6000, {}),
  ])
  expect(status).toBe(200)
  await backUp(service, purged)
  const { json } = await service.request('/v1/project_automation', {
    body: {
      project_id: project,
      name: 'leave',
      config: { event_type: 'retention', object_type: 'project_logs', retention_days: 30 },
    },
  })
  expect(await carryOut(service, String(json.id))).toMatchObject({ records: 150 })
  // Deletions left, too: an archive would bring back what they deleted.
  await expect(backUp(service, purged, { kind: 'archive' })).rejects.toMatchObject({
    code: 'COMMAND_INVALID',
  })
  const { manifest } = await backUp(service, purged)
  expect(manifest.ranges.map(({ missing }) => missing)).toEqual(manifest.ranges.map(() => 0))
  const last = await restoreFrom(purged)
  expect(last.restored.missing).toEqual([])
  expect(differences(await allAnswers(last.service), await allAnswers(service))).toEqual([])
  await last.stop()
  // The piece that had them goes with the older backup.
  expect((await removeBackups(new FolderStore(purged), 1)).pieces).toBeGreaterThan(0)
  await rm(purged, { recursive: true, force: true })
})

test.each([
  ['before', 'rows'],
  ['after', 'catalog'],
] as const)(
  'rows that leave for good %s they are read are neither in a backup nor missing',
  async (when, part) => {
    const purged = await makeTemporaryDirectory('purged-beside')
    const leaving = await service.project(`leaves ${when}`)
    const old = { created: '2020-01-01T00:00:00Z', input: 'gone for good' }
    const events = [...records(0, 40, old), ...records(100, 40)].map((record) => ({
      ...record,
      root_span_id: record.id,
    }))
    expect((await service.insert('project_logs', leaving, events)).status).toBe(200)
    const { json } = await service.request('/v1/project_automation', {
      body: {
        project_id: leaving,
        name: 'leave',
        config: { event_type: 'retention', object_type: 'project_logs', retention_days: 30 },
      },
    })
    const source = sourceOf(service)
    let isRun = false
    const beside = new Proxy<BackupSource>(source, {
      get:
        (_, name: keyof BackupSource) =>
        async (...values: readonly unknown[]) => {
          const ask = () =>
            (source[name] as (...asked: readonly unknown[]) => unknown).apply(source, [...values])
          if (name !== part || isRun) return ask()
          isRun = true
          expect(await carryOut(service, String(json.id))).toMatchObject({ records: 40 })
          return ask()
        },
    })
    const { manifest } = await backUp(beside, purged)
    expect(manifest.ranges.map(({ missing }) => missing)).toEqual([0])
    const last = await restoreFrom(purged)
    expect(last.restored.missing).toEqual([])
    expect(differences(await allAnswers(last.service), await allAnswers(service))).toEqual([])
    const query = `measures: count(1) as n | from: project_logs('${leaving}') | filter: input = 'gone for good'`
    expect((await last.service.query(`${query}`)).json.data).toEqual([{ n: 0 }])
    await last.stop()
    expect((await backUp(service, purged)).manifest.ranges[0]?.pieces).toEqual(
      manifest.ranges[0]?.pieces,
    )
    await rm(purged, { recursive: true, force: true })
  },
  60_000,
)
