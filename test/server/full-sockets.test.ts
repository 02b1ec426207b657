/** Answers arrive byte by byte as they are, whenever the socket takes nothing, or a part. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { ChunkReader } from '../support/chunk-reader.ts'
import { testKey } from '../support/running-service.ts'

const source = new URL('../support/full-sockets.c', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'assay-full-'))
const library = join(folder, 'full-sockets.so')
const isCompiled = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).status === 0

const records = 6
/** No two places of it look alike. */
const text = Array.from({ length: 300_000 }, (_, i) => `word ${i}`).join(' ')
const inputOf = (i: number) => `${i} ${text}`

let server: ServeProcess
let experiment: string

beforeAll(async () => {
  if (!isCompiled) return
  server = await serveAssay(join(folder, 'data'), {
    ASSAY_BOOTSTRAP_KEY: testKey,
    ASSAY_WARM_UP: '0',
    LD_PRELOAD: library,
  })
  const created = async (path: string, body: object) => {
    return (JSON.parse(await bodyOf(path, body)) as { readonly id: string }).id
  }
  const project_id = await created('/v1/project', { name: 'p' })
  experiment = await created('/v1/experiment', { project_id, name: 'x' })
  for (let i = 0; i < records; i++) {
    const events = [{ id: `r${i}`, input: inputOf(i), output: text.slice(0, 50_000 * i) }]
    await bodyOf(`/v1/experiment/${experiment}/insert`, { events })
  }
})

afterAll(async () => {
  server?.child.kill('SIGTERM')
  await server?.exit
  rmSync(folder, { recursive: true })
})

/** The body of the answer, as it is framed by HTTP: nothing is made good. */
function bodyOf(path: string, body: object): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const sent = JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const reader = new ChunkReader()
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${testKey}\r\n` +
          `content-length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`,
      )
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection ended before the answer')))
    socket.on('data', (bytes: Buffer) => {
      try {
        if (!reader.read(bytes)) return
        resolve(reader.body.toString())
      } catch (thrown) {
        reject(thrown)
      }
      socket.destroy()
    })
  })
}

describe.runIf(isCompiled)('while sockets are full', () => {
  test('a stream of long rows arrives whole', async () => {
    const query = `select: id, input | from: experiment('${experiment}')`
    for (let attempt = 0; attempt < 3; attempt++) {
      const lines = (await bodyOf('/btql', { query, fmt: 'jsonl' })).trimEnd().split('\n')
      const rows = lines.map((line) => JSON.parse(line) as { id: string; input: string })
      expect(rows.map(({ id }) => id).sort()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5'])
      for (const { id, input } of rows) expect(input === inputOf(Number(id.slice(1)))).toBe(true)
    }
  })

  test.each([0, 1, 2, 3, 4, 5])('and so does the answer of %d × 50,000 characters', async (i) => {
    const query = `select: output | from: experiment('${experiment}') | filter: id = 'r${i}'`
    const { data } = JSON.parse(await bodyOf('/btql', { query })) as { data: { output: string }[] }
    expect(data[0]!.output === text.slice(0, 50_000 * i)).toBe(true)
  })
})
