/** What exporters and instrumentations of OpenTelemetry for Python send, and where it lands. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectExportedTrace, spanNamed } from '../../support/exported-trace.ts'
import { FailingProxy } from '../../support/failing-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { ModelProvider } from '../../support/model-provider.ts'
import { PythonEnvironment, pythonMissing } from '../../support/python-environment.ts'
import { type AnyJson, RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let provider: ModelProvider
let python: PythonEnvironment

async function ask(query: string): Promise<AnyJson[]> {
  const { json, status, text } = await service.query(query)
  expect(status, text).toBe(200)
  return json.data as unknown as AnyJson[]
}

/** Runs a program for a new project, and returns that project's spans by their names. */
async function send(program: string, more: Record<string, string> = {}, url = service.url) {
  const project = randomUUID()
  const sent: AnyJson = await python.run(program, {
    BRAINTRUST_API_URL: url,
    BRAINTRUST_API_KEY: testKey,
    PROVIDER_URL: provider.url,
    PARENT: `project_name:${project}`,
    ...more,
  })
  const rows = await ask(
    `select: *, estimated_cost() as cost | from: project_logs('${project}') spans | sort: created`,
  )
  return { project, sent, rows, named: (name: string) => spanNamed(rows, name) }
}

const overGrpc = () => ({ GRPC_ENDPOINT: `http://127.0.0.1:${service.otlpGrpcPort}` })

