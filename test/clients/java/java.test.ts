/** Programs in Java: a trace by the exporters of OpenTelemetry, and an evaluation by the SDK. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JavaPrograms, javaMissing } from '../../support/client-programs.ts'
import { expectExportedTrace } from '../../support/exported-trace.ts'
import { freePort } from '../../support/free-port.ts'
import { type AnyJson, RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let programs: JavaPrograms

function runJava(program: string, environment: Record<string, string>): Promise<string> {
  return programs.run(program, {
    BRAINTRUST_API_URL: service.url,
    BRAINTRUST_APP_URL: service.url,
    BRAINTRUST_API_KEY: testKey,
    ...environment,
  })
}

async function ask(query: string): Promise<AnyJson[]> {
  const { json, status, text } = await service.query(query)
  expect(status, text).toBe(200)
  return json.data as unknown as AnyJson[]
}

describe.skipIf(javaMissing)('Java', () => {
  beforeAll(async () => {
    service = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(await freePort()) })
    programs = await JavaPrograms.prepare()
  }, 600_000)
  afterAll(() => service.stop())

  test.each(['HTTP', 'gRPC'])('a trace of the exporter over %s', async (protocol) => {
    const project = randomUUID()
    const grpc = { GRPC_ENDPOINT: `http://127.0.0.1:${service.otlpGrpcPort}` }
    const stdout = await runJava('Exporters.java', {
      PARENT: `project_name:${project}`,
      ...(protocol === 'gRPC' && grpc),
    })
    const rows = await ask(`select: * | from: project_logs('${project}') spans`)
    expect(rows).toHaveLength(3)
    expectExportedTrace(rows, JSON.parse(stdout) as AnyJson)
  })

  test('evaluations, a dataset, a prompt and a trace by the SDK', async () => {
    const project = `java ${randomUUID()}`
    const project_id = await service.project(project)
    const foods = await service.create('dataset', project_id, 'foods')
    await service.insert('dataset', foods, [
      { id: 'a', input: 'apple', expected: 'APPLE', tags: ['t'], metadata: { k: 1 } },
      { id: 'b', input: 'bean', expected: 'no' },
    ])
    const messages = [{ role: 'user', content: 'hi {{who}}' }]
    const prompt_data = {
      prompt: { type: 'chat', messages },
      options: { model: 'm1', params: { temperature: 0 } },
    }
    await service.request('/v1/prompt', {
      body: { project_id, name: 'Hi', slug: 'greeting', prompt_data },
    })
    const printed = await runJava('Evaluation.java', { BRAINTRUST_DEFAULT_PROJECT_NAME: project })
    expect(printed).toContain('{role=user, content=hi Ada}')
    expect(printed).toContain(`${service.url}/app/`)

    const cases = await ask(
      `select: input.input as input, output.output as output, expected, scores, tags, metadata.n as n
       | from: experiment('${project}/java') summary | sort: input`,
    )
    expect(cases).toMatchObject([
      { input: 'carrot', output: 'fruit', expected: 'vegetable', scores: { exact: 0 }, n: 2 },
      { input: 'strawberry', output: 'fruit', scores: { exact: 1 }, tags: ['red'], n: 1 },
    ])
    const spans = await ask(
      `dimensions: span_attributes.type as type | measures: count(1) as n
       | from: experiment('${project}/java') spans | sort: type`,
    )
    expect(spans).toEqual([
      { type: 'eval', n: 2 },
      { type: 'score', n: 2 },
      { type: 'task', n: 4 },
    ])
    expect(
      await ask(
        `select: input.input as input, scores.exact as exact, origin.id as origin
         | from: experiment('${project}/of a dataset') summary | sort: input`,
      ),
    ).toEqual([
      { input: 'apple', exact: 1, origin: 'a' },
      { input: 'bean', exact: 0, origin: 'b' },
    ])
    expect(
      await ask(`select: input, output, metadata.user as user | from: project_logs('${project}')`),
    ).toEqual([{ input: { question: '😀' }, output: 'answer', user: 'ada' }])
  })
})
