/** Readers of a kilobyte a second: what they hold, and that nobody waits for them. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { type AnyJson, testKey } from '../support/running-service.ts'
import { SlowReader } from '../support/slow-reader.ts'
import { StreamClient } from '../support/stream-client.ts'

const readers = 20

/** What one of them may hold, in bytes: chunks that are printed ahead, and what is on its way. */
const heldBytes = 6 * 2 ** 20

/** Memory of the process but for mapped files, in bytes. */
function memoryOf({ child }: ServeProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024
}

test.runIf(process.platform === 'linux')(
  'readers of a kilobyte a second hold a few megabytes each, and nobody waits for them',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-slow-'))
    // What is printed ahead must not grow with the workers.
    const server = await serveAssay(directory, {
      ASSAY_BOOTSTRAP_KEY: testKey,
      ASSAY_WORKERS: '4',
    })
    const ask = async (path: string, body?: object) => {
      const response = await fetch(server.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${testKey}` },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect(response.status).toBe(200)
      return (await response.json()) as AnyJson
    }
    try {
      const { id: project_id } = await ask('/v1/project', { name: 'slow' })
      const { id } = await ask('/v1/experiment', { project_id, name: 'x' })
      const source = `experiment('${String(id)}')`
      for (let batch = 0; batch < 4; batch++) {
        const events = Array.from({ length: 500 }, (_, i) => ({
          id: `${batch}-${i}`,
          input: randomBytes(12_000).toString('base64'),
        }))
        await ask(`/v1/experiment/${String(id)}/insert`, { events })
      }
      const query = `select: * | from: ${source}`
      const small = { query: `measures: count(1) as n | from: ${source} | filter: input != 'x'` }
      // As much memory as a whole answer takes is taken once.
      await ask('/btql', { query })
      const before = memoryOf(server)

      const slow = await Promise.all(
        Array.from({ length: readers / 2 }, () => SlowReader.open(server.url, '/btql', { query })),
      )
      const streams = await Promise.all(
        Array.from({ length: readers / 2 }, () => StreamClient.open(server)),
      )
      for (const stream of streams) {
        stream.send({ query })
        stream.socket.pause()
      }
      const open = async () => (await ask('/admin/queries')).queries as unknown as AnyJson[]
      const states = async () => (await open()).map(({ state }) => state)
      const mostSent = async () =>
        Math.max(...(await open()).map(({ progress }) => Number((progress as AnyJson).rows_sent)))
      await expect
        .poll(states, { timeout: 60_000 })
        .toEqual(Array.from({ length: readers }, () => 'sending'))
      for (let asked = 0; asked < 20; asked++) {
        expect(await ask('/btql', small)).toMatchObject({ data: [{ n: 2000 }] })
      }
      // Whoever takes little is sent no more, however much others are sent meanwhile.
      expect((await mostSent()) * 16_000).toBeLessThan(heldBytes)
      // What nobody holds is given back when the machine has time for it.
      await expect
        .poll(() => memoryOf(server) - before, { timeout: 60_000 })
        .toBeLessThan(readers * heldBytes)
      await expect.poll(() => slow.every(({ received }) => received > 0)).toBe(true)
      expect(await ask('/btql', small)).toMatchObject({ data: [{ n: 2000 }] })
      for (const each of [...slow, ...streams]) each.close()
      await expect.poll(states, { timeout: 60_000 }).toEqual([])
    } finally {
      server.child.kill('SIGTERM')
      expect(await server.exit).toBe(0)
      rmSync(directory, { recursive: true })
    }
  },
)
