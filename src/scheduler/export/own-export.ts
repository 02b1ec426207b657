import type { RecordsEnvironment } from '../../storage/environment.ts'
import { readPurged } from '../../storage/maintenance/purge-plan.ts'
import type { ExportedRecords } from '../cold/exported-records.ts'
import type { ExportLoop } from './export-loop.ts'

/** What the cluster has where this process exports the records itself. */
export class OwnExport implements ExportedRecords {
  readonly evictedThere = 0
  readonly #records: RecordsEnvironment
  readonly #loop: () => ExportLoop | undefined

  constructor(records: RecordsEnvironment, loop: () => ExportLoop | undefined) {
    this.#records = records
    this.#loop = loop
  }

  get through(): number {
    return this.#loop()?.noted.through ?? 0
  }

  get arrived(): number {
    return this.#loop()?.arrived ?? 0
  }

  get round(): string {
    return this.#loop()?.noted.round ?? ''
  }

  get removing(): ReadonlySet<number> {
    const removed = readPurged(this.#records.progress, this.#loop()?.purged ?? 0)
    return new Set(removed.map(({ object }) => object))
  }

  async verify(through: number): Promise<void> {
    await this.#loop()?.verify(through)
  }
}
