/** Clients that write, read and listen at random, and note what they did. */
import { setTimeout as wait } from 'node:timers/promises'
import type { RandomChoice } from '../random-choice.ts'
import { type AnyJson, testKey } from '../running-service.ts'
import { StreamClient } from '../stream-client.ts'
import type {
  Change,
  Fields,
  Group,
  Question,
  Read,
  Round,
  Row,
  Stream,
  Write,
} from './operation.ts'
import type { RestartingService } from './restarting-service.ts'

const idsPerObject = 40
const kinds = 4

/** What the clients of one history share. */
export interface World {
  readonly service: RestartingService
  readonly objects: readonly string[]
  readonly now: () => number
  readonly writes: Write[]
  readonly reads: Read[]
  readonly streams: Stream[]
  /** Transactions that were acknowledged: versions to ask for. */
  readonly versions: string[]
  /** Answers that nobody may get. */
  readonly failures: string[]
  isOver: boolean
}

/** What a lost connection leaves: no answer. */
const lost = Symbol('lost')

export class HistoryClient {
  readonly #world: World
  readonly #number: number
  readonly #random: RandomChoice

  constructor(world: World, number: number, random: RandomChoice) {
    this.#world = world
    this.#number = number
    this.#random = random
  }

  async run(): Promise<void> {
    while (!this.#world.isOver) {
      if (this.#random.below(3) === 0) await this.write()
      else await this.#read()
    }
  }

  async write(objects: readonly string[] = this.#someObjects()): Promise<void> {
    const { now, writes, versions } = this.#world
    const number = writes.length
    const changes = this.#changes(objects)
    const begin = now()
    const place =
      writes.push({
        client: this.#number,
        begin,
        end: Infinity,
        number,
        changes,
        outcome: 'unknown',
      }) - 1
    const answer = await this.#ask('/logs3', { rows: changes.map((one) => rowOf(one, number)) })
    if (answer === lost) return
    const transaction = answer?.xact_id
    const outcome = typeof transaction === 'string' ? { transaction } : 'refused'
    writes[place] = { ...writes[place]!, end: now(), outcome }
    if (typeof transaction === 'string') versions.push(transaction)
  }

  async #read(): Promise<void> {
    const { versions, reads, now } = this.#world
    const objects = this.#someObjects()
    const question = this.#question()
    // Mostly of lately, where something may be under way; now and then of long ago.
    const back = this.#random.below(2) === 0 ? this.#random.below(5) : this.#random.below(1e9)
    const version =
      this.#random.below(3) === 0 ? versions.at(-1 - (back % (versions.length || 1))) : undefined
    const begin = now()
    const answer = await this.#ask('/btql', {
      query: queryOf(objects, question),
      ...(version !== undefined && { version }),
      ...(this.#random.below(4) === 0 && { use_columnstore: this.#random.below(2) === 0 }),
    })
    if (answer === lost || answer === undefined) return
    const rows = answerOf(question, answer.data as unknown as AnyJson[])
    reads.push({
      client: this.#number,
      begin,
      end: now(),
      objects,
      question,
      ...(version !== undefined && { version }),
      answer: rows,
    })
  }

  /** Undefined when the service refused it for now. */
  async #ask(path: string, body: object): Promise<AnyJson | undefined | typeof lost> {
    const url = await this.#world.service.url
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}` },
        body: JSON.stringify(body),
      })
      const text = await response.text()
      if (response.status === 200) return JSON.parse(text) as AnyJson
      if (response.status !== 429 && response.status !== 503) {
        this.#world.failures.push(`${path}: ${response.status}: ${text.slice(0, 300)}`)
      }
      return undefined
    } catch {
      await wait(20)
      return lost
    }
  }

  #changes(objects: readonly string[]): Change[] {
    const random = this.#random
    const changes = new Map<string, Change>()
    for (let count = 1 + random.below(random.below(10) === 0 ? 30 : 4); count > 0; count--) {
      const object = random.pick(objects)
      const id = `r${random.below(idsPerObject)}`
      const action =
        changes.size === 0
          ? random.pick(['set', 'merge'] as const)
          : random.pick(['set', 'set', 'merge', 'merge', 'delete'] as const)
      changes.set(`${object}/${id}`, { object, id, action, fields: this.#fields() })
    }
    // A record that came twice is where it came first, with an action that may be a deletion.
    const [first, ...others] = [...changes.values()]
    return [first!.action === 'delete' ? { ...first!, action: 'set' } : first!, ...others]
  }

  #fields(): Fields {
    const random = this.#random
    return {
      ...(random.below(3) > 0 && { kind: random.below(kinds) }),
      ...(random.below(3) > 0 && { size: random.below(100) }),
      ...(random.below(3) === 0 && { [`f${random.below(5)}`]: random.below(10) }),
    }
  }

  #question(): Question {
    const random = this.#random
    const pages = this.#world.reads.at(-1)?.answer.at(-1)
    switch (random.below(6)) {
      case 0:
        return { kind: 'groups' }
      case 1:
        return { kind: 'rows', id: `r${random.below(idsPerObject)}` }
      case 2:
        return { kind: 'rows', least: random.below(100) }
      case 3: {
        const after = pages && 'paginationKey' in pages ? pages.paginationKey : undefined
        return { kind: 'rows', limit: 1 + random.below(10), ...(after && { after }) }
      }
      default:
        return { kind: 'rows' }
    }
  }

  #someObjects(): readonly string[] {
    const { objects } = this.#world
    const random = this.#random
    return random.below(3) === 0 ? objects : [random.pick(objects)]
  }
}

function rowOf({ object, id, action, fields }: Change, write: number): object {
  const named = { experiment_id: object, id }
  if (action === 'delete') return { ...named, _object_delete: true }
  return { ...named, write, metadata: fields, ...(action === 'merge' && { _is_merge: true }) }
}

function queryOf(objects: readonly string[], question: Question): string {
  const from = `from: experiment(${objects.map((id) => `'${id}'`).join(', ')})`
  if (question.kind === 'groups') {
    return `dimensions: metadata.kind as kind | measures: count(1) as count, sum(metadata.size) as sum | ${from}`
  }
  const { id, least, after, limit } = question
  const conditions = [
    ...(id === undefined ? [] : [`id = '${id}'`]),
    ...(least === undefined ? [] : [`metadata.size >= ${least}`]),
    ...(after === undefined ? [] : [`_pagination_key < '${after}'`]),
  ]
  return [
    'select: experiment_id, id, _xact_id, _pagination_key, write, metadata',
    from,
    ...(conditions.length === 0 ? [] : [`filter: ${conditions.join(' and ')}`]),
    ...(limit === undefined ? [] : [`limit: ${limit}`]),
  ].join(' | ')
}

function answerOf(question: Question, data: readonly AnyJson[]): Row[] | Group[] {
  if (question.kind === 'groups') return data as unknown as Group[]
  return data.map((row) => ({
    object: String(row.experiment_id),
    id: String(row.id),
    transaction: String(row._xact_id),
    paginationKey: String(row._pagination_key),
    write: Number(row.write),
    metadata: (row.metadata ?? {}) as unknown as Fields,
  }))
}

/** A live query that is asked again from where it was when its connection is lost. */
export class HistoryListener {
  readonly #world: World
  readonly #objects: readonly string[]
  readonly #question: Question
  readonly #rounds: Round[] = []
  #client: StreamClient | undefined
  #isOver = false

  constructor(world: World, objects: readonly string[], question: Question) {
    this.#world = world
    this.#objects = objects
    this.#question = question
    world.streams.push({ objects, question, rounds: this.#rounds })
  }

  /** Up to where it was told everything. */
  get transaction(): string {
    return this.#rounds.at(-1)?.transaction ?? ''
  }

  async run(): Promise<void> {
    while (!this.#isOver) await this.#listen().catch(() => wait(20))
  }

  stop(): void {
    this.#isOver = true
    this.#client?.close()
  }

  async #listen(): Promise<void> {
    const url = await this.#world.service.url
    const client = await StreamClient.open({ url })
    this.#client = client
    if (this.#isOver) client.close()
    const since = this.transaction
    const query = queryOf(this.#objects, this.#question)
    client.send({ query, live: true, ...(since !== '' && { since }) })
    let isWhole = since === ''
    let data: AnyJson[] = []
    let removed: { object: string; id: string }[] = []
    for (;;) {
      const message = await client.next()
      // Of groups and the like, whoever asks anew gets all of them first.
      if (message.type === 'schema' && (message.replaces === true || message.live === 'answer')) {
        isWhole = true
        data = []
        removed = []
      }
      if (message.type === 'batch') data.push(...(message.rows as AnyJson[]))
      if (message.type === 'removed') {
        const object = String(message.object_id)
        removed.push(...(message.ids as string[]).map((id) => ({ object, id })))
      }
      if (message.type === 'error') {
        if (message.status !== 503) this.#world.failures.push(JSON.stringify(message))
        client.close()
        return
      }
      if (message.type !== 'current') continue
      const transaction = String(message.xact_id)
      const answer = answerOf(this.#question, data)
      this.#rounds.push({ end: this.#world.now(), transaction, isWhole, answer, removed })
      isWhole = false
      data = []
      removed = []
    }
  }
}
