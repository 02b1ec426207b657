import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'
import {
  type PrepareOptions,
  prepareRows,
  prepareTogether,
} from '../../src/storage/prepare/prepare.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { type ObjectConstants, type RowView, writeRow } from '../../src/storage/row/row.ts'
import { RecordWriter, type WriteOutcome } from '../../src/storage/write/record-writer.ts'

/** A new directory that is gone after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'assay-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Project logs with id `P`: the object that test rows are in, unless they say otherwise. */
export const logs: ObjectConstants = {
  type: 'project_logs',
  id: 'P',
  projectId: 'P',
  organizationId: 'O',
}

/** A record store in a temporary directory, written to in this thread. */
export class TemporaryRecords {
  readonly directory = temporaryDirectory()
  readonly environment: RecordsEnvironment = openRecords(this.directory, { readOnly: false })
  readonly reader = new RecordReader(this.environment)
  readonly writer: RecordWriter
  #requests = 0

  constructor(now: () => number = Date.now) {
    // Requests of four records or more are written as large ones are.
    this.writer = new RecordWriter(this.environment, { now, runIds: 4 })
    onTestFinished(() => this.environment.root.close())
  }

  /** Removes everything now, for tests that make many. */
  close(): void {
    void this.environment.root.close()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** Writes the rows to the project logs `P`, object 1, in one request. */
  insert(rows: readonly object[], object = 1, lent?: readonly SharedArrayBuffer[]): WriteOutcome {
    const body = Buffer.from(JSON.stringify({ events: rows }))
    return this.insertText(body, object, lent)
  }

  insertText(body: Uint8Array, object = 1, lent?: readonly SharedArrayBuffer[]): WriteOutcome {
    const rows = prepareRows(body, this.#options())
    return this.writer.write([{ rows, objectNumbers: [object], ...(lent && { lent }) }])[0]!
  }

  /** Writes requests as many small ones are that come at the same time. */
  insertTogether(requests: readonly (readonly object[])[], object = 1): WriteOutcome {
    const options = this.#options()
    const { rows } = prepareTogether(
      requests.map((events) => ({ body: Buffer.from(JSON.stringify({ events })), options })),
    )
    return this.writer.write([{ rows, objectNumbers: rows.objects.map(() => object) }])[0]!
  }

  #options(): PrepareOptions {
    return {
      form: 'events',
      object: { type: 'project_logs', id: 'P' },
      nowMs: Date.UTC(2026, 0, 1),
      // Every other time rows are written in blocks of a few, as those of large requests are.
      ...(this.#requests++ % 2 === 1 && { blockLimits: { bytes: 800, worthwhileBytes: 0 } }),
    }
  }

  /** The current version of a record as `select: *` shows it. */
  latest(id: string, object = 1): Record<string, unknown> | undefined {
    const found = this.reader.latest(object, id)
    return found && (JSON.parse(printRow(found.view)) as Record<string, unknown>)
  }
}

export function printRow(view: RowView, object: ObjectConstants = logs): string {
  const out = new ByteWriter()
  writeRow(view, object, out)
  return out.view().toString()
}
