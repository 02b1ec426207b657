/** Imports of what other services export, and from other services themselves. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runAssay } from '../support/assay-process.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string
const directory = mkdtempSync(join(tmpdir(), 'assay-formats-'))

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('imports')
})
afterAll(async () => {
  await service.stop()
  rmSync(directory, { recursive: true })
})

function run(args: string[]) {
  const environment = { ASSAY_URL: service.url, ASSAY_API_KEY: testKey, ASSAY_FROM_KEY: testKey }
  return runAssay(['import', ...args, '--project', 'imports'], { environment })
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

async function recordsOf(name: string, select = '*') {
  const { json } = await service.request(`/v1/experiment?experiment_name=${name}`)
  const id = String(json.objects?.[0]?.id)
  const query = `select: ${select} | from: experiment('${id}') | sort: id`
  return (await service.query(query)).json.data as unknown as Record<string, unknown>[]
}

describe('CSV', () => {
  const text = [
    'id,input,metadata.model,scores.exact,tags,metadata.n,experiment_id,span_parents',
    'a,"{""q"": ""one, two""}",m1,0.5,"[""x""]",3,11111111-1111-4111-8111-111111111111,',
    'b,"two',
    'lines",,,"x, y",,,',
    'c,not {json},m2,high,,,,',
    'd,1,m3,1,,,,x',
    'e,1,m3,1,,,,,one too many',
    '',
  ].join('\n')

  test('nested fields have columns of their own, or are JSON', async () => {
    const path = file('rows.csv.gz', gzipSync(`\ufeff${text}`))
    const { code, stderr } = await run([path, '--experiment', 'csv'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/line 5: its "scores\.exact" is not a number: high/)
    expect(stderr).toMatch(/line 6: its "span_parents" is not JSON: x/)
    expect(stderr).toMatch(/line 7: it has 9 cells for 8 columns/)
    expect(stderr).toContain('imported 2 rows of 1 file')
    expect(await recordsOf('csv', 'id, input, metadata, scores, tags')).toEqual([
      {
        id: 'a',
        input: { q: 'one, two' },
        metadata: { model: 'm1', n: '3' },
        scores: { exact: 0.5 },
        tags: ['x'],
      },
      { id: 'b', input: 'two\nlines', metadata: null, scores: null, tags: ['x', 'y'] },
    ])
  })
})

test('Parquet, as this service exports it', async () => {
  const from = await service.create('experiment', project, 'exported')
  await service.insert('experiment', from, [
    { id: 'a', input: { q: [1, null] }, metadata: { m: 'x' }, scores: { s: 0.25 }, tags: ['t'] },
    { id: 'b', input: 'text', created: '2024-01-01T00:00:00.5Z', metrics: { start: 1.5 } },
  ])
  const query = `select: * | from: experiment('${from}')`
  const exported = await service.fetch('/btql', { body: { query, fmt: 'parquet' } })
  const path = file('rows.parquet', new Uint8Array(await exported.arrayBuffer()))
  const { code, stderr } = await run([path, '--experiment', 'from-parquet'])
  expect(stderr).toContain('imported 2 rows of 1 file')
  expect(code).toBe(0)
  const select = 'id, created, input, metadata, scores, tags, metrics, span_id, root_span_id'
  expect(await recordsOf('from-parquet', select)).toEqual(await recordsOf('exported', select))
})

test('what this service exports, in every format, with the same types and digits', async () => {
  const from = await service.create('dataset', project, 'mixed')
  const body =
    '{"events":[{"id":"1","input":12,"expected":true,"metadata":{"n":1e400,"__proto__":0.10}},' +
    '{"id":"2","input":"12","expected":18446744073709551617},' +
    '{"id":"3","input":12345678901234567890.123456789,"expected":{"constructor":[1.50]}}]}'
  await service.request(`/v1/dataset/${from}/insert`, { body })
  const select = (id: string) => `select: id, input, expected, metadata | from: ${id} | sort: id`
  const original = await service.query(select(`dataset('${from}')`), { fmt: 'jsonl' })
  for (const [ending, ...options] of [
    ['parquet'],
    ['arrow'],
    ['jsonl'],
    ['csv', '--types', 'auto'],
  ]) {
    const path = join(directory, `mixed.${ending}`)
    const environment = { ASSAY_URL: service.url, ASSAY_API_KEY: testKey }
    await runAssay(['query', select(`dataset('${from}')`), '--output', path], { environment })
    const { stderr } = await run([path, '--dataset', `mixed ${ending}`, ...options])
    expect(stderr).toContain('imported 3 rows of 1 file')
    const { json } = await service.request(`/v1/dataset?dataset_name=mixed%20${ending}`)
    const copy = await service.query(select(`dataset('${json.objects?.[0]?.id}')`), {
      fmt: 'jsonl',
    })
    expect(copy.text).toBe(original.text)
  }
})

test('options say how a file is read; wrong ones are told before anything is done', async () => {
  const path = file('latin.txt', Buffer.from('id^input\n1^caf\xe9\n2^12\n', 'latin1'))
  const args = [path, '--format', 'csv', '--experiment', 'latin']
  const bare = await run([...args, '--delimiter', '^'])
  expect(bare.code).toBe(1)
  expect(bare.stderr).toMatch(/latin\.txt, line 2: its "input": not UTF-8 text: byte 0xe9/)
  const options = ['--delimiter', '^', '--encoding', 'windows-1252', '--types', 'input=auto']
  expect((await run([...args, ...options])).code).toBe(0)
  expect(await recordsOf('latin', 'id, input')).toEqual([
    { id: '1', input: 'caf\u00e9' },
    { id: '2', input: 12 },
  ])
  const told = async (...wrong: string[]) => (await run([...args, ...wrong])).stderr
  expect(await told('--encoding', 'none')).toContain('"none" is no encoding')
  expect(await told('--types', 'zip')).toContain('"zip" is no type')
  expect(await told('--delimiter', 'ab')).toContain('"ab" is no delimiter')
})

test('a table that names a column twice is refused as a whole', async () => {
  const path = file('twice.csv', 'id,input,input\n1,2,3\n')
  const { code, stderr } = await run([path, '--experiment', 'twice'])
  expect(code).toBe(1)
  expect(stderr).toContain('the column "input" is there twice, in places 2 and 3')
})

describe('through a proxy that breaks off', () => {
  /** Between the import and a service; refuses such requests once it has passed on so many. */
  let proxy: Server
  let url: string
  let allowed = Number.POSITIVE_INFINITY
  let isCounted = (_path: string, _body: Buffer) => false

  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const body = Buffer.concat(chunks)
        if (isCounted(String(request.url), body) && allowed-- <= 0) {
          response.writeHead(403).end('{"Message": "no more"}')
          return
        }
        const key = String(request.headers.authorization).replace('Bearer ', '')
        const answer = await service.request(String(request.url), { body, key })
        response.writeHead(answer.status).end(answer.text)
      })
    })
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve)
    })
    url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  afterAll(() => {
    proxy.close()
  })

  test('an import from another service goes on where it was', async () => {
    const dataset = await service.create('dataset', project, 'source')
    const events = Array.from({ length: 2500 }, (_, i) => ({
      id: `r${i}`,
      input: { i },
      expected: i,
    }))
    await service.insert('dataset', dataset, events)
    const state = join(directory, 'state.json')
    const args = [`dataset:${dataset}`, '--from-url', url, '--dataset', 'copy', '--state', state]

    isCounted = (_, body) => body.includes('limit: 1000')
    allowed = 2
    const first = await run(args)
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('no more') })
    expect(existsSync(state)).toBe(true)
    allowed = Number.POSITIVE_INFINITY
    const second = await run(args)
    expect(second.stderr).toContain('going on after 2,000 rows')
    expect(second.stderr).toContain('imported 2,500 rows of 1 object')
    expect(second.code).toBe(0)
    expect(existsSync(state)).toBe(false)

    const whole = await run([...args.slice(0, 4), 'again', ...args.slice(5)])
    const checksum = /checksum [0-9a-f]{16}/
    expect(second.stderr.match(checksum)?.[0]).toBe(whole.stderr.match(checksum)?.[0])
    const { json } = await service.request('/v1/dataset?dataset_name=copy')
    const { json: counted } = await service.query(
      `measures: count(1) as n, sum(input.i) as total | from: dataset('${json.objects?.[0]?.id}')`,
    )
    expect(counted.data).toEqual([{ n: 2500, total: (2499 * 2500) / 2 }])
  })

  test('an import from another service keeps digits and names', async () => {
    const dataset = await service.create('dataset', project, 'digits')
    const body =
      '{"events":[{"id":"a","input":0.12345678901234567890,"expected":{"__proto__":1e400,"n":1.50}}]}'
    await service.request(`/v1/dataset/${dataset}/insert`, { body })
    isCounted = () => false
    const { code } = await run([
      `dataset:${dataset}`,
      '--from-url',
      url,
      '--dataset',
      'digits copy',
    ])
    expect(code).toBe(0)
    const { json } = await service.request('/v1/dataset?dataset_name=digits%20copy')
    const query = `select: input, expected | from: dataset('${json.objects?.[0]?.id}')`
    expect((await service.query(query, { fmt: 'jsonl' })).text.trim()).toBe(
      '{"input":0.12345678901234567890,"expected":{"__proto__":1e400,"n":1.50}}',
    )
  })

  test('an import of files goes on after the lines that were imported', async () => {
    const rows = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => JSON.stringify({ id: `${name}${i}`, input: i }))
    const small = file('small.jsonl', ['no record', ...rows('small', 3)].join('\n'))
    const large = file('large.jsonl.gz', gzipSync(rows('large', 45_000).join('\n')))
    const state = join(directory, 'files.json')
    const args = [small, large, '--experiment', 'files', '--state', state]

    isCounted = (path) => path.endsWith('/insert')
    allowed = 30
    const first = await run([...args, '--url', url])
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('no more') })
    allowed = Number.POSITIVE_INFINITY
    const sent: number[] = []
    isCounted = (path, body) => {
      if (path.endsWith('/insert')) sent.push(JSON.parse(body.toString()).events.length)
      return false
    }
    const second = await run([...args, '--url', url])
    expect(second.stderr).toContain('going on after 20,003 rows')
    expect(second.stderr).toContain('imported 45,003 rows of 2 files')
    expect(second.stderr).toContain('1 bad lines left out')
    expect(second.code).toBe(1)
    expect(sent.reduce((sum, count) => sum + count, 0)).toBe(25_000)
    expect(existsSync(state)).toBe(false)
    expect(await recordsOf('files', 'id')).toHaveLength(45_003)
  })

  test('a file that was written anew is imported from its start', async () => {
    const rows = Array.from({ length: 21_000 }, (_, i) => JSON.stringify({ id: `n${i}` }))
    const path = file('anew.jsonl', rows.join('\n'))
    const args = [path, '--experiment', 'anew', '--state', join(directory, 'anew.json')]
    isCounted = (path) => path.endsWith('/insert')
    allowed = 20
    expect(await run([...args, '--url', url])).toMatchObject({ code: 1 })
    allowed = Number.POSITIVE_INFINITY
    file('anew.jsonl', ['{"id": "one more"}', ...rows].join('\n'))
    const { stderr } = await run([...args, '--url', url])
    expect(stderr).not.toContain('going on')
    expect(stderr).toContain('imported 21,001 rows of 1 file')
  })

  test('what is wrong is told before anything is read', async () => {
    const about = async (...args: string[]) => (await run([...args, '--dataset', 'd'])).stderr
    expect(await about('dataset', '--from-url', url)).toContain('is no object of another service')
    expect(await about('dataset:x', '--from-url', 'nowhere')).toContain('not an HTTP address')
    expect(await about('-', '--format', 'parquet')).toContain('not from standard input')
  })
})
