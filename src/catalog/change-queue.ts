/**
 * Runs changes of the catalog one after the other, and writes those that wait together in one
 * transaction: each sees what the ones before it did, and none is told of before it is on disk.
 */
import type { Actor } from './audit-trail.ts'
import { type Change, Staged } from './change.ts'

/** Most changes that share a transaction. */
const mostTogether = 256

export interface MadeChange {
  readonly actor: Actor
  readonly change: Change
}

export interface ChangeQueueOptions {
  /** A change that sees what was made before it and is not written yet. */
  begin(staged: Staged): Change
  /** Throws when the change may not be made after all. */
  check(made: MadeChange): void
  /** Resolves once all of it is on disk and visible. */
  commit(changes: readonly MadeChange[]): Promise<void>
}

interface WaitingChange {
  readonly kind: 'change'
  readonly actor: Actor
  /** May be called again, as long as nothing of it was committed. */
  run(change: Change): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface WaitingWork {
  readonly kind: 'work'
  run(): Promise<void>
}

export class ChangeQueue {
  readonly #options: ChangeQueueOptions
  readonly #waiting: (WaitingChange | WaitingWork)[] = []
  #isAtWork = false

  constructor(options: ChangeQueueOptions) {
    this.#options = options
  }

  /** All that `run` does or, when it throws, nothing. It may run more than once before that counts. */
  change<T>(actor: Actor, run: (change: Change) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (value: unknown) => resolve(value as T)
      this.#add({ kind: 'change', actor, run, resolve: settle, reject })
    })
  }

  /** Work that no change may happen beside. */
  exclusively(run: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({ kind: 'work', run: () => run().then(resolve, reject) })
    })
  }

  #add(waiting: WaitingChange | WaitingWork): void {
    this.#waiting.push(waiting)
    if (this.#isAtWork) return
    this.#isAtWork = true
    // What else is asked for in this turn joins it.
    queueMicrotask(() => void this.#work())
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.kind === 'change') await this.#commitTogether()
      else {
        this.#waiting.shift()
        await next.run()
      }
    }
    this.#isAtWork = false
  }

  async #commitTogether(): Promise<void> {
    const staged = new Staged()
    const made: (MadeChange & { readonly asked: WaitingChange; readonly value: unknown })[] = []
    for (
      let asked = this.#waiting[0];
      asked?.kind === 'change' && made.length < mostTogether;
      asked = this.#waiting[0]
    ) {
      const change = this.#options.begin(staged)
      let value: unknown
      try {
        value = asked.run(change)
        this.#options.check({ actor: asked.actor, change })
      } catch (error) {
        this.#waiting.shift()
        asked.reject(error)
        continue
      }
      // Rights are decided by what is committed: what may change them waits for its own transaction.
      if (!change.isPlain && made.length > 0) break
      this.#waiting.shift()
      made.push({ asked, actor: asked.actor, change, value })
      if (!change.isPlain) break
      staged.add(change)
    }
    if (made.length === 0) return
    try {
      await this.#options.commit(made)
    } catch (error) {
      for (const { asked } of made) asked.reject(error)
      return
    }
    for (const { asked, value } of made) asked.resolve(value)
  }
}
