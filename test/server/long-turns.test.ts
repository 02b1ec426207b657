/**
 * Rows of many megabytes that lie in many places: workers merge them by their sort keys, which the main thread does not
 * read, and events of them leave bit by bit.
 */
import { on } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import WebSocket from 'ws'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { testKey } from '../support/running-service.ts'
import { WatchedTurns } from '../support/watched-turns.ts'

const records = 5
/** So long that each is read by itself. */
const megabytes = 16
/** Milliseconds of a processor. To read one of the values takes longer. */
const longestTurn = 25
/** It may also compile its code, or look for garbage. */
const attempts = 3

const text = 'lorem ipsum dolor sit amet, '.repeat((megabytes * 2 ** 20) / 28)
const short = text.slice(0, 3 * 2 ** 20)

let directory: string
let server: ServeProcess
let turns: WatchedTurns
let experiment: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-long-sort-'))
  turns = new WatchedTurns(directory)
  const environment = { ASSAY_BOOTSTRAP_KEY: testKey, ASSAY_WARM_UP: '0', ...turns.environment }
  server = await serveAssay(join(directory, 'd'), environment)
  const created = async (path: string, body: object) => {
    return ((await ask(path, body)) as { readonly id: string }).id
  }
  const project_id = await created('/v1/project', { name: 'p' })
  experiment = await created('/v1/experiment', { project_id, name: 'x' })
  for (let i = 0; i < records; i++) {
    const events = [
      { id: `r${i}`, input: `${text}${(i * 3) % records}`, output: { n: i, text: short } },
    ]
    await ask(`/v1/experiment/${experiment}/insert`, { events })
  }
})

afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.exit
  rmSync(directory, { recursive: true })
})

async function ask(path: string, body: object): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}` },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return response.json()
}

const inOrder = ['r0', 'r2', 'r4', 'r1', 'r3']

test.runIf(existsSync('/proc/self/schedstat')).each([
  ['select: id | sort: input | limit: 3', inOrder.slice(0, 3)],
  ['select: id | sort: upper(input) desc | limit: 10', inOrder.toReversed()],
  ['select: id | sort: output | limit: 2', ['r0', 'r1']],
  ['select: id | from: (select: id, input | sort: input | limit: 2 | $)', inOrder.slice(0, 2)],
  ['select: id | from: (select: id, input | limit: 2 | $) | sort: input', ['r4', 'r3']],
])(
  'no turn is long for %s',
  async (clauses, ids) => {
    const from = `from: experiment('${experiment}')`
    const query = clauses.includes('$') ? clauses.replace('$', from) : `${clauses} | ${from}`
    const longest: number[] = []
    while (longest.length < attempts && !(longest.at(-1)! < longestTurn)) {
      turns.forget()
      // As answers are kept, what is asked again is another query.
      const answer = await ask('/btql', { query: `${query} -- ${longest.length}` })
      expect(answer).toMatchObject({ data: ids.map((id) => ({ id })) })
      longest.push(turns.longest)
    }
    expect(Math.min(...longest)).toBeLessThan(longestTurn)
  },
  60_000,
)

test.runIf(existsSync('/proc/self/schedstat')).each(['json', 'arrow'])(
  'no turn is long for messages of long rows as %s, and others wait until one has left',
  async (format) => {
    const longest: number[] = []
    while (longest.length < attempts && !(longest.at(-1)! < longestTurn)) {
      turns.forget()
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/btql/stream`, {
        headers: { authorization: `Bearer ${testKey}` },
      })
      const from = `from: experiment('${experiment}')`
      const ask = (id: string, query: string) => {
        socket.send(JSON.stringify({ id, query: `${query} | ${from}`, fmt: format }))
      }
      socket.on('open', () => {
        ask('long', 'select: *')
        for (let n = 0; n < 5; n++) ask(`no ${n}`, 'select: nothing(1)')
      })
      let bytes = 0
      const ended = new Set<string>()
      for await (const [message, isBinary] of on(socket, 'message') as AsyncIterable<
        [Buffer, boolean]
      >) {
        bytes += message.length
        if (isBinary) continue
        const { id, type } = JSON.parse(message.toString()) as { id?: string; type: string }
        if (type === 'end' || type === 'error') ended.add(`${type} ${id}`)
        if (ended.size === 6) break
      }
      expect(ended).toEqual(new Set(['end long', ...[0, 1, 2, 3, 4].map((n) => `error no ${n}`)]))
      expect(bytes).toBeGreaterThan(records * text.length)
      socket.close()
      longest.push(turns.longest)
    }
    expect(Math.min(...longest)).toBeLessThan(longestTurn)
  },
  60_000,
)

test.runIf(existsSync('/proc/self/schedstat'))(
  'no turn is long for events of long rows',
  async () => {
    const longest: number[] = []
    while (longest.length < attempts && !(longest.at(-1)! < longestTurn)) {
      turns.forget()
      const query = `select: * | from: experiment('${experiment}')`
      const response = await fetch(`${server.url}/btql/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, accept: 'text/event-stream' },
        body: JSON.stringify({ query, live: true }),
      })
      let [bytes, end] = [0, '']
      for await (const piece of response.body!) {
        bytes += piece.length
        end = (end + Buffer.from(piece).toString('latin1').slice(-200)).slice(-200)
        if (end.includes('event: current')) break
      }
      expect(bytes).toBeGreaterThan(records * text.length)
      longest.push(turns.longest)
    }
    expect(Math.min(...longest)).toBeLessThan(longestTurn)
  },
)
