/** Answers of the engine and of the service, and how golden files show them. */
import type { Gate } from '../../src/access/gate.ts'
import type { Engine, QueryResult } from '../../src/engine.ts'
import type { Reply } from '../../src/server/reply.ts'
import { btqlRoutes } from '../../src/server/route/btql.ts'
import { type RouteRequest, Router } from '../../src/server/route.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import type { Value } from '../../src/type/value.ts'
import { writeJson } from '../../src/type/write-json.ts'
import { argumentsOf, type Block, optionOf } from './slt.ts'
import { printHeader, printRow, typeName } from './slt-row.ts'

type Schema = Parameters<typeof typeName>[0]

export interface Answer {
  /** Of each column; undefined of rows that came alone. */
  readonly schemas: Readonly<Record<string, Schema>> | undefined
  /** Each row's JSON. */
  readonly rows: readonly string[]
  readonly cursor: string | undefined
}

export async function readAnswer(result: QueryResult): Promise<Answer> {
  const rows: string[] = []
  for await (const { bytes } of result.rows) {
    if (bytes.length > 0) rows.push(...Buffer.from(bytes).toString().split('\n'))
  }
  const { schema, cursor } = result.finish()
  return { schemas: schema.items.properties as Record<string, Schema>, rows, cursor }
}

/** A request with this body; once it was asked, it knows the text that errors point into. */
export function requestOf(body: string): RouteRequest {
  return {
    method: 'POST',
    url: '/btql',
    parameters: [],
    query: new URLSearchParams(),
    headers: new Map(),
    address: '',
    signal: new AbortController().signal,
    cancel: () => undefined,
    keepChecking: () => undefined,
    gateNow: () => {
      throw new Error('nothing is asked again')
    },
    body: Promise.resolve(Buffer.from(body)),
    whole: Buffer.from(body),
  }
}

/** Puts a request to the service as `POST /btql` does. */
export async function askService(
  engine: Engine,
  gate: Gate,
  request: RouteRequest,
): Promise<Answer> {
  const { route } = new Router(btqlRoutes(engine)).match('POST', '/btql')
  const reply = await route.handle(request, gate)
  const body = Buffer.from(await request.body).toString()
  const text = await textOf(reply)
  if ((JSON.parse(body) as { fmt?: string }).fmt === 'jsonl') {
    const rows = text.split('\n').filter((line) => line !== '')
    return { schemas: undefined, rows, cursor: reply.headers?.['x-bt-cursor']?.toString() }
  }
  const { data, schema, cursor } = parseJson(text) as unknown as {
    data: Value[]
    schema: { items: { properties: Record<string, Schema> } }
    cursor?: string
  }
  return { schemas: schema.items.properties, rows: data.map(writeJson), cursor }
}

/** What is sent at once, or, of an answer that takes a while, piece by piece. */
async function textOf({ body }: Reply): Promise<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body).toString()
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** The lines that a block expects of an answer: a header and the rows. */
export function printAnswer(block: Block, { schemas, rows, cursor }: Answer): string[] {
  const options = argumentsOf(block)
  if (options.includes('last') && cursor !== undefined) {
    throw new Error(`line ${block.line}: the answer has a cursor`)
  }
  if (options.includes('json')) return [...rows]
  const names = optionOf(block, 'only')?.split(',') ?? Object.keys(schemas ?? {})
  const columns = names.map((name) => {
    if (schemas && !Object.hasOwn(schemas, name)) {
      throw new Error(`line ${block.line}: there is no column "${name}"`)
    }
    return { name, type: typeName(schemas?.[name] ?? {}) }
  })
  const lines = rows.map((row) => printRow(parseJson(row), columns))
  if (options.includes('rowsort')) lines.sort()
  return [printHeader(columns), ...lines]
}
