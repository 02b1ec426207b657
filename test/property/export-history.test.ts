/**
 * Scheduled exports in the midst of random histories of inserts, merges, deletions, runs, rewinds and kills of the
 * process. A model that shares no code with them says which records each file must have, and what they are.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseTransaction } from '../../src/type/transaction.ts'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { exportedRanges } from '../support/export-files.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'

const histories = Number(process.env.ASSAY_EXPORT_HISTORIES ?? (isSlow ? 40 : 1))
const steps = isSlow ? 120 : 40
/** A start takes seconds. */
const stepsPerKill = isSlow ? 8 : 20

const key = 'sk-export-history-0123'

interface Version {
  readonly transaction: number
  /** Undefined: it is a deletion. */
  readonly input: string | undefined
}

class History {
  readonly choice: RandomChoice
  readonly directory = mkdtempSync(join(tmpdir(), 'assay-export-history-'))
  readonly folder = join(this.directory, 'exported')
  readonly model = new Map<string, Version[]>()
  readonly counts = { writes: 0, runs: 0, rewinds: 0, kills: 0 }
  #service: ServeProcess | undefined
  #project = ''
  #automation = ''
  #words = 0

  constructor(seed: number) {
    this.choice = new RandomChoice(seed)
  }

  async begin(): Promise<void> {
    await this.#start()
    this.#project = String((await this.#ask('/v1/project', { name: 'p' })).id)
    const config = {
      event_type: 'btql_export',
      export_definition: { type: 'log_spans' },
      export_path: this.folder,
      format: 'jsonl',
      interval_seconds: this.choice.pick([1, 86_400]),
      credentials: { type: 'service' },
      batch_size: this.choice.pick([3, 10, 1000]),
    }
    const body = { project_id: this.#project, name: 'e', config }
    this.#automation = String((await this.#ask('/v1/project_automation', body)).id)
  }

  async step(number: number): Promise<void> {
    if (number % stepsPerKill === stepsPerKill - 1) {
      await this.#kill()
      return
    }
    const chosen = this.choice.below(16)
    if (chosen < 11) await this.#write()
    else if (chosen < 15) await this.#run()
    else await this.#rewind()
  }

  async end(): Promise<void> {
    await this.#run()
    this.#check()
    const latest = [...this.model].flatMap(([id, versions]) => {
      const { input, transaction } = versions.at(-1)!
      return input === undefined ? [] : [`${id} ${transaction} ${input}`]
    })
    const rows = exportedRanges(this.folder).flatMap((range) => range.rows)
    const shown = rows.map(({ id, _xact_id, input }) => {
      return `${id} ${parseTransaction(_xact_id)} ${String(input)}`
    })
    expect(new Set(shown).size).toBe(shown.length)
    for (const each of latest) expect(shown).toContain(each)
  }

  async close(): Promise<void> {
    this.#service?.child.kill('SIGKILL')
    await this.#service?.exit
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #write(): Promise<void> {
    const ids = new Set(
      Array.from({ length: 1 + this.choice.below(8) }, () => this.choice.below(15)),
    )
    const written: [string, string | undefined][] = []
    const rows = [...ids].map((number) => {
      const id = `r${number}`
      const place = { id, project_id: this.#project, log_id: 'g' }
      const isLive = this.model.get(id)?.at(-1)?.input !== undefined
      if (isLive && this.choice.below(4) === 0) {
        written.push([id, undefined])
        return { ...place, _object_delete: true }
      }
      const input = `words ${this.#words++}`
      written.push([id, input])
      return { ...place, input, ...(this.choice.below(3) === 0 && { _is_merge: true }) }
    })
    const { xact_id } = await this.#ask('/logs3', { rows })
    const transaction = parseTransaction(String(xact_id))
    for (const [id, input] of written) {
      this.model.set(id, [...(this.model.get(id) ?? []), { transaction, input }])
    }
    this.counts.writes++
  }

  async #run(): Promise<void> {
    this.counts.runs++
    let { status } = await this.#ask('/v1/export/run', { project_automation_id: this.#automation })
    while (status === 'queued' || status === 'running') {
      await wait(5)
      ;({ status } = await this.#ask(`/v1/export/${this.#automation}`))
    }
    expect(status).toBe('waiting')
  }

  async #rewind(): Promise<void> {
    this.counts.rewinds++
    const all = [...this.model.values()].flat().map(({ transaction }) => transaction)
    const to = all.length === 0 ? 0 : this.choice.pick(all) - this.choice.below(2)
    const version = String((0x0de1n << 48n) | BigInt(Math.max(0, to)))
    const body = { project_automation_id: this.#automation, version }
    await this.#ask('/v1/export/rewind', body)
  }

  /** In the midst of a run, a rewind or nothing. */
  async #kill(): Promise<void> {
    this.counts.kills++
    const asked = this.choice.pick([
      () => this.#run(),
      () => this.#run(),
      () => this.#rewind(),
      async () => {},
    ])()
    asked.catch(() => undefined)
    await wait(this.choice.below(this.choice.pick([5, 50])))
    this.#service!.child.kill('SIGKILL')
    await this.#service!.exit
    await asked.catch(() => undefined)
    await this.#start()
    if (this.choice.below(2) === 0) return
    await this.#run()
    this.#check()
  }

  /** Each range has the records that were written in it and were there at its end, as they were then. */
  #check(): void {
    let through = 0
    for (const range of exportedRanges(this.folder)) {
      expect(range.after).toBeGreaterThanOrEqual(through)
      expect(range.first).toBeGreaterThan(range.after)
      expect(this.#recordsIn(through, range.after)).toEqual([])
      through = range.through
      const rows = range.rows.map(({ id, _xact_id, input }) => [
        id,
        parseTransaction(_xact_id),
        input,
      ])
      expect(rows.sort()).toEqual(this.#recordsIn(range.after, range.through).sort())
    }
  }

  #recordsIn(after: number, through: number): (readonly unknown[])[] {
    return [...this.model].flatMap(([id, versions]) => {
      const last = versions.filter(({ transaction }) => transaction <= through).at(-1)
      if (!last || last.transaction <= after || last.input === undefined) return []
      return [[id, last.transaction, last.input]]
    })
  }

  async #start(): Promise<void> {
    const environment = {
      ASSAY_BOOTSTRAP_KEY: key,
      ASSAY_EXPORT_FOLDERS: this.directory,
      ASSAY_WARM_UP: '0',
    }
    this.#service = await serveAssay(join(this.directory, 'data'), environment)
  }

  async #ask(path: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await fetch(this.#service!.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
}

test('the union of all files has each version of a record once, whatever is killed', async () => {
  const total = { writes: 0, runs: 0, rewinds: 0, kills: 0 }
  for (let i = 0; i < histories; i++) {
    const history = new History(randomSeed + i)
    try {
      await history.begin()
      for (let step = 0; step < steps; step++) await history.step(step)
      await history.end()
    } catch (thrown) {
      throw new Error(`seed ${randomSeed + i}`, { cause: thrown })
    } finally {
      await history.close()
    }
    for (const name of ['writes', 'runs', 'rewinds', 'kills'] as const)
      total[name] += history.counts[name]
  }
  console.log(`seed ${randomSeed}: ${histories} histories, ${JSON.stringify(total)}`)
  expect(total.kills).toBeGreaterThan(0)
}, 3_600_000)
