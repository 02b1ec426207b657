/** A trace of a program in Go, by the exporters of OpenTelemetry. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goMissing, goProgram } from '../../support/client-programs.ts'
import { expectExportedTrace } from '../../support/exported-trace.ts'
import { run } from '../../support/language-tools.ts'
import { type AnyJson, RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let program: string

describe.skipIf(goMissing)('OpenTelemetry for Go', () => {
  beforeAll(async () => {
    service = await RunningService.start()
    program = await goProgram()
  }, 600_000)
  afterAll(() => service.stop())

  test('a trace over HTTP', async () => {
    const project = randomUUID()
    const { stdout } = await run(program, {
      env: {
        BRAINTRUST_API_URL: service.url,
        BRAINTRUST_API_KEY: testKey,
        PARENT: `project_name:${project}`,
      },
    })
    const { json } = await service.query(`select: * | from: project_logs('${project}') spans`)
    const rows = json.data as unknown as AnyJson[]
    expect(rows).toHaveLength(3)
    expectExportedTrace(rows, JSON.parse(stdout) as AnyJson)
  })
})
