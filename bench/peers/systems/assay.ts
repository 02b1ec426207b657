/** Assay, asked over HTTP: times include the whole answer as JSON. */
import { directorySizes } from '../measure/directory-size.ts'
import { AssayClient } from './assay-client.ts'
import { type AssayOptions, AssayProcess } from './assay-process.ts'
import type { Row, Run, System } from './system.ts'

const projectName = 'peers'

export class Assay implements System {
  readonly layout = 'assay'
  readonly client: AssayClient
  readonly process: AssayProcess
  readonly projectId: string
  readonly #directory: string

  private constructor(parts: {
    client: AssayClient
    process: AssayProcess
    projectId: string
    directory: string
  }) {
    this.client = parts.client
    this.process = parts.process
    this.projectId = parts.projectId
    this.#directory = parts.directory
  }

  /** Starts the service; `connections` is how many requests may be under way at a time. */
  static async start(options: AssayOptions, connections = 1): Promise<Assay> {
    const process = await AssayProcess.start(options)
    const client = new AssayClient({ url: process.url, key: process.key, connections })
    const { id } = await client.postJson('/v1/project', { name: projectName })
    return new Assay({ client, process, projectId: String(id), directory: options.directory })
  }

  /** The query is a whole request, as JSON. */
  async run(query: string): Promise<Run> {
    const begin = performance.now()
    const answer = await this.client.post('/btql', query)
    const ms = performance.now() - begin
    return { ms, rows: () => (JSON.parse(answer.toString()) as { data: Row[] }).data }
  }

  /** The values of gauges that the service tells of itself. */
  async metrics(names: readonly string[]): Promise<number[]> {
    const lines = (await this.client.get('/metrics')).toString().split('\n')
    return names.map((name) => {
      const line = lines.find((text) => text.startsWith(`${name} `))
      if (line === undefined) throw new Error(`the service tells of no ${name}`)
      return Number(line.slice(name.length))
    })
  }

  async size(): Promise<Record<string, number>> {
    return directorySizes(this.#directory)
  }

  async close(): Promise<void> {
    this.client.close()
    await this.process.stop()
  }
}
