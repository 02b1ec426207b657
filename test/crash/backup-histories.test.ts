/**
 * Random schedules of writes, deletions, merges, purges, backups, archives, backups that are broken off, stops and kills, while the
 * service flushes and compacts. What is restored is what a model says, at the last transaction and at others.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FolderStore } from '../../src/backup/folder-store.ts'
import { verifyBackups } from '../../src/backup/verify-backups.ts'
import { formatTransaction } from '../../src/type/transaction.ts'
import { BackupHistory, type Model, type Moment } from '../support/backup-history.ts'
import { restoreFrom } from '../support/backups.ts'
import { type CompiledChild, compileChild } from '../support/compiled-child.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import type { RunningService } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const schedules = Number(process.env.ASSAY_BACKUP_SCHEDULES ?? (isSlow ? 200 : 2))
const steps = 18

let child: CompiledChild
beforeAll(async () => {
  child = await compileChild('history-child')
}, 180_000)
afterAll(() => rm(child.folder, { recursive: true }))

/** Of the model's objects, all that the service has. */
async function recordsOf(
  service: RunningService,
  objects: Iterable<string>,
  place: string,
): Promise<Model> {
  const found = new Map<string, Map<string, Record<string, unknown>>>()
  for (const object of objects) {
    const query = `select: id, input, output, metadata | from: experiment('${object}')`
    const { json, text } = await service.query(query)
    expect(json.data, `${place}: ${text}`).toBeDefined()
    const rows = json.data as unknown as readonly ({ readonly id: string } & object)[]
    found.set(object, new Map(rows.map(({ id, ...record }) => [id, record as never])))
  }
  return found
}

test('what is restored is what the model says', {
  timeout: 60_000 + schedules * 60_000,
}, async () => {
  const sums = new Map<string, number>()
  for (let schedule = 0; schedule < schedules; schedule++) {
    const seed = randomSeed + schedule
    const parent = await makeTemporaryDirectory('backup-history')
    const places = { directory: join(parent, 'data'), folder: join(parent, 'backups') }
    try {
      const history = await BackupHistory.run(child.path, places, seed, steps)
      const verified = await verifyBackups(new FolderStore(places.folder))
      expect(verified.faults, `ASSAY_SEED=${seed}`).toEqual([])
      const random = new RandomChoice(seed)
      const first = verified.backups[0]!.manifest.transaction
      const covered = history.moments.filter(({ transaction }) => transaction >= first)
      const moments: readonly (Moment | undefined)[] = [undefined, random.pick(covered)]
      for (const moment of moments) {
        const to = moment && formatTransaction(moment.transaction)
        const { service, restored, stop } = await restoreFrom(places.folder, to)
        const { transaction, model } = moment ?? history.final
        const place = `ASSAY_SEED=${seed}, to ${to ?? 'the end'}`
        expect(restored.transaction, place).toBe(transaction)
        // An object that was removed within the same second may be gone, or its records may have been.
        const objects = [...model.keys()].filter((object) => !history.removed.has(object))
        const expected = new Map(objects.map((object) => [object, model.get(object)]))
        expect(await recordsOf(service, objects, place), place).toEqual(expected)
        if (!moment) expect(restored.missing, place).toEqual([])
        await stop()
      }
      for (const [name, count] of Object.entries(history.counts)) {
        sums.set(name, (sums.get(name) ?? 0) + count)
      }
    } finally {
      await rm(parent, { recursive: true, force: true })
    }
  }
  const counts = Array.from(sums, ([name, count]) => `${count} ${name}`).join(', ')
  console.log(`ASSAY_SEED=${randomSeed}: ${schedules} schedules of ${steps} steps: ${counts}`)
})
