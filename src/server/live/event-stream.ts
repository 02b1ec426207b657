/** Messages as server-sent events: the body of an answer that stays open. */
import { aroundRows, type MessageSink, type StreamMessage } from './message.ts'

/** Proxies and clients take a connection on which nothing comes for dead, and uWS after ten seconds. */
const heartbeatMs = 5000

/** Rows wait for those before them while more than this has not left. */
const highWater = 256 * 1024

const heartbeat = Buffer.from(': \n\n')

export class EventStream implements MessageSink, AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #isEnded = false
  #wake: (() => void) | undefined
  readonly #taken: (() => void)[] = []

  send(message: StreamMessage): void {
    this.#push(Buffer.from(`${headOf(message)}${JSON.stringify(message)}\n\n`))
  }

  sendRows(message: StreamMessage, rows: Uint8Array): Promise<void> {
    const { head, tail } = aroundRows(message)
    // A line of an event ends where the text has a line feed; between values, a space is the same.
    const line = Buffer.from(rows)
    for (let i = line.indexOf(lineFeed); i >= 0; i = line.indexOf(lineFeed, i)) line[i] = space
    this.#push(Buffer.from(`${headOf(message)}${head}`), line, Buffer.from(`${tail}\n\n`))
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
      const chunks = this.#chunks
      this.#chunks = []
      this.#bytes = 0
      if (chunks.length > 0) yield Buffer.concat(chunks)
      for (const taken of this.#taken.splice(0)) taken()
      if (this.#chunks.length > 0) continue
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

  #push(...chunks: Buffer[]): void {
    for (const chunk of chunks) {
      this.#chunks.push(chunk)
      this.#bytes += chunk.length
    }
    this.#wake?.()
  }
}

const lineFeed = 10
const space = 32

/** Whoever comes again tells the id of the last event that had one: from there on it goes on. */
function headOf({ type, xact_id }: StreamMessage): string {
  const id = type === 'current' ? `id: ${String(xact_id)}\n` : ''
  return `${id}event: ${type}\ndata: `
}
