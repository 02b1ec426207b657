/** Reads the records of an object of another service, page by page. Numbers keep their texts. */
import { AssayError } from '../error.ts'
import { isJsonObject, parseExactJson, writeExactJson } from '../type/exact-json.ts'
import type { Client } from './client.ts'
import type { ImportSource, Line } from './import-source.ts'

const pageRows = 1000

const types = ['experiment', 'project_logs', 'dataset', 'playground_logs'] as const

export class RemoteSource implements ImportSource {
  readonly label: string
  readonly name: string
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
      const { data } = await this.#ask(query)
      const [row]: readonly unknown[] = Array.isArray(data) ? data : []
      const n = isJsonObject(row) ? row.n : undefined
      return typeof n === 'number' ? n : undefined
    } catch (error) {
      if (error instanceof AssayError && error.status === 400) return undefined
      throw error
    }
  }

  /** The last line of a page has the position of the next: how many there were, and its cursor. */
  async *lines(from: string | undefined, onRead: (rows: number) => void): AsyncGenerator<Line> {
    const [, read = '0', start] = from?.match(/^(\d+):(.*)$/) ?? []
    let number = Number(read)
    let cursor: string | undefined = start
    onRead(number)
    do {
      const at = cursor === undefined ? '' : ` | cursor: '${cursor}'`
      const answer = await this.#ask(`select: * | from: ${this.#from} | limit: ${pageRows}${at}`)
      if (!Array.isArray(answer.data)) {
        throw new AssayError('COMMAND_FAILED', `${this.#client.url} answered without "data"`)
      }
      const rows: readonly unknown[] = answer.data
      const next = typeof answer.cursor === 'string' ? answer.cursor : undefined
      if (next !== undefined && next === cursor) {
        throw new AssayError('COMMAND_FAILED', `${this.#client.url} gave the same page twice`)
      }
      cursor = rows.length === 0 ? undefined : next
      onRead(rows.length)
      for (const [i, row] of rows.entries()) {
        const line = { number: ++number, bytes: Buffer.from(recordText(row)) }
        const isLast = i === rows.length - 1 && cursor !== undefined
        yield isLast ? { ...line, position: `${number}:${cursor}` } : line
      }
    } while (cursor !== undefined)
  }

  async #ask(query: string): Promise<{ readonly [field: string]: unknown }> {
    const text = await this.#client.postForText('/btql', JSON.stringify({ query, fmt: 'json' }))
    const answer = parseExactJson(text)
    return isJsonObject(answer) ? answer : {}
  }
}

/** Nulls are what is not there. */
function recordText(row: unknown): string {
  if (!isJsonObject(row)) return writeExactJson(row)
  const fields = Object.entries(row).filter(([, value]) => value !== null)
  return writeExactJson(Object.fromEntries(fields))
}
