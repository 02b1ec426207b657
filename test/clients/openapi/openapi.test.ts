/**
 * schemathesis tries the API document: requests that it allows, and others that it does not, to all
 * operations. Answers have to be as it promises: statuses, types, schemas, and no 500.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PythonEnvironment, pythonMissing } from '../../support/python-environment.ts'
import { RunningService, testKey } from '../../support/running-service.ts'

/** Of one way to make requests. */
interface Tried {
  readonly phase: string
  readonly operations: number
  readonly tried: number
  readonly requests: number
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[]
  readonly errors: readonly object[]
  /** What the program has said, if anything failed. */
  readonly output: string
}

let service: RunningService
let python: PythonEnvironment

/** Something of each kind, so that there is something to read. */
async function fill(): Promise<void> {
  const make = async (path: string, body: object) => {
    const { json, status, text } = await service.request(path, { body })
    expect(status, text).toBe(200)
    return String(json.id)
  }
  const project_id = await make('/v1/project', { name: 'tried' })
  const experiment = await make('/v1/experiment', { project_id, name: 'tried' })
  const dataset = await make('/v1/dataset', { project_id, name: 'tried' })
  const prompt_data = { prompt: { type: 'completion', content: 'Say {{what}}' } }
  await make('/v1/prompt', { project_id, name: 'tried', slug: 'tried', prompt_data })
  const span = { input: 'Is it 🎉?', output: { yes: true }, scores: { exact: 0.5 }, tags: ['🎉'] }
  const record = { input: 1, expected: [2], metadata: { of: null } }
  for (const [path, event] of [
    [`/v1/project_logs/${project_id}/insert`, span],
    [`/v1/experiment/${experiment}/insert`, { ...span, id: 'one' }],
    [`/v1/dataset/${dataset}/insert`, record],
  ] as const) {
    await service.request(path, { body: { events: [event] } })
  }
}

describe.skipIf(pythonMissing)('the API document', () => {
  beforeAll(async () => {
    service = await RunningService.start()
    await fill()
    python = await PythonEnvironment.prepare('../openapi/requirements.txt')
  }, 300_000)
  afterAll(() => service.stop())

  test('promises what the service does', { timeout: 600_000 }, async () => {
    const phases: readonly Tried[] = await python.run('../openapi/try_document.py', {
      BRAINTRUST_API_URL: service.url,
      BRAINTRUST_API_KEY: testKey,
    })
    for (const { phase, tried, operations, requests, output } of phases) {
      console.log(`${phase}: ${tried} of ${operations} operations, ${requests} requests`)
      if (output !== '') console.log(output)
    }
    expect(phases.flatMap(({ failures, errors }) => [...failures, ...errors])).toEqual([])
    const [fuzzing, coverage] = phases
    expect(fuzzing!.tried).toBe(fuzzing!.operations)
    expect(coverage!.requests).toBeGreaterThan(1000)
  })
})
