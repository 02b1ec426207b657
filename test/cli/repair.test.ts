/** `assay check --repair` on records of which one value is damaged: what follows from other values is made again. */
import { cp, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'
import { randomOf } from '../support/damage.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { check } from '../support/run-check.ts'
import { openStoredLogs } from '../support/stored-logs.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const flipsPerDatabase = Number(process.env.ASSAY_FLIPS ?? (isSlow ? 40 : 1))

const longName = 'n'.repeat(300)
const longId = `long ${'i'.repeat(300)}`

const questions = [
  'select: * | sort: id',
  "select: * | filter: id = 'block 7'",
  "select: * | filter: id = 'single 3'",
  "select: * | filter: id = 'gone'",
  'dimensions: metadata.kind | measures: count(1) as n | sort: metadata.kind',
  `select: id, metadata.${longName} | sort: id`,
]

let whole: string
let expected: string[]

beforeAll(async () => {
  whole = await makeTemporaryDirectory('repaired')
  const { engine, insert, ask } = await openStoredLogs(whole)
  const record = (kind: string, i: number) => {
    return { id: `${kind} ${i}`, input: `text ${i}`, metadata: { kind, i } }
  }
  await insert(Array.from({ length: 600 }, (_, i) => record('block', i)))
  for (let i = 0; i < 12; i++) await insert([record('single', i)])
  await insert([{ id: longId, metadata: { [longName]: 1 } }])
  await insert([{ id: 'gone', input: 1 }])
  await insert([{ id: 'gone', _object_delete: true }])
  await insert([{ id: 'block 7', _is_merge: true, output: 'merged' }])
  await engine.flush()
  for (let i = 0; i < 12; i += 3) await insert([{ ...record('single', i), output: i }])
  expected = []
  for (const question of questions) expected.push(await ask(question))
  await engine.close()
}, 60_000)

afterAll(() => rm(whole, { recursive: true }))

function databasesOf(environment: RecordsEnvironment) {
  const { catalog, ids, idRuns, progress, log, supersessions, fieldPaths } = environment
  return { catalog, ids, idRuns, progress, log, supersessions, fieldPaths }
}

test.each(['catalog', 'ids', 'idRuns', 'progress', 'log', 'supersessions', 'fieldPaths'] as const)(
  'a damaged value of %s is made again, and answers are those of before',
  { timeout: flipsPerDatabase * 60_000 },
  async (name) => {
    const random = randomOf(randomSeed)
    const directory = await makeTemporaryDirectory('repair')
    for (let flip = 0; flip < flipsPerDatabase; flip++) {
      await rm(directory, { recursive: true, force: true })
      const filter = (path: string) => !basename(path).startsWith('lock.')
      await cp(whole, directory, { recursive: true, filter })
      const environment = openRecords(directory, { readOnly: false })
      const { stored } = databasesOf(environment)[name]
      const keys = [...stored.getKeys({})]
      const key = keys[random(keys.length)]!
      const value = Buffer.from(stored.get(key)!)
      value[random(value.length)]! ^= 1 << random(8)
      stored.putSync(key, value)
      await environment.root.close()
      const where = `${key.toString('latin1')} of ${name}, seed ${randomSeed}`
      expect((await check(directory, false)).code, where).toBe(1)
      const { code, said } = await check(directory, true)
      expect(said, where).toContain('All is as it was written.')
      expect(code, `${where}: ${said}`).toBe(said.includes('lost') ? 1 : 0)
      expect((await check(directory, false)).code, where).toBe(0)
      const { engine, insert, ask } = await openStoredLogs(directory)
      try {
        for (const [i, question] of questions.entries()) {
          expect(await ask(question), `${question} after ${where}`).toBe(expected[i])
        }
        for (const id of ['block 7', 'block 250', 'single 3', 'single 4', longId]) {
          await insert([{ id, _is_merge: true, output: 'again' }])
          const found = await ask(`select: output | filter: id = '${id}'`)
          expect(found, `${id} after ${where}`).toBe('{"output":"again"}')
        }
      } finally {
        await engine.close()
      }
    }
    await rm(directory, { recursive: true })
  },
)
