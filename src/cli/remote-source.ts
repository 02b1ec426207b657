/** Reads the records of an object of another service, page by page. */
import { AssayError } from '../error.ts'
import { type BadLine, type FileRecord, reasonOf } from '../import/file-record.ts'
import { readRecord } from '../import/json-records.ts'
import { JsonScanner } from '../json/scan.ts'
import type { Client } from './client.ts'
import type { ImportSource, SourceRecord } from './import-source.ts'

const pageRows = 1000

const types = ['experiment', 'project_logs', 'dataset', 'playground_logs'] as const

export class RemoteSource implements ImportSource {
  readonly label: string
  readonly name: string
  readonly unit = 'record'
  readonly isTable = false
  readonly identity: readonly string[]
  readonly #client: Client
  readonly #from: string

  /** @param given an object as `experiment:<id>` */
  constructor(client: Client, given: string) {
    const [, type, id] = given.match(/^(\w+):(.+)$/) ?? []
    if (id === undefined || !types.some((known) => known === type)) {
      throw new AssayError(
        'COMMAND_INVALID',
        `"${given}" is no object of another service; give ${types.map((name) => `${name}:<id>`).join(', ')}`,
      )
    }
    this.#client = client
    this.label = given
    this.name = given
    this.identity = [client.url, given]
    this.#from = `${type}('${id.replace(/['\\]/g, '\\$&')}')`
  }

  /** How many records there are; undefined when the other service does not say. */
  async size(): Promise<number | undefined> {
    try {
      const query = `measures: count(1) as n | from: ${this.#from}`
      const [row] = (await this.#ask(query)).rows ?? []
      const n = row && Number(readRecord(row, 1).values.get('n'))
      return Number.isSafeInteger(n) ? n : undefined
    } catch (error) {
      if (error instanceof AssayError && error.status === 400) return undefined
      throw error
    }
  }

  /** The last record of a page has the position of the next: how many there were, and its cursor. */
  async *records(
    from: string | undefined,
    onRead: (rows: number) => void,
  ): AsyncGenerator<SourceRecord> {
    const [, read = '0', start] = from?.match(/^(\d+):(.*)$/) ?? []
    let number = Number(read)
    let cursor: string | undefined = start
    onRead(number)
    do {
      const at = cursor === undefined ? '' : ` | cursor: '${cursor}'`
      const page = await this.#ask(`select: * | from: ${this.#from} | limit: ${pageRows}${at}`)
      const { rows } = page
      if (!rows) {
        throw new AssayError('COMMAND_FAILED', `${this.#client.url} answered without "data"`)
      }
      if (page.cursor !== undefined && page.cursor === cursor) {
        throw new AssayError('COMMAND_FAILED', `${this.#client.url} gave the same page twice`)
      }
      cursor = rows.length === 0 ? undefined : page.cursor
      onRead(rows.length)
      for (const [i, row] of rows.entries()) {
        const record = recordOf(row, ++number)
        const isLast = i === rows.length - 1 && cursor !== undefined
        yield isLast ? { record, position: `${number}:${cursor}` } : { record }
      }
    } while (cursor !== undefined)
  }

  async #ask(query: string): Promise<Page> {
    const text = await this.#client.postForText('/btql', JSON.stringify({ query, fmt: 'json' }))
    return readPage(Buffer.from(text))
  }
}

interface Page {
  /** Each as the JSON that came, with all its digits. */
  readonly rows: readonly Buffer[] | undefined
  readonly cursor: string | undefined
}

function readPage(bytes: Buffer): Page {
  const scanner = new JsonScanner(bytes)
  let rows: Buffer[] | undefined
  let cursor: string | undefined
  if (!scanner.openObject()) return { rows, cursor }
  while (scanner.nextMember()) {
    const name = bytes.toString('utf8', scanner.keyStart, scanner.keyEnd)
    if (name === '"data"' && scanner.openArray()) {
      rows = []
      while (scanner.nextElement()) rows.push(bytes.subarray(scanner.value(), scanner.position))
    } else {
      const value = bytes.toString('utf8', scanner.value(), scanner.position)
      if (name === '"cursor"' && value.startsWith('"')) cursor = JSON.parse(value) as string
    }
  }
  return { rows, cursor }
}

function recordOf(row: Buffer, line: number): FileRecord | BadLine {
  try {
    // Without its text, so that it is written anew without nulls, which are what is not there.
    const { values } = readRecord(row, line)
    return { line, values }
  } catch (error) {
    return { line, fault: reasonOf(error) }
  }
}
