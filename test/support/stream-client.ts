import { once } from 'node:events'
import WebSocket from 'ws'
import { type AnyJson, testKey } from './running-service.ts'

export interface Message {
  readonly type: string
  readonly id?: string
  readonly [field: string]: unknown
}

export interface StreamOptions {
  /** Null sends none. */
  readonly key?: string | null
  readonly headers?: Record<string, string>
}

/** A WebSocket of `/btql/stream`, whose messages are taken one after the other. */
export class StreamClient {
  readonly socket: WebSocket
  /** Bytes of each binary message. */
  readonly binary: Buffer[] = []
  readonly #messages: Message[] = []
  #wake: (() => void) | undefined
  #closed: { readonly code: number; readonly reason: string } | undefined

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.binary.push(data)
      else this.#messages.push(JSON.parse(data.toString()) as Message)
      this.#wake?.()
    })
    socket.on('close', (code, reason) => {
      this.#closed = { code, reason: reason.toString() }
      this.#wake?.()
    })
    socket.on('error', () => undefined)
  }

  /** Rejects when the server does not take the connection. */
  static async open(
    service: { readonly url: string },
    options: StreamOptions = {},
  ): Promise<StreamClient> {
    const { key = testKey, headers = {} } = options
    const url = `${service.url.replace('http', 'ws')}/btql/stream`
    const socket = new WebSocket(url, {
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    })
    const client = new StreamClient(socket)
    await once(socket, 'open')
    return client
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Waits for as long as the test may take. */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift()
      if (message) return message
      if (this.#closed) throw new Error(`closed: ${this.#closed.code} ${this.#closed.reason}`)
      await this.#something()
    }
  }

  /** The next message of one of these types; those before it are dropped, but for errors. */
  async until(...types: readonly string[]): Promise<Message> {
    for (;;) {
      const message = await this.next()
      if (types.includes(message.type)) return message
      if (message.type === 'error') throw new Error(JSON.stringify(message))
    }
  }

  /** All messages up to the first of one of these types, which is the last. */
  async all(...types: readonly string[]): Promise<Message[]> {
    const messages = [await this.next()]
    while (!types.includes(messages.at(-1)!.type)) messages.push(await this.next())
    return messages
  }

  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    while (!this.#closed) await this.#something()
    return this.#closed
  }

  /** How many messages have come and were not taken. */
  get waiting(): number {
    return this.#messages.length
  }

  close(): void {
    this.socket.terminate()
  }

  #something(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** The rows of the batches among messages. */
export function rowsOf(messages: readonly Message[]): AnyJson[] {
  return messages.flatMap(({ rows }) => (rows ?? []) as AnyJson[])
}

export interface ServerEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: AnyJson
}

/** The events of an answer as they come; comments are counted. */
export class EventReader {
  comments = 0
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #text = ''

  constructor(response: Response) {
    this.#reader = response.body!.getReader()
  }

  /** Undefined at the end. */
  async next(): Promise<ServerEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        if (!block.startsWith(':')) return parseEvent(block)
        this.comments++
        continue
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += Buffer.from(value).toString()
    }
  }

  async until(name: string): Promise<ServerEvent> {
    for (;;) {
      const event = await this.next()
      if (!event) throw new Error(`the stream ended before ${name}`)
      if (event.event === name) return event
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}

function parseEvent(block: string): ServerEvent {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [name, ...rest] = line.split(': ')
    fields.set(name!, `${fields.get(name!) ?? ''}${rest.join(': ')}`)
  }
  return {
    event: fields.get('event')!,
    id: fields.get('id'),
    data: JSON.parse(fields.get('data')!) as AnyJson,
  }
}
