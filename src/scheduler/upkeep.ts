/** Does for new segments, while nobody asks for anything, what the next query would have to do. */
import type { Manifest } from '../storage/segment/manifest.ts'
import type { Maintenance } from './maintenance/maintenance.ts'

/** Ends early once the flag is set. */
export type UpkeepWork = (manifest: Manifest, cancelled: Int32Array) => Promise<void>

export class Upkeep {
  #cancelled = newFlag()
  #isStopped = false
  #wake: (() => void) | undefined

  /** Must be called when somebody asks for something: that goes first. */
  giveWay(): void {
    Atomics.store(this.#cancelled, 0, 1)
  }

  /** Must be called when there are other segments. */
  noteSegments(): void {
    this.#wake?.()
  }

  stop(): void {
    this.#isStopped = true
    this.giveWay()
    this.#wake?.()
  }

  /**
   * Goes on until it is stopped.
   *
   * @param quiet resolves when nobody asks
   */
  async run(maintenance: Maintenance, work: UpkeepWork, quiet: () => Promise<void>): Promise<void> {
    let done: Manifest | undefined
    while (!this.#isStopped) {
      if (maintenance.manifest === done) {
        await this.#otherSegments()
        continue
      }
      await quiet()
      if (this.#isStopped) return
      this.#cancelled = newFlag()
      const cancelled = this.#cancelled
      const { manifest, release } = maintenance.acquire()
      try {
        await work(manifest, cancelled)
        if (Atomics.load(cancelled, 0) === 0) done = manifest
      } catch (thrown) {
        if (Atomics.load(cancelled, 0) === 0) throw thrown
      } finally {
        release()
      }
    }
  }

  #otherSegments(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

function newFlag(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4))
}
