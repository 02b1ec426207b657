/** The SDK for Python, unmodified: the newest, and the oldest of which all of this works. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FailingProxy, type Failure } from '../../support/failing-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { ModelProvider } from '../../support/model-provider.ts'
import { PythonEnvironment, pythonMissing } from '../../support/python-environment.ts'
import { type AnyJson, RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let provider: ModelProvider
const home = mkdtempSync(join(tmpdir(), 'assay-python-'))

beforeAll(async () => {
  service = await RunningService.start()
  provider = await ModelProvider.start()
})
afterAll(async () => {
  await Promise.all([service.stop(), provider.stop()])
  rmSync(home, { recursive: true })
})

function environmentFor(project: string, more: Record<string, string> = {}, url = service.url) {
  return {
    HOME: home,
    BRAINTRUST_API_URL: url,
    BRAINTRUST_APP_URL: url,
    BRAINTRUST_API_KEY: testKey,
    PROVIDER_URL: provider.url,
    PROJECT: project,
    ...more,
  }
}

async function ask(query: string): Promise<AnyJson[]> {
  const { json, status, text } = await service.query(query)
  expect(status, text).toBe(200)
  return json.data as unknown as AnyJson[]
}

const spans = (project: string, select: string) =>
  ask(`select: ${select} | from: project_logs('${project}') spans | sort: _pagination_key`)

describe.skipIf(pythonMissing).each([
  ['0.48.1', 'requirements-newest.txt'],
  ['0.0.125', 'requirements-oldest.txt'],
])('braintrust %s', (version, requirements) => {
  const newest = version === '0.48.1'
  const project = () => `${version} ${randomUUID().slice(0, 8)}`
  let python: PythonEnvironment
  beforeAll(async () => {
    python = await PythonEnvironment.prepare(requirements)
  }, 600_000)

  test('evaluations over a dataset are compared, with errors and spans of their own', async () => {
    const name = project()
    const summary: AnyJson = await python.run('evaluation.py', environmentFor(name))
    expect(summary).toMatchObject({
      name: 'second',
      base: 'first',
      scores: {
        exact: { score: 1, improvements: 1, regressions: 0, diff: expect.closeTo(2 / 3) },
        near: { score: 1, improvements: 1, regressions: 0 },
      },
    })
    expect(summary.text).toContain("'exact' score")
    const rows = await ask(
      `select: input, output, expected, scores, metadata
       | from: experiment('${name}/second') summary | sort: input`,
    )
    expect(rows).toMatchObject([
      { input: 1, output: 2, expected: 2, scores: { exact: 1, near: 1 } },
      { input: 2, output: 4, metadata: { even: true, asked: 2 } },
      { input: 3, output: null, expected: 6 },
    ])
    const errors = await ask(
      `select: error | from: experiment('${name}/second') spans | filter: error is not null`,
    )
    // The oldest shows errors, and does not log them.
    if (newest) expect(errors[0]?.error).toContain('three is too many')
    const types = await ask(
      `dimensions: span_attributes.type as type | measures: count(1) as n
       | from: experiment('${name}/second') spans | sort: type`,
    )
    expect(types).toContainEqual({ type: 'score', n: 4 })
    expect(types).toContainEqual({ type: 'eval', n: 3 })
  })

  test('traces with errors, feedback, tags, and a span that another process adds', async () => {
    const name = project()
    const { parent, id }: AnyJson = await python.run('logs.py', environmentFor(name))
    await python.run('logs.py', environmentFor(name, { PARENT: String(parent) }))
    const rows = await spans(name, '*')
    const [alone, request, add, failing, elsewhere] = rows
    expect(rows).toHaveLength(5)
    expect(alone).toMatchObject({ input: 'alone', output: { deep: { deeper: true } } })
    expect(request).toMatchObject({
      id,
      input: { a: [1, null, { b: 2.5 }] },
      output: 'done',
      expected: 'finished',
      scores: { quality: 0.5, human: 1 },
      metrics: { tokens: 12 },
      comments: [{ comment: { text: 'well done' }, metadata: { user: 'ada' } }],
    })
    // The oldest puts the two rows together by itself, and of tags it keeps the last.
    const tags = [...(request!.tags as unknown as string[])].sort()
    expect(tags).toEqual(newest ? ['one', 'two'] : ['two'])
    expect(add).toMatchObject({
      span_attributes: { name: 'add' },
      span_parents: [request!.span_id],
      input: { a: 1, b: 2 },
      output: 3,
      metadata: { model: 'm1', text: '😀 \u0000 \u2028' },
    })
    expect(failing).toMatchObject({
      span_attributes: { name: 'failing', type: 'tool' },
      error: newest ? expect.stringContaining('RuntimeError: no such tool') : null,
    })
    expect(elsewhere).toMatchObject({
      output: 'from another process',
      root_span_id: request!.root_span_id,
      span_parents: [request!.span_id],
    })
    const { text } = await service.query(
      `select: metadata.big as big | from: project_logs('${name}') spans | filter: metadata.big > 0`,
    )
    expect(text).toContain('9223372036854775809')
  })

  test('records of a dataset are changed, removed, and read as they were', async () => {
    const name = project()
    const result: AnyJson = await python.run('datasets.py', environmentFor(name))
    const record = (id: string, expected: unknown, more = {}) => [
      id,
      { name: id },
      expected,
      { n: id, ...more },
      ['t'],
    ]
    // 2^53 + 1 is a number of Python's, and lost only by what reads it here.
    const given = [1.5, null, 2 ** 53]
    expect(result).toMatchObject({
      before: ['a', 'b', 'c'].map((id) => record(id, given)),
      name: 'cases',
      total: 3,
      newer: true,
    })
    expect(result.now).toHaveLength(3)
    expect(result.now).toContainEqual(record('a', 'changed', { more: true }))
    expect(result.now).toContainEqual(record('c', given))
    const { text } = await service.query(`select: expected | from: dataset('${name}/cases')`)
    expect(text).toContain('[1.5,null,9007199254740993]')
  })

  test('experiments that are written span by span, gone on with, and read', async () => {
    const name = project()
    const result: AnyJson = await python.run('experiments.py', environmentFor(name))
    expect(result).toMatchObject({
      same: true,
      base: 'base',
      exact: { score: 1, diff: 0.75, improvements: 2, regressions: 0 },
      rows: [1, 2, 3, 4],
    })
    // The newest takes for cases only spans whose id is that of the trace, which it does not make.
    if (!newest) expect(result.cases).toBe(4)
    const [total] = await ask(
      `measures: count(1) as n, sum(metrics.prompt_tokens) as prompt, avg(scores.human) as human
       | from: experiment('${result.id}') spans`,
    )
    expect(total).toEqual({ n: 5, prompt: 5, human: 0.5 })
  })

  test('a prompt is loaded, in an earlier version too, and filled in', async () => {
    const name = project()
    const project_id = await service.project(name)
    const publish = async (content: string) => {
      const options = { model: 'm1', params: { temperature: 0 } }
      const prompt = { type: 'chat', messages: [{ role: 'user', content }] }
      const { json } = await service.request('/v1/prompt', {
        method: 'PUT',
        body: { project_id, name: 'Hi', slug: 'greeting', prompt_data: { prompt, options } },
      })
      return String(json._xact_id)
    }
    const first = await publish('hi {{who.name}}')
    await publish('hello {{who.name}}')
    const result: AnyJson = await python.run('prompts.py', environmentFor(name, { VERSION: first }))
    expect(result).toMatchObject({
      name: 'Hi',
      built: { model: 'm1', temperature: 0, messages: [{ role: 'user', content: 'hello Ada' }] },
      first: { messages: [{ role: 'user', content: 'hi Ada' }] },
    })
  })

  test.runIf(newest)('the command runs evaluations and stores prompts', async () => {
    const name = project()
    const environment = environmentFor(name)
    const command = (...args: string[]) =>
      python.runModule(['braintrust.cli', ...args], environment)
    await command('eval', 'commands/eval_sums.py')
    const trials = await ask(
      `dimensions: input | measures: count(1) as n, avg(scores.exact) as exact
       | from: experiment('${name}/sums') summary | sort: exact`,
    )
    expect(trials).toEqual([
      { input: [2, 2], n: 2, exact: 0 },
      { input: [1, 2], n: 2, exact: 1 },
    ])
    await command('push', 'commands/prompts.py')
    const { json } = await service.request(
      `/v1/prompt?project_name=${encodeURIComponent(name)}&slug=greeting`,
    )
    expect(json.objects).toMatchObject([
      { name: 'Greeting', metadata: { by: 'push' }, prompt_data: { options: { model: 'm1' } } },
    ])
    const { built }: AnyJson = await python.run('prompts.py', {
      ...environment,
      VERSION: String(json.objects?.[0]?._xact_id),
    })
    expect(built).toMatchObject({ messages: [{ role: 'user', content: 'hi Ada' }], temperature: 0 })
  })

  test.runIf(newest)('spans of OpenTelemetry stand within those of the SDK', async () => {
    const name = project()
    const { root }: AnyJson = await python.run('bridge.py', environmentFor(name))
    const rows = await ask(
      `select: span_attributes.name as name, span_id, span_parents, root_span_id, output
       | from: project_logs('${name}') spans`,
    )
    expect(rows).toHaveLength(3)
    const of = (given: string) => rows.find((row) => String(row.name) === given)
    expect(of('outer')).toMatchObject({ root_span_id: root })
    expect(of('middle')).toMatchObject({ span_parents: [of('outer')?.span_id], root_span_id: root })
    expect(of('inner')).toMatchObject({
      span_parents: [of('middle')?.span_id],
      root_span_id: root,
      output: '😀',
    })
  })

  test.runIf(newest)('files go with a span, and are read again', async () => {
    const name = project()
    const result: AnyJson = await python.run('attachments.py', environmentFor(name))
    expect(result).toMatchObject({ same: true, status: 'done' })
    expect(await spans(name, 'input.file as file, output[0].filename as second')).toMatchObject([
      { file: { key: result.key, filename: 'bytes 🙂.bin' }, second: 'a.json' },
    ])
  })

  test.runIf(newest)('calls of models through wrapped clients and through found ones', async () => {
    const name = project()
    const found = await python.run('providers.py', environmentFor(name))
    expect(found).toEqual({ openai: true, anthropic: true })
    const rows = await ask(
      `select: span_attributes.name as name, span_attributes.type as type, output, error, metrics,
         metadata.model as model, estimated_cost() as cost, root_span_id, is_root
       | from: project_logs('${name}') spans`,
    )
    const names = new Map(
      rows.filter((row) => row.is_root).map((row) => [row.root_span_id, String(row.name)]),
    )
    const calls = rows.filter((row) => String(row.type) === 'llm')
    const call = (given: string) =>
      calls.find((row) => names.get(row.root_span_id as AnyJson) === given)
    expect(calls).toHaveLength(26)
    const weather = { name: 'weather', arguments: '{"city":"Zürich"}' }
    const openaiCalls = {
      chat: [{ message: { role: 'assistant', content: 'Four 🙂' } }],
      stream: [{ message: { role: 'assistant', content: 'Four 🙂' } }],
      tools: [{ message: { tool_calls: [{ function: weather }] } }],
      'tool stream': [{ message: { tool_calls: [{ function: weather }] } }],
      response: [{ content: [{ text: 'Four 🙂' }] }],
    }
    const used = { prompt_tokens: 120, prompt_cached_tokens: 100, completion_tokens: 30 }
    for (const wrapped of ['', 'auto ']) {
      for (const [kind, output] of Object.entries(openaiCalls)) {
        const row = call(`${wrapped}openai ${kind}`)
        expect(row, kind).toMatchObject({ output, metrics: { ...used, tokens: 150 } })
        expect(row?.model).toMatch(/^gpt-4\.1/)
        // 20 tokens read, 100 from the cache at a quarter of the price, and 30 written.
        expect(row?.cost, kind).toBeCloseTo((20 * 2 + 100 * 0.5 + 30 * 8) / 1e6, 12)
      }
      expect(call(`${wrapped}openai embedding`)).toMatchObject({ metrics: { prompt_tokens: 8 } })
      const text = { content: [{ type: 'text', text: 'Four 🙂' }] }
      const tool = { content: [{ type: 'tool_use', name: 'weather', input: { city: 'Zürich' } }] }
      const kinds = { message: text, stream: text, tools: tool, 'tool stream': tool }
      for (const [kind, output] of Object.entries({ ...kinds, 'raw stream': text })) {
        const row = call(`${wrapped}anthropic ${kind}`)
        expect(row, kind).toMatchObject({
          output,
          model: 'claude-sonnet-4-5',
          metrics: { ...used, prompt_cache_creation_5m_tokens: 5, tokens: 150 },
        })
        expect(row?.cost, kind).toBeCloseTo((15 * 3 + 100 * 0.3 + 5 * 3.75 + 30 * 15) / 1e6, 12)
      }
      expect(call(`${wrapped}anthropic error`)?.error).toContain('No such model')
    }
    const traces = await ask(
      `select: metrics.total_tokens as tokens | from: project_logs('${name}') summary
       | filter: span_attributes.name = 'anthropic tools' or span_attributes.name = 'openai chat'`,
    )
    expect(traces).toEqual([{ tokens: 150 }, { tokens: 150 }])
  })

  test('nothing is lost and nothing is there twice after failures', async () => {
    const name = project()
    const proxy = await FailingProxy.start(service.url)
    const program = python.start('failing.py', environmentFor(name, {}, proxy.url))
    const failures: Record<string, Failure[]> = {
      'server error': [500, 503],
      'too many requests': [429, 429],
      // The oldest gives up when a connection ends, and says so.
      ...(newest && {
        'connection ended': ['cut', 'cut'],
        'answer lost': ['unheard', 'unheard'],
        'one after the other': ['unheard', 502],
      }),
    }
    try {
      expect(await program.next()).toBe('ready')
      for (const [given, list] of Object.entries(failures)) {
        // The oldest tries the second where the first fails.
        proxy.fail(['/logs3', '/logs'], list)
        expect(await program.ask(given)).toBe(given)
        expect(proxy.failures, given).toEqual([])
      }
    } finally {
      await program.end()
      await proxy.stop()
    }
    const rows = await spans(name, 'input, output, metrics.count as count')
    expect(rows).toEqual([
      { input: 'before', output: null, count: null },
      ...Object.keys(failures).flatMap((given) => [
        { input: given, output: null, count: 1 },
        { input: null, output: given, count: null },
      ]),
    ])
  })

  test.runIf(newest)('what is logged while the service restarts is there afterwards', async () => {
    const name = project()
    let restarted = await RunningService.start()
    const proxy = await FailingProxy.start(restarted.url)
    const retries = { BRAINTRUST_NUM_RETRIES: '20' }
    const program = python.start('failing.py', environmentFor(name, retries, proxy.url))
    try {
      expect(await program.next()).toBe('ready')
      proxy.serve(`http://127.0.0.1:${await freePort()}`)
      const logged = program.ask('while away')
      await expect.poll(() => proxy.refused).toBeGreaterThan(0)
      restarted = await restarted.restart()
      proxy.serve(restarted.url)
      expect(await logged).toBe('while away')
      const { json } = await restarted.query(
        `select: input, output | from: project_logs('${name}') spans | sort: _pagination_key`,
      )
      expect(json.data).toEqual([
        { input: 'before', output: null },
        { input: 'while away', output: null },
        { input: null, output: 'while away' },
      ])
    } finally {
      await program.end()
      await Promise.all([proxy.stop(), restarted.stop()])
    }
  })

  test.skipIf(newest)('calls of models through the client that the oldest wraps', async () => {
    const name = project()
    await python.run('oldest_provider.py', environmentFor(name))
    const rows = await spans(name, 'output, metadata, metrics, span_attributes.type as type')
    expect(rows.filter(({ type }) => String(type) === 'llm')).toMatchObject([
      {
        output: [{ message: { content: 'Four 🙂' } }],
        metadata: { model: 'gpt-4.1', temperature: 0.5 },
        metrics: { prompt_tokens: 120, completion_tokens: 30, tokens: 150 },
      },
      { output: [{ message: { content: 'Four 🙂' } }], metadata: { stream: true } },
    ])
  })
})
