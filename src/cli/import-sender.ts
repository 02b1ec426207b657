import { AssayError } from '../error.ts'
import type { Client } from './client.ts'
import type { ImportRow } from './import-row.ts'

export interface SenderOptions {
  readonly client: Client
  /** Where the rows go: `/v1/experiment/<id>/insert`. */
  readonly path: string
  readonly onSent: (rows: readonly ImportRow[]) => void
  /** A row that the service refuses. */
  readonly onRefused: (row: ImportRow, reason: string) => void
}

/** A request is sent when it holds this much. A single row may be larger. */
const batchRows = 1000
const batchBytes = 4 * 2 ** 20
const requestsInFlight = 4

/** Gathers rows into requests and keeps several of them in flight. */
export class ImportSender {
  readonly #options: SenderOptions
  #rows: ImportRow[] = []
  #bytes = 0
  readonly #running = new Set<Promise<void>>()
  readonly #idsInFlight = new Set<string>()
  #failure: unknown

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Waits while enough is in flight. Throws what made a request fail for good. */
  async add(row: ImportRow): Promise<void> {
    // Requests may overtake each other, so a later row of a record waits for the earlier one.
    if (this.#idsInFlight.has(row.id)) await this.#settle()
    if (this.#rows.length > 0 && this.#bytes + row.bytes.length > batchBytes) await this.#send()
    this.#rows.push(row)
    this.#bytes += row.bytes.length
    if (this.#rows.length >= batchRows) await this.#send()
  }

  /** Sends what is left and waits until everything has been answered. More may be added then. */
  async finish(): Promise<void> {
    if (this.#rows.length > 0) await this.#send()
    await this.#settle()
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#running)
    this.#throwFailure()
  }

  async #send(): Promise<void> {
    while (this.#running.size >= requestsInFlight) await Promise.race(this.#running)
    this.#throwFailure()
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    for (const { id } of rows) this.#idsInFlight.add(id)
    const request = this.#post(rows)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => {
        for (const { id } of rows) this.#idsInFlight.delete(id)
        this.#running.delete(request)
      })
    this.#running.add(request)
  }

  /** Posts rows; leaves out the ones that the service refuses, and tells which they are. */
  async #post(rows: ImportRow[]): Promise<void> {
    if (rows.length === 0) return
    try {
      await this.#options.client.postWithRetries(this.#options.path, encode(rows))
      this.#options.onSent(rows)
    } catch (error) {
      if (!(error instanceof AssayError) || !isAboutRows(error)) throw error
      const refused = rows.length === 1 ? 0 : indexIn(error.path)
      if (refused !== undefined && refused < rows.length) {
        this.#options.onRefused(rows[refused]!, reasonOf(error))
        await this.#post(rows.toSpliced(refused, 1))
      } else {
        const middle = rows.length >> 1
        await this.#post(rows.slice(0, middle))
        await this.#post(rows.slice(middle))
      }
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

function isAboutRows({ code, status }: AssayError): boolean {
  return code.startsWith('REQUEST_') && (status === 400 || status === 413)
}

/** The row that `events[3].tags` is of. */
function indexIn(path: string | undefined): number | undefined {
  const index = path?.match(/^events\[(\d+)\]/)?.[1]
  return index === undefined ? undefined : Number(index)
}

/** Without the row's place in the request, which says nothing to whoever reads it. */
function reasonOf({ message }: AssayError): string {
  return message.replace(/events\[\d+\]\.?/g, '').trim()
}

function encode(rows: readonly ImportRow[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('{"events":[')]
  rows.forEach(({ bytes }, index) => {
    if (index > 0) parts.push(Buffer.from(','))
    parts.push(bytes)
  })
  parts.push(Buffer.from(']}'))
  return Buffer.concat(parts)
}
