/** The image of `.deploy/Dockerfile`: what it says of itself, and containers of it as far as they can be had here. */
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ContainerImage, canBuildImages } from '../support/container-image.ts'
import { freePort } from '../support/free-port.ts'
import { testKey } from '../support/running-service.ts'

const repository = new URL('../..', import.meta.url).pathname
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const dockerfile = read('.deploy/Dockerfile')
const manifest = JSON.parse(read('package.json'))

/** Of each instruction of a name: what stands behind it. */
function instructions(name: string): string[] {
  const lines = dockerfile.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '')
  return Array.from(lines.matchAll(new RegExp(`^${name} (.*)$`, 'gm')), ([, rest]) => rest!.trim())
}

test('the image is of this version, on a Node that it runs on', () => {
  expect(instructions('LABEL').join()).toContain(`image.version="${manifest.version}"`)
  expect(read('.deploy/compose.yaml')).toContain(`image: assay:${manifest.version}\n`)
  const [, major] = /node:(\d+)-trixie-slim$/.exec(instructions('ARG')[0]!)!
  expect(manifest.engines.node).toMatch(new RegExp(`\\^${major}\\.|>=${major}$`))
})

test('nothing but what an image is built of is sent to its builder', () => {
  const [all, ...kept] = read('.dockerignore')
    .split('\n')
    .filter((line) => /^[*!]/.test(line))
  expect(all).toBe('*')
  for (const line of kept) expect(existsSync(join(repository, line.slice(1)))).toBe(true)
  const sent = (path: string) => kept.includes(`!${path.split('/')[0]}`)
  // What npm packs and is not built, and what it runs for that.
  const packed = (manifest.files as string[]).filter((path) => !/^!|^dist/.test(path))
  const { prepack = '', postinstall = '' } = manifest.scripts as Record<string, string>
  const run = Array.from(`${prepack} ${postinstall}`.matchAll(/node (\S+)/g), ([, path]) => path!)
  for (const path of [...packed, ...run]) expect(sent(path), path).toBe(true)
  expect(sent('package-lock.json') && sent('workers') && sent('tsconfig.json')).toBe(true)
})

test('the service is the first process, of a user with a number', () => {
  expect(instructions('ENTRYPOINT')).toEqual(['["assay"]'])
  expect(instructions('CMD')).toEqual(['["serve"]'])
  expect(instructions('USER')[0]).toMatch(/^[1-9]\d+:[1-9]\d+$/)
  expect(instructions('HEALTHCHECK')[0]).toMatch(/CMD \["node", /)
})

const isBuilt = Boolean(process.env.ASSAY_SLOW) && canBuildImages

describe.runIf(isBuilt)('a container', { timeout: 1_200_000 }, () => {
  let image: ContainerImage
  let volume: string

  beforeAll(async () => {
    const begun = performance.now()
    image = await ContainerImage.build()
    console.log(`the image was built in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
    volume = mkdtempSync(join(tmpdir(), 'assay-volume-'))
    const [user] = image.config.User.split(':')
    chownSync(volume, Number(user), Number(user))
  }, 1_200_000)

  afterAll(async () => {
    await image.remove()
    rmSync(volume, { recursive: true })
  })

  const start = async () => {
    const port = await freePort()
    const container = image.start(volume, {
      ASSAY_PORT: String(port),
      ASSAY_OTLP_GRPC_PORT: String(await freePort()),
      ASSAY_BOOTSTRAP_KEY: testKey,
    })
    return { container, url: `http://127.0.0.1:${port}` }
  }
  const post = async (url: string, body: object) => {
    const headers = { authorization: `Bearer ${testKey}` }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBe(200)
    return (await answer.json()) as { id: string; data: object[] }
  }
  const query = { query: "select: input | from: project_logs('kept')" }

  test('serves without rights and without anything to write to but its volume', async () => {
    const { container, url } = await start()
    await expect.poll(() => container.isHealthy(), { timeout: 60_000 }).toBe(true)
    const status = container.status()
    expect(status).toMatch(/^Name:\s+(node|MainThread)$/m)
    expect(status).toMatch(/^Uid:\s+10001\s+10001/m)
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    await expect(container.execute(['touch', '/tmp/file'])).rejects.toThrow('Read-only')
    expect(await container.execute(['assay', '--version'])).toBe(`${manifest.version}\n`)
    const { id } = await post(`${url}/v1/project`, { name: 'kept' })
    await post(`${url}/v1/project_logs/${id}/insert`, { events: [{ input: 'kept' }] })
    expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html')
    container.signal('SIGTERM')
    expect(await container.exit).toBe(0)
    expect(await container.isHealthy()).toBe(false)
  })

  test('finds what the one before has written, also when that was killed', async () => {
    const { container, url } = await start()
    await expect.poll(() => container.isHealthy(), { timeout: 60_000 }).toBe(true)
    expect((await post(`${url}/btql`, query)).data).toEqual([{ input: 'kept' }])
    container.signal('SIGKILL')
    await container.exit
    const next = await start()
    await expect.poll(() => next.container.isHealthy(), { timeout: 60_000 }).toBe(true)
    expect((await post(`${next.url}/btql`, query)).data).toEqual([{ input: 'kept' }])
    next.container.signal('SIGTERM')
    expect(await next.container.exit).toBe(0)
  })

  test('stops at once when it is told to while it starts', async () => {
    const locks = () => readdirSync(volume).filter((name) => name.startsWith('lock.'))
    const before = locks()
    const { container } = await start()
    await expect.poll(locks, { interval: 1 }).not.toEqual(before)
    container.signal('SIGTERM')
    expect(await container.exit).toBe(0)
  })
})
