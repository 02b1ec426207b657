/** The newest SDK of the hosted product, unmodified, for what the shared programs do not cover. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let sdk: typeof import('braintrust')
const home = mkdtempSync(join(tmpdir(), 'assay-sdk-home-'))

beforeAll(async () => {
  // Small enough for a row of a test to be too large for it.
  service = await RunningService.start({ ASSAY_MAX_BODY_BYTES: '2000000' })
  Object.assign(process.env, {
    HOME: home,
    BRAINTRUST_API_URL: service.url,
    BRAINTRUST_APP_URL: service.url,
    BRAINTRUST_API_KEY: testKey,
    BRAINTRUST_DISABLE_INSTRUMENTATION: '1',
  })
  sdk = await import('braintrust')
  await sdk.login()
}, 60_000)
afterAll(async () => {
  await service.stop()
  rmSync(home, { recursive: true })
})

function name(): string {
  return `p-${randomUUID().slice(0, 8)}`
}

async function logs(project: string, select: string) {
  const { json } = await service.query(`select: ${select} | from: project_logs('${project}')`)
  return json.data
}

test('a span that another process continues', async () => {
  const project = name()
  const logger = sdk.initLogger({ projectName: project, setCurrent: false })
  const span = logger.startSpan({ name: 'here' })
  const exported = await span.export()
  const child = sdk.startSpan({ name: 'there', parent: exported, event: { output: 1 } })
  child.end()
  span.end()
  await logger.flush()
  await sdk.flush()
  const [there, here] = [child, span].map(({ spanId, rootSpanId }) => ({ spanId, rootSpanId }))
  expect(here?.rootSpanId).toBe(there?.rootSpanId)
  const data = await logs(project, 'span_attributes.name as name, span_parents, root_span_id')
  expect(data).toHaveLength(2)
  expect(data).toContainEqual({
    name: 'there',
    span_parents: [here?.spanId],
    root_span_id: here?.rootSpanId,
  })
})

test('an attachment is uploaded with its span and can be read again', async () => {
  const project = name()
  const logger = sdk.initLogger({ projectName: project, setCurrent: false })
  const text = 'attached '.repeat(1000)
  const attachment = new sdk.Attachment({
    data: new Blob([text]),
    filename: 'a.txt',
    contentType: 'text/plain',
  })
  logger.log({ input: { file: attachment } })
  await logger.flush()
  expect(await logs(project, 'input.file.key as key')).toEqual([{ key: attachment.reference.key }])
  const read = new sdk.ReadonlyAttachment(attachment.reference)
  expect(await (await read.data()).text()).toBe(text)
  expect(await read.status()).toMatchObject({ upload_status: 'done' })
})

test('a row that is larger than the limit is uploaded first', async () => {
  const project = name()
  const logger = sdk.initLogger({ projectName: project, setCurrent: false })
  logger.log({ input: 'x'.repeat(1_500_000), output: 'large' })
  await logger.flush()
  expect(await logs(project, 'len(input) as size, output')).toEqual([
    { size: 1_500_000, output: 'large' },
  ])
})

test('a prompt, its versions, and an earlier one', async () => {
  const project = name()
  const builder = sdk.projects.create({ name: project })
  const publish = async (content: string) => {
    builder.prompts.create({
      name: 'Greeting',
      slug: 'greeting',
      messages: [{ role: 'user', content }],
      model: 'm1',
      ifExists: 'replace',
    })
    await builder.publish()
  }
  await publish('hi {{who}}')
  await publish('hello {{who}}')
  const prompt = await sdk.loadPrompt({ projectName: project, slug: 'greeting' })
  expect(prompt.build({ who: 'you' })).toMatchObject({
    model: 'm1',
    messages: [{ content: 'hello you' }],
  })
  const projects = await service.request(`/v1/project?project_name=${project}`)
  const projectId = String(projects.json.objects?.[0]?.id)
  const versions = await sdk.getPromptVersions(projectId, prompt.id)
  const version = versions.at(-1)!
  const first = await sdk.loadPrompt({ projectName: project, slug: 'greeting', version })
  expect(first.build({ who: 'you' })).toMatchObject({ messages: [{ content: 'hi you' }] })
})

test('an evaluation over a dataset, compared with the one before', async () => {
  const project = name()
  const dataset = sdk.initDataset(project, { dataset: 'cases' })
  for (const n of [1, 2, 3]) dataset.insert({ input: n, expected: 2 * n })
  await dataset.flush()
  const run = async (experimentName: string, task: (n: number) => number) => {
    const { summary } = await sdk.Eval(
      project,
      {
        experimentName,
        data: sdk.initDataset(project, { dataset: 'cases' }) as never,
        task: task as never,
        scores: [
          ({ output, expected }: { output: unknown; expected: unknown }) => ({
            name: 'exact',
            score: output === expected ? 1 : 0,
          }),
        ] as never,
      },
      { reporter: { name: 'none', reportEval: () => true, reportRun: () => true } },
    )
    return summary
  }
  await run('first', (n) => (n === 1 ? 2 : 0))
  const summary = await run('second', (n) => 2 * n)
  expect(summary.comparisonExperimentName).toBe('first')
  expect(summary.scores.exact).toMatchObject({ score: 1, improvements: 2, regressions: 0 })
  expect(summary.scores.exact?.diff).toBeCloseTo(2 / 3)
}, 30_000)
