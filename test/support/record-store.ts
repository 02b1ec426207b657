import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Gate } from '../../src/access/gate.ts'
import { Engine } from '../../src/engine.ts'
import type { ObjectReference } from '../../src/type/record.ts'
import { ownerGate } from './owner-gate.ts'

export interface StoreOptions {
  /** Kept when the store is closed. Without it, a temporary one that is removed. */
  readonly directory?: string
  readonly workers: number
}

export interface AskOptions {
  readonly useColumnstore?: boolean
  readonly tzOffset?: number
  readonly version?: string
}

/** An engine with one project, seen by the owner of the one organization. */
export class RecordStore {
  readonly engine: Engine
  readonly projectId: string
  readonly #gate: Gate
  readonly #temporaryDirectory: string | undefined

  private constructor(engine: Engine, gate: Gate, projectId: string, directory?: string) {
    this.engine = engine
    this.projectId = projectId
    this.#gate = gate
    this.#temporaryDirectory = directory
  }

  static async open({ directory, workers }: StoreOptions): Promise<RecordStore> {
    const temporary = directory === undefined && (await mkdtemp(join(tmpdir(), 'assay-test-')))
    const dataDirectory = directory ?? (temporary as string)
    const engine = await Engine.open({ dataDirectory, workers })
    const gate = await ownerGate(engine.catalog)
    const { entry: project } = await gate.findOrCreate('project', { name: 'records' })
    return new RecordStore(engine, gate, project.id, temporary || undefined)
  }

  async createExperiment(name: string): Promise<string> {
    const given = { project_id: this.projectId, name }
    const { entry } = await this.#gate.findOrCreate('experiment', given)
    return entry.id
  }

  /** Writes `{"events":[…]}` in one request, and returns its transaction. */
  async insert(object: ObjectReference, body: Uint8Array): Promise<string> {
    const request = { body, form: 'events', object, view: this.#gate } as const
    const { transactionId } = await this.engine.insert(request)
    return transactionId
  }

  /** Runs a query and returns its rows as JSON lines, in chunks as they came. */
  async askBytes(query: string, options: AskOptions = {}): Promise<Uint8Array[]> {
    const { rows } = await this.engine.query({
      query,
      view: this.#gate,
      separator: '\n',
      useColumnstore: options.useColumnstore ?? false,
      ...(options.tzOffset !== undefined && { tzOffset: options.tzOffset }),
      ...(options.version !== undefined && { version: options.version }),
    })
    const chunks: Uint8Array[] = []
    for await (const { rowCount, bytes } of rows) if (rowCount > 0) chunks.push(bytes)
    return chunks
  }

  async ask(query: string, options: AskOptions = {}): Promise<unknown[]> {
    return parseRows(await this.askBytes(query, options))
  }

  async close(): Promise<void> {
    await this.engine.close()
    if (this.#temporaryDirectory !== undefined) {
      await rm(this.#temporaryDirectory, { recursive: true, force: true })
    }
  }
}

export function parseRows(chunks: readonly Uint8Array[]): unknown[] {
  return chunks.flatMap((bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      .toString('utf8')
      .split('\n')
      .map((text) => JSON.parse(text)),
  )
}
