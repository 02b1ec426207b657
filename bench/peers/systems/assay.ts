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

  /** What a query records about itself. */
  async audit(clauses: string): Promise<readonly Row[]> {
    const query = `${clauses}\nfrom: project_logs('${this.projectId}')`
    const answer = await this.client.postJson('/btql', { query, audit_log: true })
    return answer.audit_log as Row[]
  }

  async size(): Promise<Record<string, number>> {
    return directorySizes(this.#directory)
  }

  async close(): Promise<void> {
    this.client.close()
    await this.process.stop()
  }
}
