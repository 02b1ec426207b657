/**
 * One service, what is written to it, and its backups: a random schedule of both, with a model of what each transaction
 * has left. The service flushes and compacts all the while, and is stopped and killed.
 */

import type { BackupSource } from '../../src/backup/backup-source.ts'
import { ServiceSource } from '../../src/backup/service-source.ts'
import { Client } from '../../src/cli/client.ts'
import { AssayError } from '../../src/error.ts'
import { backUp } from './backups.ts'
import { RestartingService } from './history/restarting-service.ts'
import { RandomChoice } from './random-choice.ts'
import { testKey } from './running-service.ts'

export type ModelRecord = Readonly<Record<string, unknown>>
/** By object, then by id. */
export type Model = ReadonlyMap<string, ReadonlyMap<string, ModelRecord>>

export interface Moment {
  readonly transaction: number
  readonly model: Model
}

export interface HistoryCounts {
  writes: number
  backups: number
  archives: number
  brokenOff: number
  kills: number
  removals: number
  purges: number
}

const idsOfObject = 40

export class BackupHistory {
  readonly moments: Moment[] = []
  readonly counts: HistoryCounts = {
    writes: 0,
    backups: 0,
    archives: 0,
    brokenOff: 0,
    kills: 0,
    removals: 0,
    purges: 0,
  }
  /** Objects that were removed at some time. */
  readonly removed = new Set<string>()
  readonly #service: RestartingService
  readonly #folder: string
  readonly #random: RandomChoice
  readonly #objects = new Map<string, Map<string, ModelRecord>>()
  #project = ''
  #made = 0

  private constructor(service: RestartingService, folder: string, seed: number) {
    this.#service = service
    this.#folder = folder
    this.#random = new RandomChoice(seed)
  }

  /** Runs so many steps, and ends the service. The last step is a backup. */
  static async run(
    program: string,
    places: { readonly directory: string; readonly folder: string },
    seed: number,
    steps: number,
  ): Promise<BackupHistory> {
    const service = new RestartingService(program, places.directory)
    const history = new BackupHistory(service, places.folder, seed)
    try {
      await history.#begin()
      for (let step = 0; step < steps; step++) await history.#step()
      await history.#backUp('backup')
    } finally {
      await service.end('SIGKILL')
    }
    return history
  }

  get final(): Moment {
    return this.moments.at(-1)!
  }

