import type { SplitSnapshot } from './inline-answers.ts'

/** Holds a snapshot for whoever begins to read it within this turn of the event loop, and lets go of it after that. */
export class TurnSnapshot {
  #held: SplitSnapshot | undefined

  constructor(held: SplitSnapshot) {
    this.#held = held
    setImmediate(() => this.take()?.snapshot.release())
  }

  /** What is held, which is the caller's to release from then on; undefined once it was let go of. */
  take(): SplitSnapshot | undefined {
    const held = this.#held
    this.#held = undefined
    return held
  }
}
