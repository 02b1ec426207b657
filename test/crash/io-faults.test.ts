/**
 * Every call to the disk fails once. A library between the service and the C library (`support/io/io-shim.c`) fails the
 * n-th call below the data directory, for n from 1 on until a step makes fewer calls. ASSAY_SLOW=1 tries every n of every step
 * with every way to fail.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { freePort } from '../support/free-port.ts'
import { compileShim, type Fault, FaultControl } from '../support/io/io-shim.ts'
import { isSlow } from '../support/random-seed.ts'

const key = 'sk-faults-0123456789'
const shim = compileShim()

interface Answer {
  readonly status: number
  readonly text: string
}

/** A service over a failing disk, and what it has acknowledged. */
class FailingService {
  readonly control: FaultControl
  readonly data: string
  /** Records that must be there, and those that may. */
  readonly acknowledged = new Set<string>()
  readonly unknown = new Set<string>()
  experiment = ''
  #process!: ServeProcess
  #port: number | undefined
  #next = 0

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'io-'))
    this.data = join(folder, 'd')
    this.control = new FaultControl(join(folder, 'control'), this.data)
    onTestFinished(async () => {
      await this.kill()
      this.control.close()
      rmSync(folder, { recursive: true })
    })
  }

  get environment(): Record<string, string> {
    return {
      ASSAY_BOOTSTRAP_KEY: key,
      ASSAY_WARM_UP: '0',
      LD_PRELOAD: shim!,
      IO_SHIM_DIRECTORY: this.data,
      IO_SHIM_CONTROL: this.control.path,
    }
  }

  async start(environment: Record<string, string> = this.environment): Promise<void> {
    this.#port ??= await freePort()
    this.#process = await serveAssay(this.data, environment, this.#port)
  }

  async kill(): Promise<void> {
    this.#process?.child.kill('SIGKILL')
    await this.#process?.exit
  }

  get output(): string {
    return this.#process.output()
  }

  async setUp(): Promise<void> {
    const project = await this.post('/v1/project', { name: 'p' })
    const { id } = JSON.parse(project.text) as { id: string }
    const made = await this.post('/v1/experiment', { project_id: id, name: 'e' })
    this.experiment = (JSON.parse(made.text) as { id: string }).id
  }

  async request(path: string, method = 'GET', body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}` }
    const text = body && JSON.stringify(body)
    const response = await fetch(this.#process.url + path, {
      method,
      // None may wait for ever.
      signal: AbortSignal.timeout(60_000),
      headers,
      ...(text !== undefined && { body: text }),
    })
    return { status: response.status, text: await response.text() }
  }

  post(path: string, body: object): Promise<Answer> {
    return this.request(path, 'POST', body)
  }

  /** Inserts records of which it is noted whether they were acknowledged. */
  async insert(count: number, text: string): Promise<Answer> {
    const ids = Array.from({ length: count }, () => `r${this.#next++}`)
    for (const id of ids) this.unknown.add(id)
    const events = ids.map((id) => ({ id, input: `${id} ${text}` }))
    const answer = await this.post(`/v1/experiment/${this.experiment}/insert`, { events })
    if (answer.status === 200) {
      for (const id of ids) {
        this.unknown.delete(id)
        this.acknowledged.add(id)
      }
    }
    return answer
  }

  name(prefix: string): string {
    return `${prefix}${this.#next++}`
  }

  /** Waits while the service says why not, for so long as it takes to open its data anew. */
  async answerOf(ask: () => Promise<Answer>): Promise<Answer> {
    let last: Answer | undefined
    await expect
      .poll(
        async () => {
          last = await ask().catch((error: unknown) => ({ status: 0, text: String(error) }))
          if (last.status !== 0) expectSentence(last)
          return last.status
        },
        { timeout: 30_000, interval: 50 },
      )
      .toBe(200)
      .catch((error: unknown) => {
        throw new Error(`${last?.text}\n${this.output.slice(-3000)}`, { cause: error })
      })
    return last!
  }

  /** All that was acknowledged is there, and nothing that was never sent. */
  async check(): Promise<void> {
    const query = `select: id, input | from: experiment('${this.experiment}')`
    const { text } = await this.answerOf(() => this.post('/btql', { query, fmt: 'jsonl' }))
    const rows = text.split('\n').filter(Boolean)
    const found = new Set<string>()
    for (const row of rows) {
      const { id, input } = JSON.parse(row) as { id: string; input: string }
      expect(input.startsWith(`${id} `)).toBe(true)
      found.add(id)
    }
    expect(found.size).toBe(rows.length)
    expect([...this.acknowledged].filter((id) => !found.has(id))).toEqual([])
    for (const id of found) expect(this.acknowledged.has(id) || this.unknown.has(id)).toBe(true)
  }
}

