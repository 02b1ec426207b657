/** What a cluster has of the records here. */

export interface ExportedRecords {
  /** All transactions up to this one have arrived, and may leave here; 0: none. */
  readonly through: number
  /** All transactions up to this one have arrived, also those that are to stay here. */
  readonly arrived: number
  /** Of the export that they arrived with. */
  readonly round: string
  /** Bodies up to this transaction have left the service that exports them; 0: that is this one, which knows it itself. */
  readonly evictedThere: number
  /** Objects of which rows were removed here that the cluster may still have: until they are gone there, none of them is read. */
  readonly removing: ReadonlySet<number>
  /** Resolves once the nodes were found to have just what is here, up to the transaction. */
  verify(through: number): Promise<void>
}

/** What the service that exports the records tells those that follow it. */
export interface ToldExport {
  /** Bodies up to this transaction are on the cluster alone; 0: none. */
  readonly evicted: number
  /** All transactions up to this one are on the cluster, too. */
  readonly arrived: number
  readonly round: string
  readonly removing: readonly number[]
}

/** Where the records are a copy of another service's, which exports them. What has left that one may leave this one. */
export class FollowedExport implements ExportedRecords {
  #told: ToldExport = { evicted: 0, arrived: 0, round: '', removing: [] }
  /** How many removals of each object's rows are still to be done here. */
  readonly #waiting = new Map<number, number>()

  tell(told: ToldExport): void {
    this.#told = told
  }

  /** Returns what is to be called once the rows of these objects were removed here, too. */
  holdRemovals(objects: readonly number[]): () => void {
    for (const object of objects) this.#waiting.set(object, (this.#waiting.get(object) ?? 0) + 1)
    return () => {
      for (const object of objects) {
        const left = this.#waiting.get(object)! - 1
        if (left > 0) this.#waiting.set(object, left)
        else this.#waiting.delete(object)
      }
    }
  }

  get through(): number {
    return this.#told.evicted
  }

  get arrived(): number {
    return Math.max(this.#told.evicted, this.#told.arrived)
  }

  get evictedThere(): number {
    return this.#told.evicted
  }

  get round(): string {
    return this.#told.round
  }

  get removing(): ReadonlySet<number> {
    return new Set([...this.#told.removing, ...this.#waiting.keys()])
  }

  /** The other service has compared them before they left it. */
  verify(): Promise<void> {
    return Promise.resolve()
  }
}
