/** Requests to every operation of the API document, with bodies, headers and parameters that were changed. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { bodies, type Entries } from '../../contract/calls.ts'
import { field, spanMessage, tracesMessage } from '../otlp-message.ts'
import { RandomChoice } from '../random-choice.ts'
import type { RunningService } from '../running-service.ts'
import { Mutator } from './mutator.ts'

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly body: Buffer | undefined
  readonly type: string
}

/** What would take away the right to go on. */
const leftOut = /organization\/members|session|api_key|service_token|user|shutdown|login/

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  [],
  {},
  [[]],
  [null],
  { a: { b: [] } },
  '\u0000',
  '\ud800',
  'x'.repeat(5000),
  '00000000-0000-4000-8000-000000000000',
  '../../etc/passwd',
  "'; drop",
  '9'.repeat(30),
  { __proto__: 1 },
  ['x', 1, null],
  '1000196129554423269',
  'p00000000000000000001',
]

const headerValues: readonly (readonly [name: string, values: readonly string[]])[] = [
  [
    'content-type',
    [
      'application/json',
      'application/x-protobuf',
      'text/plain',
      'multipart/form-data',
      '',
      ';;',
      'a'.repeat(500),
    ],
  ],
  [
    'accept',
    [
      '*/*',
      'text/csv',
      'application/vnd.apache.arrow.stream',
      'application/vnd.apache.parquet',
      ';q=',
      'x',
    ],
  ],
  ['accept-encoding', ['gzip', 'br;q=0.1', '*;q=0', 'identity;q=x', ',,,']],
  ['x-bt-parent', ['project_id:x', 'project_name:', 'experiment_id:1', ':', '%00', 'é'.repeat(3)]],
  ['x-request-id', ['a', 'x'.repeat(300), '{}']],
  ['range', ['bytes=0-', 'bytes=9-1', 'x']],
  ['if-none-match', ['*', '"x"']],
  ['origin', ['http://localhost', 'null', 'x']],
  ['last-event-id', ['1', 'x']],
  ['cookie', ['assay_session=x', ';;=']],
]

export class FuzzRequests {
  readonly #random: RandomChoice
  readonly #mutator: Mutator
  readonly #operations: readonly Operation[]

  private constructor(operations: readonly Operation[], seed: number) {
    this.#operations = operations
    this.#random = new RandomChoice(seed)
    const seeds = operations.flatMap(({ body }) => (body ? [body] : []))
    this.#mutator = new Mutator(seed, seeds)
  }

