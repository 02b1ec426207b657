/** `assay check` on data directories whose stored values are damaged. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCheck } from '../../src/cli/check.ts'
import { Engine } from '../../src/engine.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { damagedKinds, damageSegments, randomOf } from '../support/damage.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { check } from '../support/run-check.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let whole: string
let projectId: string

beforeAll(async () => {
  whole = await makeTemporaryDirectory('checked')
  const engine = await open(whole)
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  projectId = project.id
  const object = { type: 'project_logs', id: project.id } as const
  const events = Array.from({ length: 5000 }, (_, i) => {
    return { id: `r${i}`, input: `the ${i} words ${i * 7} of a text`, metrics: { tokens: i } }
  })
  await engine.insert({
    body: Buffer.from(JSON.stringify({ events })),
    form: 'events',
    object,
    view,
  })
  await engine.flush()
  await engine.compact()
  await engine.close()
}, 60_000)

afterAll(() => rm(whole, { recursive: true }))

function open(directory: string): Promise<Engine> {
  return Engine.open({ dataDirectory: directory, workers: 0, maintenance: { automatic: false } })
}

async function count(directory: string): Promise<unknown> {
  const engine = await open(directory)
  try {
    const view = await ownerGate(engine.catalog)
    const query = `from: project_logs('${projectId}') | measures: count(1) as n, sum(metrics.tokens) as tokens`
    const { rows } = await engine.query({ query, view })
    const parts: string[] = []
    for await (const { bytes } of rows) parts.push(Buffer.from(bytes).toString())
    return JSON.parse(parts.join()) as unknown
  } finally {
    await engine.close()
  }
}

async function withCopy(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await makeTemporaryDirectory('check')
  try {
    // Sockets cannot be copied.
    const filter = (path: string) => !basename(path).startsWith('lock.')
    await cp(whole, directory, { recursive: true, filter })
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const all = { n: 5000, tokens: (4999 * 5000) / 2 }

describe('assay check', () => {
  test('says that all is whole, and changes nothing', async () => {
    await withCopy(async (directory) => {
      const file = join(directory, 'records', 'data.mdb')
      const before = statSync(file).mtimeMs
      const { code, said } = await check(directory)
      expect(said).toContain('All is as it was written.')
      expect(code).toBe(0)
      expect(statSync(file).mtimeMs).toBe(before)
    })
  })

  test.each(damagedKinds.filter((kind) => kind !== 'keys'))(
    'finds damage of segments in %s, and makes them again',
    async (kind) => {
      await withCopy(async (directory) => {
        const told = await damageSegments(directory, kind, randomOf(7))
        const found = await check(directory)
        expect(found.said, told).toContain('1 fault in segments')
        expect(found.code).toBe(1)
        const repaired = await check(directory, true)
        expect(repaired.said).toContain('All is as it was written.')
        expect(repaired.code).toBe(0)
        expect((await check(directory)).code).toBe(0)
        expect(await count(directory)).toEqual(all)
      })
    },
    60_000,
  )

  test('makes segments again whose folder is gone', async () => {
    await withCopy(async (directory) => {
      await rm(join(directory, 'segments'), { recursive: true })
      expect((await check(directory)).code).toBe(1)
      expect((await check(directory, true)).code).toBe(0)
      expect(await count(directory)).toEqual(all)
    })
  }, 60_000)

  test('moves what is stored of damaged rows to a file, and tells which', async () => {
    await withCopy(async (directory) => {
      const environment = openRecords(directory, { readOnly: false })
      const [first] = environment.rows.getKeys({ limit: 1 })
      const value = Buffer.from(environment.rows.get(first!)!)
      value[value.length - 100]! ^= 4
      environment.rows.putSync(first!, value)
      await environment.root.close()
      const found = await check(directory)
      expect(found.code).toBe(1)
      expect(found.said).toMatch(/rows? (from|with) _xact_id \d+, place \d+,/)
      const { code, said } = await check(directory, true)
      expect(said).toContain('queries go on without them')
      expect(said).toContain('All is as it was written.')
      expect(code).toBe(1)
      const [name] = readdirSync(directory).filter((each) => each.startsWith('damaged-values-'))
      const [line] = readFileSync(join(directory, name!), 'utf8').split('\n')
      const kept = JSON.parse(line!) as { value: string; versions: unknown[] }
      expect(Buffer.from(kept.value, 'base64').equals(value)).toBe(true)
      expect((await check(directory)).code).toBe(0)
      expect(await count(directory)).toMatchObject({ n: 5000 - kept.versions.length })
    })
  }, 60_000)

  test('says what to do while a service has the directory', async () => {
    await withCopy(async (directory) => {
      const engine = await open(directory)
      await expect(runCheck({ dataDir: directory })).rejects.toMatchObject({
        code: 'COMMAND_INVALID',
        hint: expect.stringContaining('stop the service'),
      })
      process.exitCode = undefined
      await engine.close()
    })
  })
})
