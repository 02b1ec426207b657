/** Tells of writes to those who wait for some: it costs a look at an empty map when nobody does. */

/** What a write means for one object. */
export interface ObjectWritten {
  readonly object: number
  /** Whether all its rows are new records, so that none was changed or deleted. */
  readonly isAllNew: boolean
}

export type WriteListener = (written: ObjectWritten) => void

export class WriteWatch {
  readonly #listeners = new Map<number, Set<WriteListener>>()

  /** The listener is called as soon as queries see a write to one of the objects, once for each. */
  listen(objects: Iterable<number>, listener: WriteListener): () => void {
    const watched = [...objects]
    for (const object of watched) {
      const listeners = this.#listeners.get(object)
      if (listeners) listeners.add(listener)
      else this.#listeners.set(object, new Set([listener]))
    }
    return () => {
      for (const object of watched) {
        const listeners = this.#listeners.get(object)
        if (listeners?.delete(listener) && listeners.size === 0) this.#listeners.delete(object)
      }
    }
  }

  /**
   * @param objects those that were written to
   * @param unchanged those of them whose rows are all new records
   */
  note(objects: readonly { readonly object: number }[], unchanged: readonly number[]): void {
    if (this.#listeners.size === 0) return
    for (const { object } of objects) {
      const listeners = this.#listeners.get(object)
      if (!listeners) continue
      const written = { object, isAllNew: unchanged.includes(object) }
      for (const listener of listeners) listener(written)
    }
  }
}