  static async of(service: RunningService, entries: Entries, seed: number): Promise<FuzzRequests> {
    const { json } = await service.request('/openapi.json', { key: null })
    const paths = json.paths as unknown as Record<string, Record<string, object>>
    const known = bodies(entries)
    const fill = (path: string) =>
      path.replaceAll(/\{(\w+?)(_id)?\}/g, (_, name: string) => entries[name] ?? 'x')
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).flatMap((name): Operation[] => {
        const method = name.toUpperCase()
        if (method === 'DELETE' || leftOut.test(path)) return []
        const body = method === 'GET' ? undefined : (known.get(`${method} ${path}`) ?? {})
        const text = body && Buffer.from(JSON.stringify(body))
        return [{ method, path: fill(path), body: text, type: 'application/json' }]
      }),
    )
    return new FuzzRequests([...documented, ...recordOperations(entries)], seed)
  }

  get count(): number {
    return this.#operations.length
  }

  next(): FuzzRequest {
    const random = this.#random
    const { method, path, body, type } = random.pick(this.#operations)
    const changed = body && this.#body(body)
    const [encoded, encoding] = changed ? this.#encoded(changed) : [undefined, undefined]
    const headers: Record<string, string> = { 'content-type': type }
    for (let times = random.below(3); times > 0; times--) {
      const [name, values] = random.pick(headerValues)
      headers[name] = Buffer.from(random.pick(values)).toString('latin1')
    }
    if (encoding !== undefined) headers['content-encoding'] = encoding
    return { method, path: this.#path(path), headers, body: encoded }
  }

  #body(body: Buffer): Buffer {
    const random = this.#random
    if (random.below(3) === 0) return this.#mutator.next()
    let value: unknown
    try {
      value = JSON.parse(body.toString())
    } catch {
      return this.#mutator.next()
    }
    for (let times = random.below(3); times >= 0; times--) value = this.#changed(value)
    return Buffer.from(JSON.stringify(value) ?? 'null')
  }

  /** Another value somewhere in a value, a member more or one less. */
  #changed(value: unknown): unknown {
    const random = this.#random
    if (typeof value !== 'object' || value === null || random.below(8) === 0) {
      return random.pick(oddValues)
    }
    if (Array.isArray(value)) {
      const at = random.below(value.length + 1)
      if (random.below(4) === 0) return [...value, ...value.slice(0, at), random.pick(oddValues)]
      return value.map((item, i) => (i === at ? this.#changed(item) : item))
    }
    const members = Object.entries(value)
    if (members.length === 0 || random.below(6) === 0) {
      return {
        ...value,
        [random.pick(['id', 'name', 'x', '', 'metadata'])]: random.pick(oddValues),
      }
    }
    const at = random.below(members.length)
    if (random.below(6) === 0) return Object.fromEntries(members.filter((_, i) => i !== at))
    return Object.fromEntries(
      members.map(([name, member], i) => [name, i === at ? this.#changed(member) : member]),
    )
  }

  #encoded(body: Buffer): readonly [Buffer, string | undefined] {
    const random = this.#random
    const garbled = (bytes: Buffer) => {
      if (random.below(2) === 0) return bytes
      const copy = Buffer.from(bytes.subarray(0, 1 + random.below(bytes.length)))
      copy[random.below(copy.length)] = random.below(256)
      return copy
    }
    switch (random.below(12)) {
      case 0:
        return [garbled(gzipSync(body)), 'gzip']
      case 1:
        return [garbled(deflateSync(body)), 'deflate']
      case 2:
        return [brotliCompressSync(body), random.pick(['br', 'zstd', 'lz4', 'x', ' GZIP '])]
      default:
        return [body, undefined]
    }
  }

  #path(path: string): string {
    const random = this.#random
    let changed = path
    if (random.below(6) === 0) {
      const parts = path.split('/')
      parts[1 + random.below(parts.length - 1)] = random.pick([
        'x',
        '%00',
        '..%2f',
        '%',
        'a'.repeat(300),
        '%F0%9F%92%A7',
      ])
      changed = parts.join('/')
    }
    if (random.below(4) > 0) return changed
    const name = random.pick([
      'limit',
      'starting_after',
      'ending_before',
      'ids',
      'cursor',
      'version',
      'query',
      'x',
      'project_id',
    ])
    const value = random.pick(['', '-1', '1e9', 'x', '%00', '%', 'null', '9'.repeat(30), '[]'])
    return `${changed}?${name}=${value}`
  }
}

function recordOperations({ project, experiment, dataset }: Entries): Operation[] {
  const post = (path: string, body: object): Operation => {
    return {
      method: 'POST',
      path,
      body: Buffer.from(JSON.stringify(body)),
      type: 'application/json',
    }
  }
  const source = `experiment('${experiment}')`
  const event = { id: 'a', input: { q: 1 }, metadata: { m: 'x' }, scores: { s: 0.5 }, tags: ['t'] }
  const span = spanMessage({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
  })
  const otlp = (path: string, body: Buffer): Operation => {
    return { method: 'POST', path, body, type: 'application/x-protobuf' }
  }
  return [
    post(`/v1/experiment/${experiment}/insert`, { events: [event, { ...event, _is_merge: true }] }),
    post(`/v1/project_logs/${project}/insert`, { events: [event] }),
    post(`/v1/dataset/${dataset}/insert`, { events: [{ input: 1, expected: 2 }] }),
    post(`/v1/experiment/${experiment}/fetch`, { limit: 10, filters: [], cursor: null }),
    post('/logs3', { rows: [{ experiment_id: experiment, ...event }], api_version: 2 }),
    post('/btql', {
      query: `select: * | from: ${source} | filter: scores.s > 0.1 | limit: 5`,
      fmt: 'json',
    }),
    post('/btql', {
      query: `dimensions: metadata.m | measures: count(1), avg(scores.s) | from: ${source}`,
      tz_offset: 60,
    }),
    post('/btql', {
      query: `select count(*) from ${source} group by id`,
      fmt: 'csv',
      version: '1000196129554423269',
    }),
    post('/btql', {
      query: { select: [{ op: 'star' }], from: { btql: source }, limit: 1 },
      fmt: 'arrow',
      audit_log: true,
    }),
    post('/btql/async', { query: `select: id | from: ${source}`, format: 'json', batch_size: 10 }),
    post('/btql/complete', { query: `select: i | from: ${source}`, position: 9 }),
    post('/btql/check', { query: `select: x | from: ${source}` }),
    post('/search', {
      text: 'errors of last week by model',
      object_type: 'experiment',
      object_id: experiment,
    }),
    post('/btql/export', { query: `select: * | from: ${source}`, fmt: 'parquet' }),
    post('/api/project/register', { project_name: 'p', org_name: 'x' }),
    post('/api/experiment/register', { project_name: 'p', experiment_name: 'e' }),
    post('/attachment', { key: 'k', filename: 'f', content_type: 'text/plain', org_id: 'x' }),
    post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    otlp('/otel/v1/traces', tracesMessage(span)),
    otlp('/otel/v1/logs', field(1, field(2, field(2, field(5, field(1, 'm')))))),
  ]
}
