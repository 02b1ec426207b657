/** How runs of rules go, and how the last of each went, since the start of the service. */

/** Of a run that is under way. */
export interface RunProgress {
  /** In ms since 1970. */
  readonly since: number
  /** What it does: looks for what is to go, deletes it from answers, or takes it from the disk. */
  step: 'selecting' | 'deleting' | 'freeing'
  traces: number
  records: number
  bytes: number
}

export interface RunState<Result> {
  /** `queued`: it waits for another rule's run; `waiting`: for the next round. */
  readonly status: 'running' | 'queued' | 'waiting' | 'failed'
  readonly progress: Readonly<RunProgress> | undefined
  /** When the last one ended well, in ms since 1970. */
  readonly lastRun: number | undefined
  /** The last one of note that ended well, and when. */
  readonly last: (Result & { readonly time: number; readonly seconds: number }) | undefined
  /** Of the last one, if it has failed. */
  readonly error: { readonly message: string; readonly time: number } | undefined
}

interface Run<Result> {
  queued: number
  progress?: RunProgress | undefined
  lastRun?: number
  last?: RunState<Result>['last']
  error?: RunState<Result>['error']
}

export class RunStates<Result extends object> {
  readonly #runs = new Map<string, Run<Result>>()

  of(id: string): RunState<Result> {
    const { queued = 0, progress, lastRun, last, error } = this.#runs.get(id) ?? {}
    const idle = error ? 'failed' : 'waiting'
    const status = progress ? 'running' : queued > 0 ? 'queued' : idle
    return { status, progress: progress && { ...progress }, lastRun, last, error }
  }

  /**
   * Carries out a run once `turn` has come, and notes how it goes.
   *
   * @param run resolves to what it did, if that is of note
   */
  async follow(
    id: string,
    turn: Promise<unknown>,
    run: (progress: RunProgress) => Promise<Result | undefined>,
  ): Promise<void> {
    const state = this.#runs.get(id) ?? { queued: 0 }
    this.#runs.set(id, state)
    state.queued++
    await turn
    state.queued--
    const since = Date.now()
    state.progress = { since, step: 'selecting', traces: 0, records: 0, bytes: 0 }
    try {
      const result = await run(state.progress)
      const time = Date.now()
      state.lastRun = time
      if (result) state.last = { ...result, time, seconds: (time - since) / 1000 }
      state.error = undefined
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      state.error = { message, time: Date.now() }
      throw thrown
    } finally {
      state.progress = undefined
    }
  }

  /** Forgets rules that are gone. */
  keep(isThere: (id: string) => boolean): void {
    for (const id of this.#runs.keys()) if (!isThere(id)) this.#runs.delete(id)
  }
}
