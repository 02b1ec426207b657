/**
 * One bit of what the records have is flipped, as disks do at times: whatever is asked then gives the same answer as
 * before, byte for byte, or an error that says what is damaged. In the slow suite 1,000 bits, and 30 times as many that are only
 * to be found; otherwise a few.
 */
import { cp, rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import type { RecordDamage } from '../../src/storage/record-damage.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { openStoredLogs } from '../support/stored-logs.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const flips = Number(process.env.ASSAY_FLIPS ?? (isSlow ? 1000 : 6))

const questions = [
  'select: *',
  'select: * | sort: id',
  'select: id, input | sort: id | limit: 20',
  "select: * | filter: id = 'block 7'",
  "select: * | filter: id = 'block 290'",
  "select: * | filter: id = 'single 3'",
  "select: * | filter: id = 'late 2'",
  "select: * | filter: id = 'gone'",
  'dimensions: metadata.kind | measures: count(1) as n, sum(scores.s) as s | sort: metadata.kind',
  'measures: count(1) as n',
  "select: id | filter: input.text match 'fifteen' | sort: id",
]

/** Each numbered so that it is another row. */
function records(kind: string, from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => ({
    id: `${kind} ${from + i}`,
    input: { text: `the ${kind === 'block' ? 'fifteen' : 'sixteen'} of ${from + i}`.repeat(9) },
    scores: { s: (i % 8) / 8 },
    metadata: { kind, i },
  }))
}

async function makeStore(isFlushed: boolean): Promise<string> {
  const directory = await makeTemporaryDirectory('flipped')
  onTestFinished(() => rm(directory, { recursive: true }))
  const { engine, insert } = await openStoredLogs(directory)
  await insert(records('block', 0, 300))
  for (let i = 0; i < 12; i++) await insert(records('single', i, i + 1))
  await insert([{ id: 'gone', input: 1 }])
  await insert([{ id: 'gone', _object_delete: true }])
  await insert([{ id: 'block 7', _is_merge: true, output: 'merged' }])
  if (isFlushed) await engine.flush()
  await insert(records('block', 200, 210))
  for (let i = 0; i < 5; i++) await insert(records('late', i, i + 1))
  await engine.close()
  return directory
}

