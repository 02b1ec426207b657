/** The records of a support assistant in an engine, with what searches know of them. */
import { Engine } from '../../src/engine.ts'
import { Vocabulary } from '../../src/search/vocabulary.ts'
import { ownerGate } from './owner-gate.ts'
import { searchedRecords } from './searched-records.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/** When the searches are asked: a Wednesday at noon. */
export const searchedAt = Date.parse('2026-11-18T12:00:00Z')

export async function openSearchedLogs() {
  const directory = await makeTemporaryDirectory('search')
  const engine = await Engine.open({
    dataDirectory: directory,
    workers: 0,
    now: () => searchedAt,
    maintenance: { automatic: false },
  })
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  const body = Buffer.from(JSON.stringify({ events: searchedRecords(searchedAt) }))
  await engine.insert({
    body,
    form: 'events',
    object: { type: 'project_logs', id: project.id },
    view,
  })
  /** The rows of a query without a source over the logs. */
  const rowsOf = async (clauses: string, shape = ''): Promise<unknown[]> => {
    const query = `${clauses}\nfrom: project_logs('${project.id}') ${shape}`
    const { rows, finish } = await engine.query({ query, view })
    const found: unknown[] = []
    for await (const { bytes } of rows) {
      found.push(...(JSON.parse(`[${Buffer.from(bytes).toString()}]`) as unknown[]))
    }
    finish()
    return found
  }
  const inferred = await rowsOf('infer: *')
  const vocabulary = new Vocabulary(inferred as ConstructorParameters<typeof Vocabulary>[0])
  return { vocabulary, rowsOf, close: () => engine.close() }
}
