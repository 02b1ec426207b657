/** Messages as server-sent events: the body of an answer that stays open. */
import { aroundRows, type MessageSink, type StreamMessage } from './message.ts'

/** Proxies and clients take a connection on which nothing comes for dead, and uWS after ten seconds. */
const heartbeatMs = 5000

/** Rows wait for those before them while more than this has not left. */
const highWater = 256 * 1024

/** Leaves at a time, as what is longer would hold others up. */
const chunkBytes = 2 ** 20

const heartbeat = Buffer.from(': \n\n')

interface Part {
  readonly bytes: Uint8Array
  /** Whether line feeds in it become spaces once it leaves. */
  readonly isRows: boolean
}

export class EventStream implements MessageSink, AsyncIterable<Uint8Array> {
  /** Those that have not left. */
  #parts: Part[] = []
  /** Of them. */
  #bytes = 0
  #isEnded = false
  #wake: (() => void) | undefined
  readonly #taken: (() => void)[] = []

  send(message: StreamMessage): void {
    this.#push(`${headOf(message)}${JSON.stringify(message)}\n\n`)
    this.#wake?.()
  }

  sendRows(message: StreamMessage, rows: Uint8Array): Promise<void> {
    const { head, tail } = aroundRows(message)
    this.#push(`${headOf(message)}${head}`)
    this.#parts.push({ bytes: rows, isRows: true })
    this.#bytes += rows.length
    this.#push(`${tail}\n\n`)
    this.#wake?.()
    if (this.#bytes <= highWater) return Promise.resolve()
    return new Promise((resolve) => this.#taken.push(resolve))
  }

  sendBytes(): Promise<void> {
    return Promise.reject(new TypeError('events are texts'))
  }

  /** What was sent is all. */
  end(): void {
    this.#isEnded = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (this.#parts.length > 0) yield this.#takeChunk()
      for (const taken of this.#taken.splice(0)) taken()
      if (this.#parts.length > 0) continue
      if (this.#isEnded) return
      if (!(await this.#something())) yield heartbeat
    }
  }

  /** False when nothing has come for as long as a connection may be silent. */
  #something(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(resolve, false), heartbeatMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#settle(resolve, true)
      }
    })
  }

  #settle(resolve: (value: boolean) => void, value: boolean): void {
    this.#wake = undefined
    resolve(value)
  }

  #push(text: string): void {
    const bytes = Buffer.from(text)
    this.#parts.push({ bytes, isRows: false })
    this.#bytes += bytes.length
  }

  #takeChunk(): Buffer {
    const chunks: Uint8Array[] = []
    let length = 0
    while (length < chunkBytes) {
      const part = this.#parts.shift()
      if (!part) break
      const chunk = part.bytes.subarray(0, chunkBytes - length)
      if (chunk.length < part.bytes.length) {
        this.#parts.unshift({ ...part, bytes: part.bytes.subarray(chunk.length) })
      }
      chunks.push(part.isRows ? inOneLine(chunk) : chunk)
      length += chunk.length
    }
    this.#bytes -= length
    return Buffer.concat(chunks)
  }
}

/** A line of an event ends where the text has a line feed; between values, a space is the same. */
function inOneLine(rows: Uint8Array): Buffer {
  const line = Buffer.from(rows)
  for (let i = line.indexOf(lineFeed); i >= 0; i = line.indexOf(lineFeed, i)) line[i] = space
  return line
}

const lineFeed = 10
const space = 32

/** Whoever comes again tells the id of the last event that had one: from there on it goes on. */
function headOf({ type, xact_id }: StreamMessage): string {
  const id = type === 'current' ? `id: ${String(xact_id)}\n` : ''
  return `${id}event: ${type}\ndata: `
}
