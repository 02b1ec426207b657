/** A disk that takes no more: every way to write says so, reading goes on, and writing does once it can. */
import { randomBytes } from 'node:crypto'
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
const canMount = SmallDisk.canMount()
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

describe.runIf(canMount)('on a disk that is full', () => {
  let disk: SmallDisk
  let directory: string

  beforeAll(async () => {
    disk = SmallDisk.mount(96)
    directory = mkdtempSync(join(disk.directory, 'data-'))
    await start(directory)
    await makePlace()
  })
  afterAll(async () => {
    await stop()
    disk.unmount()
  })

  test('what has no room is refused with the reason and not there, and all works once there is room', async () => {
    let refused = 0
    for (let round = 0; round < 2; round++) {
      const upload = await announce()
      disk.fill()
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
      disk.empty()
      await expectAllToWork()
      expect((await send(upload)).status).toBe(200)
    }
    expect(refused).toBeGreaterThanOrEqual(14)
  })

  test('a start on it serves what there is, which is what was in memory before', async () => {
    disk.fill()
    const before = await everythingSeen(ask, place)
    await stop()
    await start(directory)
    expect(await everythingSeen(ask, place)).toBe(before)
    disk.empty()
    await expectAllToWork()
  })
})

describe.runIf(canMount)('below the reserve of the disk', () => {
  let disk: SmallDisk
  // A flush has room in it: it writes 64 MiB of rows at a time.
  const reserve = 128 * 2 ** 20

  beforeAll(async () => {
    disk = SmallDisk.mount(320)
    const directory = mkdtempSync(join(disk.directory, 'data-'))
    await start(directory, { ASSAY_MIN_FREE_MB: '128' })
    await makePlace()
  })
  afterAll(async () => {
    await stop()
    disk.unmount()
  })

  const remove = (path: string) => ask(path, { method: 'DELETE' })

  async function metric(name: string): Promise<number> {
    const { text } = await ask('/metrics')
    return Number(text.match(new RegExp(`^${name} (.*)$`, 'm'))?.[1])
  }

  test('nothing that grows is taken, with 507 and what to do; reading, signing in and deleting go on', async () => {
    const { text: made } = await ask('/v1/dataset', {
      body: { project_id: place.project, name: 'needless' },
    })
    const needless = (JSON.parse(made) as { id: string }).id
    await ask(`/v1/dataset/${needless}/insert`, { body: { events: [{ id: 'a' }, { id: 'b' }] } })
    const upload = await announce()
    const before = await everythingSeen(ask, place)
    expect(JSON.parse((await ask('/healthz')).text)).toEqual({ status: 'ok' })

    disk.fill(reserve - 2 ** 20)
    await expect.poll(() => metric('assay_disk_reserve_reached')).toBe(1)
    expect(await metric('assay_disk_reserve_bytes')).toBe(reserve)
    expect(await metric('assay_disk_available_bytes')).toBeLessThan(reserve)
    const health = await ask('/healthz')
    expect(health.status).toBe(200)
    expect(JSON.parse(health.text)).toEqual({ status: 'ok', writes: 'no room' })
    const { 'a session': signIn, ...growing } = everyWrite(ask, key, place)
    for (const [what, write] of Object.entries(growing)) {
      const { status, text } = await write(`never-${++run}`)
      // Exporters would drop what is refused by 507.
      expect(status, `${what}: ${text}`).toBe(what === 'spans' ? 503 : 507)
      expect(text, what).toMatch(/128 MiB are kept free.*--min-free-mb/)
    }
    expect((await send(upload)).status).toBe(507)
    expect(await everythingSeen(ask, place)).toBe(before)
    expect((await signIn()).status).toBe(200)

    const events = [{ id: 'a', _object_delete: true }]
    const deleted = await ask(`/v1/dataset/${needless}/insert`, { body: { events } })
    expect(deleted.status, deleted.text).toBe(200)
    const mixed = [...events, { id: 'c' }]
    const both = await ask(`/v1/dataset/${needless}/insert`, { body: { events: mixed } })
    expect(both.status, both.text).toBe(507)
    expect((await remove(`/v1/dataset/${needless}`)).status).toBe(200)

    disk.empty()
    await expectAllToWork()
    expect((await send(upload)).status).toBe(200)
    expect(await metric('assay_disk_reserve_reached')).toBe(0)
  })

  test('what is deleted makes room for more, without a restart', { timeout: 120_000 }, async () => {
    const body = { project_id: place.project, name: 'large' }
    const { text } = await ask('/v1/experiment', { body })
    const large = (JSON.parse(text) as { id: string }).id
    const insert = async () => {
      const events = Array.from({ length: 10 }, () => ({
        input: randomBytes(75_000).toString('base64'),
      }))
      return (await ask(`/v1/experiment/${large}/insert`, { body: { events } })).status
    }
    let status = 200
    while (status === 200) status = await insert()
    expect(status).toBe(507)
    expect((await remove(`/v1/experiment/${large}`)).status).toBe(200)
    const small = () => everyWrite(ask, key, place)['rows of an experiment']!(`after-${++run}`)
    await expect.poll(async () => (await small()).status).toBe(200)
  })
})

describe.runIf(canMount)('with a reserve that no flush has room in', () => {
  let disk: SmallDisk

  beforeAll(async () => {
    disk = SmallDisk.mount(160)
    await start(mkdtempSync(join(disk.directory, 'data-')), { ASSAY_MIN_FREE_MB: '16' })
    await makePlace()
  })
  afterAll(async () => {
    await stop()
    disk.unmount()
  })

  test('what is deleted makes room for as much again', { timeout: 180_000 }, async () => {
    const megabyte = async (experiment: string) => {
      const events = Array.from({ length: 10 }, () => ({
        input: randomBytes(75_000).toString('base64'),
      }))
      return (await ask(`/v1/experiment/${experiment}/insert`, { body: { events } })).status
    }
    for (let round = 0; round < 3; round++) {
      const body = { project_id: place.project, name: `large ${round}` }
      let large = ''
      const begin = async () => {
        const { status, text } = await ask('/v1/experiment', { body })
        if (status === 200) large = (JSON.parse(text) as { id: string }).id
        return large !== '' && megabyte(large)
      }
      await expect.poll(begin, { timeout: 40_000, message: `round ${round}` }).toBe(200)
      // What was deleted leaves the disk while this goes on.
      let inserts = 0
      const fill = async () => {
        for (;;) {
          const status = await megabyte(large)
          if (status !== 200) expect([507, 503], `round ${round}`).toContain(status)
          if (status !== 200) return inserts
          inserts++
        }
      }
      await expect.poll(fill, { message: `round ${round}` }).toBeGreaterThan(20)
      expect((await ask(`/v1/experiment/${large}`, { method: 'DELETE' })).status).toBe(200)
    }
    expect(await everythingSeen(ask, place)).toContain('"id":"kept"')
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