/** What fails says so in a sentence, and never as a defect of ours. */
function expectSentence({ status, text }: Answer): void {
  if (status === 200) return
  expect([503, 507], text).toContain(status)
  const { Message } = JSON.parse(text) as { Message: string }
  expect(Message.length, text).toBeGreaterThan(20)
}

type Step = (service: FailingService) => Promise<Answer>

const steps: Readonly<Record<string, Step>> = {
  'a small insert': (service) => service.insert(3, 'word '.repeat(200)),
  'a large insert': (service) => service.insert(400, 'many words '.repeat(100)),
  'a new project': (service) => service.post('/v1/project', { name: service.name('p') }),
  'a change of the catalog': (service) =>
    service.request(`/v1/experiment/${service.experiment}`, 'PATCH', {
      description: service.name('d'),
    }),
  'an attachment': (service) =>
    service.post('/attachment', {
      key: service.name('a'),
      filename: 'f',
      content_type: 'text/plain',
      org_id: '',
    }),
  'a removal': async (service) => {
    const made = await service.post('/v1/project', { name: service.name('gone') })
    if (made.status !== 200) return made
    return service.request(`/v1/project/${(JSON.parse(made.text) as { id: string }).id}`, 'DELETE')
  },
}

/** What the usual suite has time for. */
const quickSteps = new Set(['a small insert', 'a change of the catalog'])

const faults: readonly Fault[] = isSlow
  ? [
      { error: 'ENOSPC' },
      { error: 'EIO' },
      { error: 'EIO', mode: 'late' },
      { error: 'ENOSPC', mode: 'short', kind: 'write' },
      { error: 'EINTR', kind: 'write' },
      { error: 'ENOSPC', failures: 1000 },
    ]
  : [{ error: 'EIO', mode: 'late' }]

test.runIf(shim)(
  'each call that a request makes fails once, and no other notices it',
  async () => {
    const service = new FailingService()
    await service.start()
    await service.setUp()
    let failed = 0
    let reopened = 0
    const tried = Object.entries(steps).filter(([name]) => isSlow || quickSteps.has(name))
    for (const [name, step] of tried) {
      for (const fault of faults) {
        for (let call = 1; ; call++) {
          service.control.arm(call, fault)
          const answer = await step(service)
          const seen = service.control.disarm()
          const what = `${name}: ${fault.error} ${fault.mode ?? ''} of call ${call}, ${seen.last}`
          if (seen.failed === 0) break
          if (isSlow) process.stdout.write(`${what}: ${answer.status}\n`)
          expect(
            [200, 503, 507],
            `${what}: ${answer.text}\n${service.output.slice(-3000)}`,
          ).toContain(answer.status)
          expectSentence(answer)
          failed++
          await service.check()
          await service.answerOf(() => service.insert(1, 'after it'))
        }
      }
      reopened += service.output.split('listening again').length - 1
      await service.kill()
      await service.start()
      await service.check()
    }
    expect(failed).toBeGreaterThan(5)
    process.stdout.write(
      `${failed} calls failed, ${reopened} times of them the end of a transaction\n`,
    )
  },
  3_600_000,
)

