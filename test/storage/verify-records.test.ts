/** What reading all records finds beside damaged values. */
import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFile, openRecords, recordsFolder } from '../../src/storage/environment.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import type { RecordDamage } from '../../src/storage/record-damage.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const pageBytes = 4096

async function damagesOf(directory: string): Promise<RecordDamage[]> {
  const records = openRecords(directory, { readOnly: true })
  const damages: RecordDamage[] = []
  for (const _ of verifyRecords(records, (damage) => damages.push(damage)));
  await records.root.close()
  return damages
}

/** Flips the lowest bit of the names by which inner pages lead on; keys stay in order. */
function misleadInnerPages(path: string): void {
  const file = readFileSync(path)
  for (let page = 0; page < file.length; page += pageBytes) {
    const isBranch = file.readUInt16LE(page + 18) === 1
    if (!isBranch || file.readBigUInt64LE(page) !== BigInt(page / pageBytes)) continue
    const node = page + 24 + file.readUInt16LE(page + 24 + 2)
    const key = file.subarray(node + 8, node + 8 + file.readUInt16LE(node + 6))
    if (key.toString().startsWith('file/')) key[key.length - 1]! ^= 1
  }
  writeFileSync(path, file)
}

test('an inner page that leads astray is told of by the keys that are not found', async () => {
  const directory = await makeTemporaryDirectory('inner-pages')
  onTestFinished(() => rm(directory, { recursive: true }))
  const records = openRecords(directory, { readOnly: false })
  records.root.transactionSync(() => {
    for (let i = 0; i < 4000; i++) {
      records.catalog.putSync(Buffer.from(`file/${String(i).padStart(6, '0')}`), Buffer.from('1'))
    }
  })
  await records.root.close()
  expect(await damagesOf(directory)).toEqual([])
  misleadInnerPages(join(recordsFolder(directory), dataFile))
  const [first, ...others] = await damagesOf(directory)
  expect(first).toMatchObject({
    database: 'catalog',
    what: expect.stringMatching(/^the catalog's entry "file\/\d+", which a look-up .* not find,$/),
  })
  expect(others.length).toBeLessThan(3)
})
