/**
 * A client of the fault run, whose answers are known beforehand: each of its inserts writes the same records with the next
 * number. Whoever it asks, home or query node, it has to see its last write, at a version of an earlier one that one, and
 * never a part of one. Keys that were withdrawn must open nothing any more.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { RandomChoice } from '../support/random-choice.ts'

/** Written by each insert. */
const records = 10
const askMs = 20_000
/** What reads on with a key that is known to be withdrawn has to end. */
const endMs = 3000

/** Said by services that cannot answer: one that is not as far, has lost its home, or whose cluster does not answer. */
const clearStatuses = new Set([429, 502, 503, 504])

export interface OwnWritesOptions {
  /** Of all services, as they are: the home first. */
  readonly urls: () => readonly string[]
  readonly key: string
  readonly project: string
  readonly choice: RandomChoice
  readonly isOver: () => boolean
}

interface Written {
  readonly number: number
  readonly version: string
}

interface Asked {
  readonly body?: object
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly key?: string
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: Record<string, unknown>
}

export class OwnWrites {
  readonly #options: OwnWritesOptions
  readonly #written: Written[] = []
  #number = 0
  /** Of inserts that were not answered: they may be done later than the next. */
  readonly #unknown = new Set<number>()
  reads = 0
  wrong = 0
  withdrawn = 0
  /** How often, by code. */
  readonly refused = new Map<string, number>()

  constructor(options: OwnWritesOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    await Promise.all([this.#writeAndRead(), this.#withdraw()])
  }

  async #writeAndRead(): Promise<void> {
    const { choice, isOver, project } = this.#options
    while (!isOver()) {
      await wait(choice.below(100))
      const number = ++this.#number
      const events = Array.from({ length: records }, (_, i) => ({
        id: `w${i}`,
        metadata: { n: number },
      }))
      const path = `/v1/project_logs/${project}/insert`
      const answer = await this.#ask(this.#anyUrl(), path, { body: { events } })
      if (!this.#isAnswered(answer, 'an insert')) {
        this.#unknown.add(number)
        continue
      }
      const version = answer.headers.get('x-bt-xact-id')!
      this.#written.push({ number, version })
      const headers = { 'x-bt-xact-id': version }
      await this.#read(number, undefined, headers)
      const earlier = choice.pick(this.#written)
      await this.#read(earlier.number, earlier.version, headers)
    }
  }

  /** @param version undefined: as it is now */
  async #read(
    number: number,
    version: string | undefined,
    headers: Record<string, string>,
  ): Promise<void> {
    const url = this.#anyUrl()
    const query = `from: project_logs('${this.#options.project}') | measures: count(1) as n, min(metadata.n) as least, max(metadata.n) as most`
    const answer = await this.#ask(url, '/btql', { body: { query, version }, headers })
    if (!this.#isAnswered(answer, 'a read')) return
    this.reads++
    const [found] = answer.json.data as { n: number; least: number; most: number }[]
    const { n, least, most } = found!
    const isWhole = n === records && least === most
    if (isWhole && (least === number || (!version && this.#unknown.has(least)))) return
    this.#note(`${url} has ${JSON.stringify(found)} of ${number}, at ${version ?? 'the end'}`)
  }

  /** A key is given, reads as its records change, and is withdrawn: whoever knows of that ends what it reads. */
  async #withdraw(): Promise<void> {
    const { choice, isOver, urls, project } = this.#options
    const query = { query: `select: id | from: project_logs('${project}')`, live: true }
    while (!isOver()) {
      await wait(1000 + choice.below(2000))
      const [home] = urls()
      const issued = await this.#ask(home!, '/v1/api_key', { body: { name: 'short' } })
      if (issued?.status !== 200) continue
      const key = String(issued.json.key)
      const url = this.#anyUrl()
      const headers = positionIn(issued.headers)
      const stream = await this.#stream(url, { body: query, key, headers })
      const path = `/v1/api_key/${String(issued.json.id)}`
      const removed = await this.#ask(home!, path, { method: 'DELETE' })
      if (removed?.status === 200 && stream) {
        await this.#expectClosed(url, key, positionIn(removed.headers), stream)
      }
      await stream?.body?.cancel().catch(() => undefined)
    }
  }

  async #expectClosed(
    url: string,
    key: string,
    headers: Record<string, string>,
    stream: Response,
  ): Promise<void> {
    const ended = endOf(stream)
    const query = `select: id | from: project_logs('${this.#options.project}') | limit: 1`
    const answer = await this.#ask(url, '/btql', { body: { query }, key, headers })
    if (answer?.status === 200) this.#note(`${url} takes a key that was withdrawn`)
    if (answer?.status !== 401) return
    this.withdrawn++
    const isEnded = await Promise.race([ended, wait(endMs, false)])
    if (!isEnded) this.#note(`${url} goes on reading for a key that was withdrawn`)
  }

  /** Undefined where nobody answers. */
  async #ask(url: string, path: string, asked: Asked): Promise<Answer | undefined> {
    try {
      const response = await this.#fetch(url + path, asked, AbortSignal.timeout(askMs))
      const text = await response.text()
      const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
      return { status: response.status, headers: response.headers, json }
    } catch {
      return undefined
    }
  }

  async #stream(url: string, asked: Asked): Promise<Response | undefined> {
    try {
      const response = await this.#fetch(`${url}/btql/stream`, asked)
      if (response.ok) return response
      await response.body?.cancel()
    } catch {
      // It was killed just now.
    }
    return undefined
  }

  #fetch(url: string, { body, key, headers, ...asked }: Asked, signal?: AbortSignal) {
    return fetch(url, {
      method: asked.method ?? (body ? 'POST' : 'GET'),
      headers: { authorization: `Bearer ${key ?? this.#options.key}`, ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  }

  /** False of one that failed, which has to say so. */
  #isAnswered(answer: Answer | undefined, what: string): answer is Answer {
    if (answer?.status === 200) return true
    const { status, json } = answer ?? { status: 503, json: { error: { code: 'no answer' } } }
    const code = String((json.error as { code?: string } | undefined)?.code)
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1)
    if (!clearStatuses.has(status) || json.error === undefined) {
      this.#note(`${what} failed with ${status}: ${JSON.stringify(json).slice(0, 300)}`)
    }
    return false
  }

  #anyUrl(): string {
    return this.#options.choice.pick(this.#options.urls())
  }

  #note(what: string): void {
    this.wrong++
    console.log(`wrong: ${what}`)
  }
}

function positionIn(headers: Headers): Record<string, string> {
  return { 'x-bt-catalog-position': headers.get('x-bt-catalog-position') ?? '' }
}

/** True once the stream has ended, in whatever way. */
async function endOf(response: Response): Promise<true> {
  try {
    for await (const _ of response.body!);
  } catch {
    // It was broken off.
  }
  return true
}
