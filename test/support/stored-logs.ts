import { Engine } from '../../src/engine.ts'
import { ownerGate } from './owner-gate.ts'

/** Opens a data directory, which may have damages, with the logs of a project that it makes if there is none. */
export async function openStoredLogs(directory: string) {
  const engine = await Engine.open({
    dataDirectory: directory,
    workers: 0,
    maintenance: { automatic: false },
  })
  try {
    const view = await ownerGate(engine.catalog)
    const { entry: project } = await view.findOrCreate('project', { name: 'p' })
    const object = { type: 'project_logs', id: project.id } as const
    const insert = async (events: readonly object[]) => {
      const body = Buffer.from(JSON.stringify({ events }))
      await engine.insert({ body, form: 'events', object, view })
    }
    const ask = async (clauses: string): Promise<string> => {
      const query = `from: project_logs('${project.id}') | ${clauses}`
      const { rows } = await engine.query({ query, view, separator: '\n' })
      const chunks: Buffer[] = []
      for await (const { bytes } of rows) chunks.push(Buffer.from(bytes))
      return Buffer.concat(chunks).toString()
    }
    return { engine, insert, ask }
  } catch (thrown) {
    await engine.close()
    throw thrown
  }
}
