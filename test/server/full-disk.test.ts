/** A disk that takes no more: every way to write says so, reading goes on, and writing does once it can. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { type Ask, everythingSeen, everyWrite, type Written } from '../support/every-write.ts'
import { FailingWrites } from '../support/failing-writes.ts'
import { SmallDisk } from '../support/small-disk.ts'

const key = 'sk-full-disk-0123456789'
const isLinux = process.platform === 'linux'
const disk = isLinux ? SmallDisk.mount(96) : undefined
const failing = isLinux ? FailingWrites.build() : undefined

let service: ServeProcess
let place: Written
let run = 0

const ask: Ask = async (path, { method, body, headers } = {}) => {
  const response = await fetch(service.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

async function start(directory: string, environment: Record<string, string> = {}) {
  service = await serveAssay(directory, {
    ASSAY_BOOTSTRAP_KEY: key,
    ASSAY_MIN_FREE_MB: '0',
    ASSAY_WARM_UP: '0',
    ...environment,
  })
}

async function makePlace() {
  const made = async (path: string, body: object) =>
    String((JSON.parse((await ask(path, { body })).text) as { id: string }).id)
  const project = await made('/v1/project', { name: 'Full' })
  const experiment = await made('/v1/experiment', { project_id: project, name: 'e' })
  place = { project, experiment }
  const events = [{ id: 'kept', input: 'still here' }]
  await ask(`/v1/experiment/${experiment}/insert`, { body: { events } })
}

/** The path to which a file may be sent. */
async function announce(): Promise<string> {
  const { text } = await ask('/attachment', { body: { key: `file-${++run}` } })
  const { pathname, search } = new URL((JSON.parse(text) as { signedUrl: string }).signedUrl)
  return pathname + search
}

const send = (path: string) =>
  ask(path, { method: 'PUT', body: 'y'.repeat(5_000_000), headers: { authorization: '' } })

async function expectAllToWork() {
  for (const [what, write] of Object.entries(everyWrite(ask, key, place))) {
    const { status, text } = await write(`there-${++run}`)
    expect(status, `${what}: ${text}`).toBe(200)
  }
  expect((await send(await announce())).status).toBe(200)
}

function halfWritten(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true }).map(String)
  return names.filter((name) => name.endsWith('.part'))
}

async function stop() {
  service.child.kill('SIGKILL')
  await service.exit
}

describe.runIf(disk)('on a disk that is full', () => {
  let directory: string

  beforeAll(async () => {
    directory = mkdtempSync(join(disk!.directory, 'data-'))
    await start(directory)
    await makePlace()
  })
  afterAll(async () => {
    await stop()
    disk!.unmount()
  })

  test('what has no room is refused with the reason and not there, and all works once there is room', async () => {
    let refused = 0
    for (let round = 0; round < 2; round++) {
      const upload = await announce()
      disk!.fill()
      for (const [what, write] of Object.entries(everyWrite(ask, key, place))) {
        const name = `full-${++run}`
        const before = await everythingSeen(ask, place)
        const { status, text } = await write(name)
        // What is short may find room within the files that there are.
        if (status === 200) continue
        refused++
        expect(status, `${what}: ${text}`).toBe(503)
        expect(text, what).toContain('no space left on the disk of the data directory')
        expect(await everythingSeen(ask, place), what).toBe(before)
      }
      const sent = await send(upload)
      expect(sent.status, sent.text).toBe(503)
      expect(halfWritten(directory)).toEqual([])
      expect((await ask('/healthz')).status).toBe(200)
      disk!.empty()
      await expectAllToWork()
      expect((await send(upload)).status).toBe(200)
    }
    expect(refused).toBeGreaterThanOrEqual(14)
  })

  test('a start on it serves what there is, which is what was in memory before', async () => {
    disk!.fill()
    const before = await everythingSeen(ask, place)
    await stop()
    await start(directory)
    expect(await everythingSeen(ask, place)).toBe(before)
    disk!.empty()
    await expectAllToWork()
  })
})

describe.runIf(failing)('on a disk that fails', () => {
  let directory: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'assay-failing-'))
    await start(directory, failing!.environment(directory))
    await makePlace()
  })
  afterAll(async () => {
    await stop()
    failing!.remove()
    rmSync(directory, { recursive: true })
  })

  test.each([
    ['ENOSPC', 'no space left on the disk of the data directory'],
    ['EIO', 'the disk of the data directory has failed'],
  ] as const)(
    'each write that meets %s says so and changes nothing, and the next one works',
    async (how, reason) => {
      const upload = await announce()
      const before = await everythingSeen(ask, place)
      failing!.fail(how)
      const writes = Object.entries(everyWrite(ask, key, place))
      for (const [what, write] of writes) {
        const { status, text } = await write(`never-${++run}`)
        expect(status, `${what}: ${text}`).toBe(503)
        expect(text, what).toContain(reason)
        expect(text, what).not.toContain(directory)
      }
      // Many at the same time share a commit.
      const together = await Promise.all(
        [...writes, ...writes, ...writes].map(([, write]) => write(`never-${++run}`)),
      )
      expect(new Set(together.map(({ status }) => status))).toEqual(new Set([503]))
      expect((await send(upload)).status).toBe(503)
      expect(halfWritten(directory)).toEqual([])
      expect(await everythingSeen(ask, place)).toBe(before)
      failing!.mend()
      await expectAllToWork()
      expect((await send(upload)).status).toBe(200)
    },
  )
})