/** Numbers that are the same for the same seed. */
function* randomNumbers(seed: number): Generator<number> {
  let state = seed >>> 0
  while (true) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

/** Flips one bit of one value, chosen by chance. */
function flipIn(environment: RecordsEnvironment, random: Iterator<number>) {
  const next = (below: number) => Math.floor((random.next().value as number) * below)
  const { rows, ...checked } = databasesOf(environment)
  const filled = [rows, ...Object.values(checked).map(({ stored }) => stored)].filter(
    (database) => database.getKeysCount() > 0,
  )
  const database = filled[next(filled.length)]!
  const keys = [...database.getKeys({})]
  const key = keys[next(keys.length)]!
  const value = Buffer.from(database.get(key)!)
  const damaged = Buffer.from(value)
  const bit = next(value.length * 8)
  damaged[bit >> 3]! ^= 1 << (bit & 7)
  database.putSync(key, damaged)
  return {
    where: `bit ${bit} of ${value.length * 8} of ${key.toString('latin1')}`,
    key: key.toString('hex'),
    undo: () => database.putSync(key, value),
  }
}

async function flipOne(directory: string, random: Iterator<number>): Promise<string> {
  const environment = openRecords(directory, { readOnly: false })
  const { where } = flipIn(environment, random)
  await environment.root.close()
  return where
}

function databasesOf(environment: RecordsEnvironment) {
  const { rows, catalog, ids, idRuns, progress, log, supersessions, fieldPaths } = environment
  return { rows, catalog, ids, idRuns, progress, log, supersessions, fieldPaths }
}

async function damagesOf(directory: string): Promise<RecordDamage[]> {
  const environment = openRecords(directory, { readOnly: true })
  const damages = damagesIn(environment)
  await environment.root.close()
  return damages
}

function damagesIn(environment: RecordsEnvironment): RecordDamage[] {
  const damages: RecordDamage[] = []
  for (const _ of verifyRecords(environment, (damage) => damages.push(damage)));
  return damages
}

test('each flipped bit is told of, by the key of its value', { timeout: 120_000 }, async () => {
  const environment = openRecords(await makeStore(true), { readOnly: false })
  onTestFinished(() => environment.root.close())
  const random = randomNumbers(randomSeed)
  for (let flip = 0; flip < flips * 30; flip++) {
    const { where, key, undo } = flipIn(environment, random)
    const damages = damagesIn(environment).filter((damage) => damage.key !== '')
    expect(
      damages.map((damage) => damage.key),
      where,
    ).toEqual([key])
    undo()
  }
  expect(damagesIn(environment)).toEqual([])
})

/** What `work` gives, or that it was refused since something is damaged; any other error is thrown. */
async function answerOf<Result>(work: () => Promise<Result>): Promise<Result | 'damaged'> {
  try {
    return await work()
  } catch (thrown) {
    const isTold = thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT'
    if (!isTold || !thrown.message.includes('cannot be read')) throw thrown
    return 'damaged'
  }
}

test.each([
  ['flushed', true],
  ['only in the row store', false],
])(
  `a flipped bit never gives another answer, where most is %s`,
  { timeout: flips * 30_000 },
  async (name, isFlushed) => {
    const store = await makeStore(isFlushed)
    expect(await damagesOf(store)).toEqual([])
    const intact = await openStoredLogs(store)
    const expected: string[] = []
    for (const question of questions) expected.push(await intact.ask(question))
    await intact.engine.close()
    const random = randomNumbers(randomSeed + (isFlushed ? 1 : 0))
    const counts = { flips: 0, starts: 0, same: 0, refused: 0, writes: 0 }
    const directory = await makeTemporaryDirectory('flipped-copy')
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    for (let flip = 0; flip < flips; flip++) {
      await rm(directory, { recursive: true, force: true })
      await cp(store, directory, { recursive: true, filter: (path) => !path.includes('lock.') })
      const where = await flipOne(directory, random)
      counts.flips++
      expect(await damagesOf(directory), where).not.toEqual([])
      const opened = await answerOf(() => openStoredLogs(directory))
      if (opened === 'damaged') continue
      counts.starts++
      const { engine, ask, insert } = opened
      try {
        for (let round = 0; round < 2; round++) {
          for (const [i, question] of questions.entries()) {
            const answer = await answerOf(() => ask(question))
            if (answer === 'damaged') counts.refused++
            else {
              expect(answer, `${question}, round ${round}, after ${where}`).toBe(expected[i])
              counts.same++
            }
          }
          if (round === 0) {
            await engine.flush()
            await engine.compact()
          }
        }
        await expectNoDoubles(insert, ask, counts, where)
      } finally {
        await engine.close()
      }
    }
    console.log(`flipped bits, ${name}, seed ${randomSeed}: ${JSON.stringify(counts)}`)
  },
)

test('a damaged row is named, and the rows beside it are read', async () => {
  const store = await makeStore(false)
  const environment = openRecords(store, { readOnly: false })
  const { rows } = environment
  const stored = Array.from(rows.getRange({})).find(({ value }) => value.includes('"single 3"'))!
  stored.value[100]! ^= 4
  rows.putSync(stored.key, stored.value)
  await environment.root.close()
  const { engine, ask, insert } = await openStoredLogs(store)
  onTestFinished(() => engine.close())
  expect(await ask("select: id | filter: id = 'single 4'")).toBe('{"id":"single 4"}')
  for (let round = 0; round < 2; round++) {
    for (const asked of ["select: * | filter: id = 'single 3'", 'measures: count(1) as n']) {
      const refused = await ask(asked).catch((thrown) => engine.catalog.withName(thrown))
      expect(refused).toMatchObject({ code: 'STORAGE_CORRUPT' })
      expect((refused as AssayError).message).toMatch(
        /^the row with _xact_id \d{19}, place 0, of project_logs "p" \(.*\) cannot be read: what is/,
      )
    }
    await engine.flush()
  }
  expect(engine.status().leftOut).toBe(1)
  const merge = { id: 'single 3', _is_merge: true, output: 'more' }
  await expect(insert([merge])).rejects.toThrow(
    'the record "single 3" cannot be changed, as the row with _xact_id',
  )
  await insert([{ ...merge, id: 'single 4' }])
  expect(await ask("select: id, output | filter: id = 'single 4'")).toBe(
    '{"id":"single 4","output":"more"}',
  )
})

/** Records that are written again are the same records, merged with what they were. */
async function expectNoDoubles(
  insert: (events: readonly object[]) => Promise<void>,
  ask: (clauses: string) => Promise<string>,
  counts: { writes: number },
  where: string,
): Promise<void> {
  for (const id of ['block 7', 'block 250', 'single 3', 'late 2']) {
    const wrote = await answerOf(() => insert([{ id, _is_merge: true, output: 'again' }]))
    if (wrote === 'damaged') continue
    counts.writes++
    const found = await answerOf(() =>
      ask(`select: id, output, metadata.kind | filter: id = '${id}'`),
    )
    if (found === 'damaged') continue
    expect(
      found.split('\n').map((line) => JSON.parse(line)),
      `${id} after ${where}`,
    ).toEqual([{ id, output: 'again', kind: id.split(' ')[0] }])
  }
}
