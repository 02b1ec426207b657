/** Steps of reading that follow from how many rows the steps before have given. */
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Engine } from '../../src/engine.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const rowCount = 120_000

test('a filter that most of many rows pass gives all of them, whatever part that is', async () => {
  const dataDirectory = await makeTemporaryDirectory('pace')
  const engine = await Engine.open({
    dataDirectory,
    workers: 0,
    maintenance: { automatic: false, limits: { rows: 50_000 } },
  })
  try {
    const view = await ownerGate(engine.catalog)
    const { entry: project } = await view.findOrCreate('project', { name: 'p' })
    const object = { type: 'project_logs', id: project.id } as const
    for (let from = 0; from < rowCount; from += 20_000) {
      const events = Array.from({ length: 20_000 }, (_, i) => ({
        id: `r${from + i}`,
        metadata: { n: ((from + i) * 7919) % 1009 },
      }))
      const body = Buffer.from(JSON.stringify({ events }))
      await engine.insert({ body, form: 'events', object, view })
    }
    await engine.flush()
    for (let most = 350; most < 1009; most += 67) {
      const query = `select: metadata.n as n | from: project_logs('${project.id}') | filter: metadata.n < ${most}`
      let rows = 0
      for await (const chunk of engine.query({ query, view }).rows) rows += chunk.rowCount
      const passing = Array.from({ length: rowCount }, (_, i) => (i * 7919) % 1009)
      expect(rows, query).toBe(passing.filter((n) => n < most).length)
    }
  } finally {
    await engine.close()
    await rm(dataDirectory, { recursive: true, force: true })
  }
})