  async #begin(): Promise<void> {
    const { id } = await this.#request('/v1/project', { name: 'p' })
    this.#project = String(id)
    await this.#addObject()
    await this.#addObject()
    await this.#write()
  }

  async #step(): Promise<void> {
    const choice = this.#random.below(21)
    if (choice < 9) await this.#write()
    else if (choice < 11) await this.#backUp('backup')
    else if (choice < 13) await this.#backUp('archive')
    else if (choice < 15) await this.#backUpBeside()
    else if (choice < 17) await this.#breakOff()
    else if (choice < 18) await this.#remove()
    else if (choice < 20) await this.#restart()
    else await this.#purge()
  }

  async #addObject(): Promise<void> {
    const body = { project_id: this.#project, name: `e${this.#made++}` }
    const { id } = await this.#request('/v1/experiment', body)
    this.#objects.set(String(id), new Map())
  }

  async #write(): Promise<void> {
    const [object, records] = this.#random.pick([...this.#objects])
    const isLarge = this.#random.below(5) === 0
    const count = isLarge ? 300 + this.#random.below(300) : 1 + this.#random.below(6)
    const events = new Map<string, Record<string, unknown>>()
    for (let i = 0; i < count; i++) {
      const id = `r${this.#random.below(isLarge ? 1000 : idsOfObject)}`
      events.set(id, this.#event(id))
    }
    await this.#request(`/v1/experiment/${object}/insert`, { events: [...events.values()] })
    for (const [id, event] of events) apply(records, id, event)
    await this.#note()
  }

  #event(id: string): Record<string, unknown> {
    const text = 'word '.repeat(this.#random.below(60)) + this.#random.below(1e6)
    const choice = this.#random.below(6)
    if (choice === 0) return { id, _object_delete: true }
    if (choice === 1)
      return { id, _is_merge: true, metadata: { [`m${this.#random.below(3)}`]: text } }
    return { id, input: text, output: this.#random.below(100), metadata: { m0: text.length } }
  }

  async #note(): Promise<void> {
    this.counts.writes++
    const { transaction } = await (await this.#source()).state(0)
    const model = new Map(
      Array.from(this.#objects, ([object, records]) => [object, new Map(records)] as const),
    )
    this.moments.push({ transaction, model })
  }

  async #remove(): Promise<void> {
    if (this.#objects.size < 2) return this.#addObject()
    const object = this.#random.pick([...this.#objects.keys()])
    await this.#request(`/v1/experiment/${object}`, undefined, 'DELETE')
    this.#objects.delete(object)
    this.removed.add(object)
    this.counts.removals++
    await this.#addObject()
  }

  /** Records leave with all their versions: what was before cannot be restored from later backups. */
  async #purge(): Promise<void> {
    const ids = Array.from({ length: 5 }, () => `r${this.#random.below(idsOfObject)}`)
    const filter = `id in [${ids.map((id) => `'${id}'`).join(', ')}]`
    await this.#request('/v1/delete_person', { project_id: this.#project, filter })
    for (const records of this.#objects.values()) for (const id of ids) records.delete(id)
    this.moments.length = 0
    // Where nothing was removed there is no new transaction, and that of before had another catalog.
    await this.#write()
    this.counts.purges++
  }

  async #restart(): Promise<void> {
    const signal = this.#random.below(3) === 0 ? 'SIGTERM' : 'SIGKILL'
    await this.#service.restart(signal)
    this.counts.kills++
  }

  async #backUp(kind: 'backup' | 'archive'): Promise<void> {
    const isFirst = this.counts.backups === 0
    if (kind === 'archive' && isFirst) return
    const isFull = kind === 'backup' && this.#random.below(5) === 0
    try {
      await backUp(await this.#source(), this.#folder, { kind, isFull })
    } catch (thrown) {
      // No archive goes on from what was before a purge.
      if (kind === 'backup' || !(thrown instanceof AssayError)) throw thrown
      return this.#backUp('backup')
    }
    this.counts[kind === 'backup' ? 'backups' : 'archives']++
  }

  /** A backup while records are written. */
  async #backUpBeside(): Promise<void> {
    let isDone = false
    const taken = this.#backUp('backup').finally(() => {
      isDone = true
    })
    while (!isDone) await this.#write()
    await taken
  }

  /** A backup whose questions are not answered any more at some time. */
  async #breakOff(): Promise<void> {
    let left = this.#random.below(12)
    const source = await this.#source()
    const failing = new Proxy<BackupSource>(source, {
      get:
        (_, name: keyof BackupSource) =>
        (...values: readonly unknown[]) => {
          if (left-- <= 0) throw new Error('gone')
          return (source[name] as (...values: readonly unknown[]) => unknown).apply(source, [
            ...values,
          ])
        },
    })
    const taken = await backUp(failing, this.#folder).then(
      () => true,
      (error: Error) => {
        if (error.message !== 'gone') throw error
        return false
      },
    )
    this.counts[taken ? 'backups' : 'brokenOff']++
  }

  async #source(): Promise<ServiceSource> {
    return new ServiceSource(new Client({ url: await this.#service.url, key: testKey }))
  }

  async #request(path: string, body?: object, method = 'POST'): Promise<Record<string, unknown>> {
    const response = await fetch((await this.#service.url) + path, {
      method,
      headers: { authorization: `Bearer ${testKey}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return JSON.parse(text) as Record<string, unknown>
  }
}

function apply(
  records: Map<string, ModelRecord>,
  id: string,
  event: Readonly<Record<string, unknown>>,
): void {
  const { id: _, _object_delete: isDelete, _is_merge: isMerge, ...fields } = event
  if (isDelete) {
    records.delete(id)
    return
  }
  const before = isMerge ? records.get(id) : undefined
  const metadata = { ...(before?.metadata as object), ...(fields.metadata as object) }
  records.set(id, { input: null, output: null, ...before, ...fields, metadata })
}
