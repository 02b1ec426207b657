/** Searches over HTTP: what a text is taken for, and what is found. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AnyJson, RunningService } from '../support/running-service.ts'
import { searchedRecords } from '../support/searched-records.ts'

let service: RunningService
let source: string

async function fill(running: RunningService): Promise<string> {
  const { json: project } = await running.request('/v1/project', { body: { name: 'support' } })
  const events = searchedRecords(Date.now())
  await running.request(`/v1/project_logs/${project.id}/insert`, { body: { events } })
  return `project_logs('${project.id}')`
}

beforeAll(async () => {
  service = await RunningService.start()
  source = await fill(service)
})

afterAll(() => service.stop())

function search(text: string, options: object = {}, running = service, from = source) {
  return running.request('/search', { body: { text, source: from, ...options } })
}

function ids({ json }: { readonly json: AnyJson }): unknown[] {
  return (json.data as unknown as readonly AnyJson[]).map(({ id }) => id)
}

describe('a text', () => {
  test('of the query language runs as it is written, an expression or a whole query', async () => {
    const expression = await search("metadata.model = 'gpt-4o' and error is not null")
    expect(expression.json).toMatchObject({ kind: 'btql' })
    expect(ids(expression)).toEqual(['r0'])
    const query = await search('measures: count(1) as n')
    expect(query.json).toMatchObject({ kind: 'btql', data: [{ n: 40 }] })
    const sql = await search(`SELECT count(*) AS n FROM ${source} WHERE is_root`)
    expect(sql.json).toMatchObject({ kind: 'btql', data: [{ n: 10 }] })
  })

  test('in words is translated, and says as what', async () => {
    const answer = await search('errors from gpt-4o')
    expect(answer.json).toMatchObject({
      kind: 'translated',
      explanation: 'with an error; metadata.model is "gpt-4o"',
      translator: 'built_in',
    })
    expect(answer.json.query).toContain("error is not null and metadata.model = 'gpt-4o'")
    expect(ids(answer)).toEqual(['r0'])
  })

  test('of words that nothing else fits is looked for', async () => {
    const answer = await search('shipped 1003')
    expect(answer.json).toMatchObject({ kind: 'full_text' })
    expect(ids(answer)).toEqual(['r3'])
  })

  test('that is a name or a quoted word is a word', async () => {
    expect((await search('error')).json).toMatchObject({ kind: 'translated' })
    expect((await search('"shipped"')).json).toMatchObject({ kind: 'full_text' })
  })

  test('like a query that cannot run is taken for words, and says why it cannot', async () => {
    const answer = await search("metadata.modell = 'gpt-4o' and nothing.there > 3")
    expect(answer.json.kind).not.toBe('btql')
    expect(answer.json.fault).toMatch(/nothing/)
  })

  test.each([
    'select: * | filter: metadata.model =',
    "metadata.model = 'gpt-4o' and",
    'select * form logs',
    'metadata.model =',
    'filter: (error is not null',
  ])('like a query with a fault in its writing says so: %s', async (text) => {
    const answer = await search(text)
    expect(answer.json.kind).not.toBe('btql')
    expect(answer.json.fault).toMatch(/./)
  })

  test.each(['select the best answers', 'errors: timeouts', 'is gpt-4o slow?'])(
    'of words is not said to be a faulty query: %s',
    async (text) => expect((await search(text)).json.fault).toBeUndefined(),
  )

  test('is words for who takes no queries', async () => {
    const answer = await search("metadata.model = 'gpt-4o'", { query_language: false })
    expect(answer.json.kind).not.toBe('btql')
    expect(answer.json.fault).toBeUndefined()
    const again = await search("metadata.model = 'gpt-4o'")
    expect(again.json.kind).toBe('btql')
  })

  test('with tags takes traces of which no span has an unwanted one', async () => {
    const answer = await search('+triage -billing')
    expect(ids(answer)).toHaveLength(12)
    const none = await search('-triage root spans')
    expect(ids(none)).toHaveLength(7)
  })
})

describe('signs', () => {
  let from: string

  beforeAll(async () => {
    const { json: project } = await service.request('/v1/project', { body: { name: 'signs' } })
    const events = [
      { id: 'party', input: 'Release party 🎉', tags: ['🎉'] },
      { id: 'price', input: 'a → b', output: 'the price: €5' },
      { id: 'code', output: 'in C++, where a != b :)' },
      { id: 'work', output: ['👩‍💻 thanks 👍🏽'] },
      { id: 'plain', input: 'party price C, a b 5' },
    ]
    await service.request(`/v1/project_logs/${project.id}/insert`, { body: { events } })
    from = `project_logs('${project.id}')`
  })

  test.each([
    ['🎉', 'full_text', ['party']],
    ['→', 'full_text', ['price']],
    ['€5', 'full_text', ['price']],
    ['"price: €5"', 'full_text', ['price']],
    ['C++', 'full_text', ['code']],
    ['a != b :)', 'full_text', ['code']],
    ['👩‍💻', 'full_text', ['work']],
    ['👍', 'full_text', []],
    ['output contains 👍🏽', 'translated', ['work']],
    ['+🎉', 'translated', ['party']],
    ['party -🎉', 'translated', ['plain']],
    ['not 🎉 party', 'full_text', ['plain']],
  ])('%s is %s of %j', async (text, kind, found) => {
    const answer = await search(text, {}, service, from)
    expect([answer.json.kind, ids(answer)]).toEqual([kind, found])
  })

  test('are marked, and rank what has them', async () => {
    const asked = { highlights: true, order: 'relevance' }
    const { json } = await search('👩‍💻', asked, service, from)
    expect(json.highlights).toEqual([{ row: 0, path: ['output', 0], ranges: [[0, 5]] }])
    expect(json.query).toContain('search_score')
  })

  test.each(['', '   ', '?!', '... , -'])('where %j names none, that is told', async (text) => {
    const { json, status } = await search(text, {}, service, from)
    expect(status).toBe(200)
    expect(json).toMatchObject({ kind: 'full_text', data: [] })
    expect(json.explanation).toMatch(/^nothing to look for/)
    const warnings = json.warnings as unknown as readonly AnyJson[]
    expect(warnings.map(({ code }) => code)).toContain('nothingToLookFor')
  })
})

describe('what is looked for', () => {
  test('is told, phrases as they are', async () => {
    const { json } = await search('"has shipped" refund* user alice', { run: false })
    expect(json.looked_for).toEqual([
      expect.objectContaining({ words: '"has shipped" refund*', fields: expect.anything() }),
    ])
    const like = await search("output ilike '%ship\\_ped%' or tags includes 'billing'", {
      run: false,
    })
    expect(like.json.looked_for).toEqual([
      { part: 'ship_ped', fields: [['output']] },
      { part: 'billing', fields: [['tags']] },
    ])
    const without = await search("not search('refund') and input not match 'x'", { run: false })
    expect(without.json.looked_for).toEqual([])
  })

  test('is marked in the rows if that is asked for', async () => {
    const { json } = await search('SHÍPPED 1003', { highlights: true })
    const [row] = json.data as unknown as readonly AnyJson[]
    const marks = json.highlights as unknown as readonly {
      readonly row: number
      readonly path: readonly (string | number)[]
      readonly ranges: readonly (readonly [number, number])[]
    }[]
    expect(marks.length).toBeGreaterThan(0)
    for (const { row: number, path, ranges } of marks) {
      expect(number).toBe(0)
      const text = path.reduce<unknown>((value, step) => (value as AnyJson)[step as string], row)
      const found = ranges.map(([from, to]) => String(text).slice(from, to).toLowerCase())
      expect(['shipped', '1003']).toEqual(expect.arrayContaining([...new Set(found)]))
    }
    expect((await search('shipped')).json).not.toHaveProperty('highlights')
  })

  test('is marked in the rows of a query, too', async () => {
    const query = `select: id, output | from: ${source} | filter: output match 'shipped' | limit: 1`
    const { json } = await service.request('/btql', { body: { query, highlights: true } })
    expect(json.highlights).toEqual([
      { row: 0, path: ['output'], ranges: [[expect.any(Number), expect.any(Number)]] },
    ])
    const csv = await service.request('/btql', { body: { query, highlights: true, fmt: 'csv' } })
    expect(csv.status).toBe(400)
    expect(csv.json.Message).toContain('highlights')
  })

  test('may decide on the order', async () => {
    const { json } = await search('refund', { order: 'relevance' })
    expect(json.query).toContain("sort: search_score('refund') desc")
    const newest = await search('refund')
    expect(ids(newest).sort()).toEqual(ids({ json }).sort())
    expect((await search('slowest', { order: 'relevance' })).json.query).not.toContain('score')
    const { status, json: refused } = await search('refund', { order: 'best' })
    expect([status, refused.Message]).toEqual([400, expect.stringContaining('order')])
  })
})

describe('what is known of a source', () => {
  test('is seen anew when records come', async () => {
    const { json: project } = await service.request('/v1/project', { body: { name: 'changing' } })
    const from = `project_logs('${project.id}')`
    const insert = (events: object[]) =>
      service.request(`/v1/project_logs/${project.id}/insert`, { body: { events } })
    await insert([{ id: 'a', metadata: { team: 'red' } }])
    expect((await search('team red', {}, service, from)).json.kind).toBe('translated')
    await insert([{ id: 'b', metadata: { shift: 'night' } }])
    await expect
      .poll(async () => (await search('shift night', {}, service, from)).json.kind, {
        timeout: 15_000,
        interval: 500,
      })
      .toBe('translated')
  })

  test('is told to nobody who may not read it any more', async () => {
    const { json: project } = await service.request('/v1/project', { body: { name: 'passing' } })
    const from = `project_logs('${project.id}')`
    await service.request(`/v1/project_logs/${project.id}/insert`, {
      body: { events: [{ id: 'a', metadata: { team: 'red' } }] },
    })
    expect((await search('team red', {}, service, from)).status).toBe(200)
    await service.request(`/v1/project/${project.id}`, { method: 'DELETE' })
    expect((await search('team red', { run: false }, service, from)).status).toBe(403)
  })
})

test('rows come by the page, and a cursor gives the next one', async () => {
  const first = await search('limit: 25')
  expect(ids(first)).toHaveLength(25)
  const next = await search('limit: 25', { cursor: first.json.cursor })
  expect(ids(next)).toHaveLength(15)
  expect(new Set([...ids(first), ...ids(next)]).size).toBe(40)
})

test('may be asked for its query alone', async () => {
  const { json } = await search('slowest traces', { run: false })
  expect(json).not.toHaveProperty('data')
  expect(json.query).toContain('sort: metrics.duration desc')
})

test('of a source that is not there is refused like any query of it', async () => {
  const other = "project_logs('00000000-0000-0000-0000-000000000000')"
  for (const text of ['errors', 'error is not null', 'shipped']) {
    const { status, json } = await search(text, {}, service, other)
    expect(status).toBe(403)
    expect(json.Message).toMatch(/Missing read access to project_logs/)
  }
})

test.each([
  [{ text: 'errors' }, 'source'],
  [{ source: 'x' }, 'text'],
  [{ text: 'x'.repeat(10_001), source: 'x' }, 'text'],
  [{ text: 'errors', source: 'no source' }, 'from'],
])('%j is refused with what is wrong', async (body, named) => {
  const { status, json } = await service.request('/search', { body })
  expect(status).toBe(400)
  expect(json.Message).toContain(named)
})

describe('a language model', () => {
  let model: Server
  let asked: { readonly messages: readonly { readonly content: string }[] }[]
  let answers: (string | 'hang' | 'fail')[]
  let running: RunningService
  let from: string

  const keys: (string | undefined)[] = []

  beforeAll(async () => {
    model = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        keys.push(request.headers.authorization)
        asked.push(JSON.parse(Buffer.concat(parts).toString()) as (typeof asked)[number])
        const content = answers.shift() ?? 'fail'
        if (content === 'hang') return
        response.statusCode = content === 'fail' ? 500 : 200
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
      })
    })
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
    const { port } = model.address() as AddressInfo
    running = await RunningService.start({
      ASSAY_LLM_URL: `http://127.0.0.1:${port}/v1`,
      ASSAY_LLM_KEY: 'model-key',
      ASSAY_LLM_MODEL: 'small',
    })
    from = await fill(running)
  })

  afterAll(async () => {
    model.closeAllConnections()
    model.close()
    await running.stop()
  })

  async function ask(text: string, ...given: string[]) {
    asked = []
    answers = given
    return search(text, {}, running, from)
  }

  const right = JSON.stringify({
    clauses: "select: id\nfilter: id = 'r7'",
    explanation: 'the seventh',
  })

  test('writes the query from the words and the fields, without records', async () => {
    const answer = await ask('lucky one', right)
    expect(answer.json).toMatchObject({
      kind: 'translated',
      translator: 'language_model',
      explanation: 'the seventh',
    })
    expect(ids(answer)).toEqual(['r7'])
    const prompt = JSON.stringify(asked)
    expect(prompt).toContain('lucky one')
    expect(prompt).toContain('user_id')
    for (const value of ['alice', 'refund', 'shipped', 'Timeout'])
      expect(prompt).not.toContain(value)
  })

  test('is paid with the key of the organization if it has one', async () => {
    const body = { name: 'ASSAY_LLM_KEY', secret: 'sk-of-the-organization' }
    keys.splice(0)
    await ask('lucky one', right)
    expect((await running.request('/v1/ai_secret', { body })).status).toBe(200)
    await ask('lucky one', right)
    await running.request('/v1/ai_secret', { method: 'DELETE', body: { name: body.name } })
    await ask('lucky one', right)
    const own = 'Bearer model-key'
    expect(keys).toEqual([own, 'Bearer sk-of-the-organization', own])
  })

  test('is told once what is wrong with its query', async () => {
    const wrong = JSON.stringify({ clauses: 'select: id\nfilter: nowhere > 1', explanation: '' })
    expect((await ask('lucky one', wrong, right)).json.translator).toBe('language_model')
    expect(asked[1]!.messages.at(-1)!.content).toContain('nowhere')
  })

  test('may not name another source', async () => {
    const other = JSON.stringify({ clauses: `select: id\nfrom: ${source}`, explanation: 'all' })
    const answer = await ask('errors', other, other)
    expect(answer.json).toMatchObject({ kind: 'translated', translator: 'built_in' })
    expect(asked).toHaveLength(2)
  })

  test.each(['fail', 'no JSON', '{"clauses": 3}'])(
    'that answers %s is done without',
    async (bad) => {
      const answer = await ask('errors', bad, bad)
      expect(answer.json).toMatchObject({ explanation: 'with an error', translator: 'built_in' })
    },
  )

  test('that does not answer is done without', { timeout: 20_000 }, async () => {
    const answer = await ask('errors', 'hang')
    expect(answer.json).toMatchObject({ explanation: 'with an error', translator: 'built_in' })
  })

  test('is not asked what is written in the query language', async () => {
    expect((await ask("id = 'r7'")).json).toMatchObject({ kind: 'btql' })
    expect(asked).toEqual([])
  })
})