interface FailedStart {
  readonly call: number
  /** Which call it was, for messages. */
  readonly what: string
  /** What the process said before it ended; undefined: it listens. */
  readonly said: string | undefined
}

/** Starts a service again and again, until one makes fewer calls than the one that is to fail, or `most` have failed. */
async function* failedStarts(
  service: FailingService,
  fault: Fault,
  { stride = 1, most = Number.POSITIVE_INFINITY },
): AsyncGenerator<FailedStart> {
  for (let call = 1; call <= most; call += stride) {
    await service.kill()
    service.control.arm(call, fault)
    const said = await service.start().then(
      () => undefined,
      (thrown: Error) => thrown.message,
    )
    const { failed, last } = service.control.disarm()
    if (failed === 0) return
    const what = `start: ${fault.error} of call ${call}, ${last}`
    if (isSlow) process.stdout.write(`${what}: ${said?.slice(-300) ?? 'listens'}\n`)
    yield { call, what, said }
  }
}

test.runIf(shim)(
  'each call of a start fails once, and the next start finds all',
  async () => {
    const service = new FailingService()
    await service.start()
    await service.setUp()
    await service.insert(50, 'x'.repeat(2000))
    let tried = 0
    const stride = isSlow ? 1 : 37
    const errors = isSlow ? (['ENOSPC', 'EIO', 'EMFILE'] as const) : (['EIO'] as const)
    for (const error of errors) {
      for await (const { call, what, said } of failedStarts(service, { error }, { stride })) {
        tried++
        if (said !== undefined) {
          // Not without a word, as a process that the system has ended.
          expect(said, what).toMatch(/ended: \S/)
          await service.start()
        }
        await service.check()
        await service.insert(1, `after start ${call}`)
      }
    }
    process.stdout.write(`${tried} starts with a call that failed\n`)
    expect(tried).toBeGreaterThan(2)
  },
  10_800_000,
)

/** Those of the environments come first. */
const quickMaps = 7

test.runIf(shim)(
  'a start says which file could not be mapped, and the next start finds all',
  async () => {
    const service = new FailingService()
    await service.start()
    await service.setUp()
    await service.insert(5, 'x')
    let refused = 0
    const most = isSlow ? Number.POSITIVE_INFINITY : quickMaps
    const fault = { error: 'EIO', kind: 'mmap' } as const
    for await (const { what, said } of failedStarts(service, fault, { most })) {
      if (said === undefined) continue
      refused++
      const place = `cannot use the data directory ${service.data}: its disk has failed`
      expect(said, what).toContain(place)
    }
    await service.kill()
    await service.start()
    await service.check()
    expect(refused).toBeGreaterThan(3)
  },
  300_000,
)

const maintenanceFaults = isSlow
  ? ([
      ['ENOSPC', 'error'],
      ['EIO', 'late'],
      ['ENOSPC', 'short'],
    ] as const)
  : ([['EIO', 'late']] as const)

test.runIf(shim).each(maintenanceFaults)(
  'each call of flushes, compaction and removal fails once (%s, %s)',
  async (error, mode) => {
    const folder = mkdtempSync(join(tmpdir(), 'io-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const child = new URL('../support/io/maintenance-child.ts', import.meta.url).pathname
    const loader = new URL('../support/typescript-loader.js', import.meta.url).href
    const directory = join(folder, 'd')
    const control = join(folder, 'control')
    // The library maps it before the child begins.
    new FaultControl(control, directory).close()
    const most = isSlow ? '10000' : '12'
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--import', loader, child, directory, control, error, mode, most],
      {
        env: {
          ...process.env,
          LD_PRELOAD: shim!,
          IO_SHIM_DIRECTORY: directory,
          IO_SHIM_CONTROL: control,
        },
        encoding: 'utf8',
      },
    )
    expect(status, `${stdout}${stderr.slice(-5000)}`).toBe(0)
    process.stdout.write(`${error} ${mode}, calls that failed: ${stdout}`)
    expect(JSON.parse(stdout)).toMatchObject({ flush: expect.any(Number) })
  },
  3_600_000,
)
