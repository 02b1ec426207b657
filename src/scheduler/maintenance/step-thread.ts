/** The thread that carries out steps of maintenance, and how long they took. */
import { AssayError } from '../../error.ts'
import type {
  FoundVersions,
  VersionAnswer,
  VersionQuestion,
} from '../../storage/maintenance/find-versions.ts'
import type {
  LostAnswer,
  LostQuestion,
  MaintenanceStep,
  StepOutcome,
} from '../../storage/maintenance/maintenance-step.ts'
import type { ScrubAnswer, Scrubbed } from '../../storage/maintenance/scrub.ts'
import type { LostRows } from '../../storage/segment/lost-rows.ts'
import { openThreads, type Threads } from '../thread/threads.ts'

/** What steps of one kind have done so far. */
export interface StepStatistics {
  readonly count: number
  readonly milliseconds: number
  readonly failures: number
}

export class StepThread {
  readonly #statistics = new Map<MaintenanceStep['kind'], StepStatistics>()
  readonly #open: () => Threads
  readonly #thread: Threads
  /** For queries that wait for the rows of damaged segments, whatever step is carried out. */
  #reader: Threads | undefined

  /** @param data what the thread is started with */
  constructor(data: object) {
    this.#open = () => openThreads('maintenance', { data, least: 1, most: 1 })
    this.#thread = this.#open()
  }

  /** By kind. */
  get statistics(): ReadonlyMap<MaintenanceStep['kind'], StepStatistics> {
    return this.#statistics
  }

  /** One step at a time. */
  async run(step: MaintenanceStep): Promise<StepOutcome> {
    const start = performance.now()
    let hasFailed = true
    try {
      const outcome = (await this.#thread.run(step)) as StepOutcome
      hasFailed = 'error' in outcome
      return outcome
    } catch (thrown) {
      // What is thrown in place of an outcome is about the thread; the next step gets a new one.
      const reason = thrown instanceof Error ? thrown.message : String(thrown)
      const message = `the maintenance of segments failed: ${reason}`
      throw new AssayError('STORAGE_UNAVAILABLE', message, { cause: thrown })
    } finally {
      this.#count(step, performance.now() - start, hasFailed)
    }
  }

  /** See `Scrubber`. */
  async scrub(bytes: number): Promise<Scrubbed> {
    const answer = (await this.#thread.run({ kind: 'scrub', bytes })) as ScrubAnswer
    if ('error' in answer) throw AssayError.fromWire(answer.error)
    return answer.scrubbed
  }

  /** See `findLostRows`. */
  async findLost(ids: readonly number[]): Promise<readonly LostRows[]> {
    this.#reader ??= this.#open()
    const question: LostQuestion = { kind: 'lost', ids }
    const answer = (await this.#reader.run(question)) as LostAnswer
    if ('error' in answer) throw AssayError.fromWire(answer.error)
    return answer.lost
  }

  /** See `findVersions`. Steps of maintenance go on meanwhile. */
  async findVersions(question: VersionQuestion): Promise<FoundVersions> {
    this.#reader ??= this.#open()
    const answer = (await this.#reader.run(question)) as VersionAnswer
    if ('error' in answer) throw AssayError.fromWire(answer.error)
    return answer.versions
  }

  async destroy(): Promise<void> {
    await this.#thread.destroy()
    await this.#reader?.destroy()
  }

  #count({ kind }: MaintenanceStep, milliseconds: number, hasFailed: boolean): void {
    const before = this.#statistics.get(kind) ?? { count: 0, milliseconds: 0, failures: 0 }
    this.#statistics.set(kind, {
      count: before.count + 1,
      milliseconds: before.milliseconds + milliseconds,
      failures: before.failures + (hasFailed ? 1 : 0),
    })
  }
}
