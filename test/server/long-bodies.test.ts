/** Bodies of many megabytes: the main thread receives them bit by bit, however they come, while it goes on answering others. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { testKey } from '../support/running-service.ts'
import { WatchedTurns } from '../support/watched-turns.ts'

/** Milliseconds of a processor. To put these bodies together in one turn takes twice as long or more. */
const longestTurn = 20
/** It may also compile its code, or look for garbage. */
const attempts = 4

const megabyte = 2 ** 20
/** No rows, which is found out by another thread. */
const long = Buffer.alloc(96 * megabyte, ' ')
const middling = long.subarray(0, 24 * megabyte)

let directory: string
let server: ServeProcess
let turns: WatchedTurns
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-long-bodies-'))
  turns = new WatchedTurns(directory)
  const environment = { ASSAY_BOOTSTRAP_KEY: testKey, ASSAY_WARM_UP: '0', ...turns.environment }
  server = await serveAssay(join(directory, 'd'), environment)
})
afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.exit
  rmSync(directory, { recursive: true })
})

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += megabyte) yield bytes.subarray(at, at + megabyte)
}

test.runIf(existsSync('/proc/self/schedstat')).each([
  ['96 MB with a length', () => long, {}],
  ['96 MB in chunks', () => pieces(long), {}],
  ['96 MB that are compressed', () => gzipSync(long), { 'content-encoding': 'gzip' }],
  ['24 MB with a length', () => middling, {}],
  ['24 MB in chunks', () => pieces(middling), {}],
])('no turn is long for %s', async (_, body, encoding) => {
  const longest: number[] = []
  while (longest.length < attempts && !(longest.at(-1)! < longestTurn)) {
    turns.forget()
    const response = await fetch(`${server.url}/logs3`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, ...encoding },
      body: body() as Buffer,
      duplex: 'half',
    })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('JSON')])
    longest.push(turns.longest)
  }
  expect(Math.min(...longest)).toBeLessThan(longestTurn)
})
