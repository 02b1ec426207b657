import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockDirectory } from '../../src/storage/directory-lock.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-lock-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

const module = new URL('../../src/storage/directory-lock.ts', import.meta.url).href

/** A process that takes the lock, says so, and stays. */
async function holder(path = directory) {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(module)})
    try {
      await lockDirectory(${JSON.stringify(path)})
      console.log('held')
      setInterval(() => {}, 1000)
    } catch (error) { console.log(error.code); process.exit(1) }`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout, 'data')
  const kill = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { said: String(said).trim(), pid: child.pid, kill }
}

test('the second to come is told who has the directory', async () => {
  const lock = await lockDirectory(directory)
  await expect(lockDirectory(directory)).rejects.toMatchObject({
    code: 'STORAGE_LOCKED',
    message: `another process (process ${process.pid}) has the data directory ${directory} open`,
  })
  await lock.release()
  await lock.release()
  await (await lockDirectory(directory)).release()
})

test('a killed process leaves no lock behind', async () => {
  for (let round = 0; round < 3; round++) {
    const first = await holder()
    expect(first.said).toBe('held')
    await expect(lockDirectory(directory)).rejects.toThrow(`process ${first.pid}`)
    await first.kill()
    await (await lockDirectory(directory)).release()
  }
  expect(readdirSync(directory)).toHaveLength(1)
})

test('of many that come at once, one gets the lock', async () => {
  for (let round = 0; round < 20; round++) {
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => lockDirectory(directory)),
    )
    const held = results.filter((result) => result.status === 'fulfilled')
    expect(held).toHaveLength(1)
    await held[0]!.value.release()
  }
})

test('processes race for a dead lock, and one gets it', async () => {
  await (await holder()).kill()
  const racers = await Promise.all(Array.from({ length: 4 }, () => holder()))
  expect(racers.map(({ said }) => said).sort()).toEqual([
    'STORAGE_LOCKED',
    'STORAGE_LOCKED',
    'STORAGE_LOCKED',
    'held',
  ])
  for (const racer of racers) await racer.kill()
})

test('a path too long for a socket address, with any characters', async () => {
  const long = join(directory, 'ä b'.repeat(20), 'x'.repeat(100))
  mkdirSync(long, { recursive: true })
  const lock = await lockDirectory(long)
  await expect(lockDirectory(long)).rejects.toMatchObject({ code: 'STORAGE_LOCKED' })
  await lock.release()
  await (await lockDirectory(long)).release()
})
