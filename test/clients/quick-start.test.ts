/** Runs what the page of clients tells users of the SDK to begin with, as it is written there. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the quick start of the page of clients', async () => {
  const page = readFileSync(join(root, 'src/docs/clients.md'), 'utf8')
  const program = page.match(/^```js\n([\s\S]*?)^```$/m)![1]!
  expect(program.split('\n').length).toBeLessThan(13)
  const service = await RunningService.start()
  const directory = mkdtempSync(join(tmpdir(), 'assay-quick-start-'))
  try {
    writeFileSync(join(directory, 'first.eval.mjs'), program)
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    const { stdout } = await promisify(execFile)(process.execPath, ['first.eval.mjs'], {
      cwd: directory,
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        BRAINTRUST_API_URL: service.url,
        BRAINTRUST_APP_URL: service.url,
        BRAINTRUST_API_KEY: testKey,
      },
    })
    expect(stdout).toMatch(/exact\s+50\.00%/)
    const project = (await service.request('/v1/project?project_name=arithmetic')).json
    const [{ id }] = project.objects as unknown as [{ id: string }]
    const experiments = await service.request(`/v1/experiment?project_id=${id}`)
    const experiment = String(experiments.json.objects?.[0]?.id)
    const { json } = await service.query(
      `select: input, output, scores | from: experiment('${experiment}') summary | sort: output`,
    )
    expect(json.data).toEqual([
      { input: [2, 2], output: 4, scores: { exact: 1 } },
      { input: [3, 3], output: 6, scores: { exact: 0 } },
    ])
  } finally {
    rmSync(directory, { recursive: true })
    await service.stop()
  }
}, 60_000)
