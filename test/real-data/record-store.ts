import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Gate } from '../../src/access/gate.ts'
import { Engine } from '../../src/engine.ts'
import type { ObjectReference } from '../../src/type/record.ts'

export interface AskOptions {
  readonly useColumnstore: boolean
  readonly tzOffset?: number
  readonly version?: string
}

/** An engine with workers on a directory of its own, with one project, seen by one owner. */
export class RecordStore {
  readonly engine: Engine
  readonly projectId: string
  readonly #gate: Gate
  readonly #directory: string

  private constructor(engine: Engine, gate: Gate, projectId: string, directory: string) {
    this.engine = engine
    this.projectId = projectId
    this.#gate = gate
    this.#directory = directory
  }

  static async open(): Promise<RecordStore> {
    const directory = await mkdtemp(join(tmpdir(), 'assay-real-data-'))
    const engine = await Engine.open({ dataDirectory: directory, workers: 2 })
    const organization = await engine.catalog.createOrganization('test')
    const user = await engine.catalog.createUser(organization.id, 'owner')
    const principal = { userId: user.id, organizationId: organization.id, keyId: 'none' }
    const gate = new Gate(engine.catalog, principal)
    const { entry: project } = await gate.findOrCreateProject({ name: 'real data' })
    return new RecordStore(engine, gate, project.id, directory)
  }

  async createExperiment(name: string): Promise<string> {
    const given = { project_id: this.projectId, name }
    const { entry } = await this.#gate.findOrCreateExperiment(given)
    return entry.id
  }

  /** Writes the records in one request, and returns its transaction. */
  async insert(object: ObjectReference, events: readonly object[]): Promise<string> {
    const body = Buffer.from(JSON.stringify({ events }))
    const { transactionId } = await this.engine.insert({
      body,
      form: 'events',
      object,
      view: this.#gate,
    })
    return transactionId
  }

  async ask(query: string, options: AskOptions): Promise<unknown[]> {
    const { rows } = await this.engine.query({
      query,
      view: this.#gate,
      useColumnstore: options.useColumnstore,
      separator: '\n',
      ...(options.tzOffset !== undefined && { tzOffset: options.tzOffset }),
      ...(options.version !== undefined && { version: options.version }),
    })
    const answer: unknown[] = []
    for await (const { rowCount, bytes } of rows) {
      const texts = Buffer.from(bytes).toString('utf8').split('\n')
      if (rowCount > 0) answer.push(...texts.map((text) => JSON.parse(text)))
    }
    return answer
  }

  async close(): Promise<void> {
    await this.engine.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
