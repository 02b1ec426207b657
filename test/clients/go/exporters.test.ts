/** A trace of a program in Go, by the exporters of OpenTelemetry. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goMissing, goProgram } from '../../support/client-programs.ts'
import { expectExportedTrace } from '../../support/exported-trace.ts'
import { freePort } from '../../support/free-port.ts'
import { run } from '../../support/language-tools.ts'
import { type AnyJson, RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService
let program: string

describe.skipIf(goMissing)('OpenTelemetry for Go', () => {
  beforeAll(async () => {
    service = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(await freePort()) })
    program = await goProgram()
  }, 600_000)
  afterAll(() => service.stop())

  test.each(['HTTP', 'gRPC'])('a trace over %s', async (protocol) => {
    const project = randomUUID()
    const grpc = { GRPC_ENDPOINT: `http://127.0.0.1:${service.otlpGrpcPort}` }
    const { stdout } = await run(program, {
      env: {
        BRAINTRUST_API_URL: service.url,
        BRAINTRUST_API_KEY: testKey,
        PARENT: `project_name:${project}`,
        ...(protocol === 'gRPC' && grpc),
      },
    })
    const { json } = await service.query(`select: * | from: project_logs('${project}') spans`)
    const rows = json.data as unknown as AnyJson[]
    expect(rows).toHaveLength(3)
    expectExportedTrace(rows, JSON.parse(stdout) as AnyJson)
  })
})