describe.skipIf(pythonMissing)('OpenTelemetry for Python', () => {
  beforeAll(async () => {
    service = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(await freePort()) })
    provider = await ModelProvider.start()
    python = await PythonEnvironment.prepare('requirements-opentelemetry.txt')
  }, 600_000)
  afterAll(() => Promise.all([service.stop(), provider.stop()]))

  test.each(['HTTP', 'gRPC'])(
    'spans and log records of the exporters over %s',
    async (protocol) => {
      const { sent, rows, named } = await send(
        'exporters.py',
        protocol === 'gRPC' ? overGrpc() : {},
      )
      expect(rows).toHaveLength(4)
      expectExportedTrace(rows, sent)
      expect(named('slow: 1.5 s')).toMatchObject({
        span_parents: [named('chat gpt-4.1')?.span_id],
        output: 'slow: 1.5 s',
        metadata: { severity: 'WARN' },
      })
    },
  )

  test('what the exporter sends again after a failure is there once', async () => {
    const proxy = await FailingProxy.start(service.url)
    proxy.fail(['/otel/v1/traces'], [503, 'unheard', 429])
    const { rows } = await send('exporters.py', { MORE: '200' }, proxy.url)
    expect(proxy.failures).toEqual([])
    await proxy.stop()
    expect(rows).toHaveLength(204)
  })

  const openaiCost = (20 * 2 + 100 * 0.5 + 30 * 8) / 1e6
  const anthropicCost = (15 * 3 + 100 * 0.3 + 5 * 3.75 + 30 * 15) / 1e6
  const used = { prompt_tokens: 120, prompt_cached_tokens: 100, completion_tokens: 30, tokens: 150 }

  test.each(['openinference-openai', 'openllmetry-openai'])('calls that %s sees', async (kind) => {
    const { project, rows } = await send('instrumented.py', { KIND: kind })
    for (const call of ['chat', 'stream', 'tools', 'response']) {
      const [span] = childrenOf(rows, call)
      expect(span, call).toMatchObject({ span_attributes: { type: 'llm' }, metrics: used })
      expect(span?.metadata?.model).toMatch(/^gpt-4\.1/)
      expect(JSON.stringify(span?.input)).toContain('How much is 2 + 2?')
      expect(JSON.stringify(span?.output)).toContain(call === 'tools' ? 'Zürich' : 'Four 🙂')
      expect(span?.cost).toBeCloseTo(openaiCost, 12)
      expect(await totals(project, call)).toEqual({ tokens: 150, cost: openaiCost })
    }
    expect(childrenOf(rows, 'chat')[0]).toMatchObject({
      input: [{ role: 'user' }],
      output: [{ role: 'assistant' }],
      metadata: { temperature: 0.5 },
    })
    if (kind === 'openinference-openai') {
      const weather = { name: 'weather', arguments: '{"city":"Zürich"}' }
      expect(childrenOf(rows, 'tools')[0]?.output).toMatchObject([
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: weather }] },
      ])
      expect(childrenOf(rows, 'response')[0]?.output).toEqual([
        { role: 'assistant', content: [{ type: 'text', text: 'Four 🙂' }] },
      ])
    }
    expect(childrenOf(rows, 'embedding')[0]?.metrics).toMatchObject({ prompt_tokens: 8 })
    expect(childrenOf(rows, 'error')[0]?.error).toContain('No such model')
  })

  // The client for Anthropic has an instrumentation of its own, which is on unless this says no.
  const anthropic = (kind: string, own: boolean) => {
    const content = { ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE: 'content' }
    return send('instrumented.py', {
      KIND: kind,
      ANTHROPIC_OPEN_TELEMETRY: String(own),
      ...content,
    })
  }

  test.each(['openinference-anthropic', 'openllmetry-anthropic', 'anthropic'])(
    'calls that %s sees',
    async (kind) => {
      const { project, rows } = await anthropic(kind, kind === 'anthropic')
      for (const call of ['message', 'tools']) {
        const [span] = childrenOf(rows, call)
        expect(span, call).toMatchObject({
          span_attributes: { type: 'llm' },
          metadata: { model: 'claude-sonnet-4-5' },
          metrics: { ...used, prompt_cache_creation_tokens: 5 },
        })
        expect(JSON.stringify(span?.input)).toContain('How much is 2 + 2?')
        expect(JSON.stringify(span?.output)).toContain(call === 'tools' ? 'Zürich' : 'Four 🙂')
        expect(await totals(project, call)).toEqual({ tokens: 150, cost: anthropicCost })
      }
      expect(childrenOf(rows, 'raw stream')[0]?.metrics).toMatchObject({
        prompt_cached_tokens: 100,
      })
      const error = kind === 'anthropic' ? 'not_found_error' : 'No such model'
      expect(childrenOf(rows, 'error')[0]?.error).toContain(error)
    },
  )

  test('a call that an instrumentation and the client see counts once', async () => {
    const { project, rows } = await anthropic('openinference-anthropic', true)
    expect(childrenOf(rows, 'message')).toHaveLength(2)
    expect(await totals(project, 'message')).toEqual({ tokens: 150, cost: anthropicCost })
  })

  test('a chain of a framework counts its calls once', async () => {
    const { project, rows, named } = await send('instrumented.py', {
      KIND: 'openinference-langchain',
    })
    expect(named('ChatOpenAI')).toMatchObject({
      span_attributes: { type: 'llm' },
      input: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'How much is 2 + 2?' },
      ],
      output: [{ role: 'assistant', content: 'Four 🙂' }],
      metrics: used,
    })
    expect(rows.filter(({ metrics }) => metrics?.prompt_tokens)).toHaveLength(1)
    expect(await totals(project, 'chain')).toEqual({ tokens: 150, cost: openaiCost })
  })

  test('an agent of a framework counts its calls once', async () => {
    const { project, named } = await send('instrumented.py', { KIND: 'pydantic-ai' })
    expect(named('chat gpt-4.1')).toMatchObject({
      span_attributes: { type: 'llm' },
      metadata: { model: 'gpt-4.1' },
      metrics: used,
      output: [{ role: 'assistant' }],
    })
    expect(named('invoke_agent calculator')).toMatchObject({
      metadata: { agent_name: 'calculator' },
    })
    expect(await totals(project, 'agent')).toEqual({ tokens: 150, cost: openaiCost })
  })
})

function childrenOf(rows: readonly AnyJson[], name: string): AnyJson[] {
  const root = rows.find(
    ({ span_attributes, is_root }) => is_root && String(span_attributes?.name) === name,
  )
  return rows.filter(({ root_span_id, is_root }) => !is_root && root_span_id === root?.root_span_id)
}

/** Of the trace whose root has this name, as the list of traces shows it. */
async function totals(project: string, name: string) {
  const [row] = await ask(
    `select: metrics.total_tokens as tokens, metrics.estimated_cost as cost
     | from: project_logs('${project}') summary | filter: span_attributes.name = '${name}'`,
  )
  return row
}
