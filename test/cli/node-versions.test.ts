/** The built service on other versions of Node: for some machines, these have no binary of uWebSockets.js. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveAssay } from '../support/assay-process.ts'
import { nodeProgram, otherNodeVersions } from '../support/node-versions.ts'
import { type AnyJson, testKey } from '../support/running-service.ts'
import { rowsOf, StreamClient } from '../support/stream-client.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const main = new URL('../../dist/src/main.js', import.meta.url).pathname
const isBuilt = existsSync(main)
if (!isBuilt) console.log('left out: there is no build')

describe.runIf(isBuilt).each(otherNodeVersions)('on Node %s', (version) => {
  test('it starts, takes records, answers, streams and stops, without a warning', async ({
    skip,
  }) => {
    const node = await nodeProgram(version)
    if (node === undefined) return skip()
    const environment = { ASSAY_BOOTSTRAP_KEY: testKey }
    const server = await serveAssay(temporaryDirectory(), environment, 0, [node, main])
    onTestFinished(() => void server.child.kill('SIGKILL'))
    const ask = async (path: string, body: object) => {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}` },
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(200)
      return (await response.json()) as AnyJson
    }
    const { id: project_id } = await ask('/v1/project', { name: 'p' })
    const { id } = await ask('/v1/experiment', { project_id, name: 'x' })
    const events = Array.from({ length: 1000 }, (_, i) => ({ id: `${i}`, input: 'x'.repeat(1000) }))
    await ask(`/v1/experiment/${String(id)}/insert`, { events })
    const query = `select: id | from: experiment('${String(id)}')`
    expect((await ask('/btql', { query })).data).toHaveLength(1000)

    const client = await StreamClient.open(server)
    client.send({ query })
    expect(rowsOf(await client.all('end', 'error'))).toHaveLength(1000)
    client.close()

    const [httpServer, reason] = servedBy(server.output())
    if (httpServer === 'node') expect(reason).toMatch(/uWebSockets\.js does not load here: \S/)
    server.child.kill('SIGTERM')
    expect(await server.exit).toBe(0)
    expect(server.errors()).toBe('')

    if (httpServer === 'uwebsockets') return
    const args = ['serve', '--http-server', 'uwebsockets', '--data-dir', temporaryDirectory()]
    const refused = spawnSync(node, [main, ...args], { encoding: 'utf8' })
    expect(refused.status).toBe(2)
    expect(refused.stderr).toMatch(/uWebSockets\.js does not load: .*\n.*leave --http-server out/)
  })
})

/** The name of the HTTP server, and why it is not the usual one. */
function servedBy(output: string): readonly [string | undefined, string | undefined] {
  const lines = output.split('\n').flatMap((line) => {
    return line.startsWith('{') ? [JSON.parse(line) as Record<string, string>] : []
  })
  const listening = lines.find(({ msg }) => msg === 'listening')
  const reason = lines.find(({ msg }) => msg?.includes('uWebSockets'))
  return [listening?.httpServer, reason?.msg]
}
