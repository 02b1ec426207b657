/**
 * Counts what a request looks up and decides. Of two requests that differ only in whether something is
 * there, equal counts say what no clock can: that the time does not tell them apart.
 */
import { vi } from 'vitest'
import { Grants } from '../../src/access/decide.ts'
import { EntryStore } from '../../src/catalog/entry-store.ts'
import { KindTable } from '../../src/catalog/kind-table.ts'
import { ObjectIndex } from '../../src/catalog/object-index.ts'
import { Engine } from '../../src/engine.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'

export class WorkCount {
  readonly #spies = [
    ['decisions', vi.spyOn(Grants.prototype, 'at')],
    ['entries by id', vi.spyOn(KindTable.prototype, 'get')],
    ['entries by key', vi.spyOn(KindTable.prototype, 'keyed')],
    ['objects', vi.spyOn(ObjectIndex.prototype, 'get')],
    ['removed entries', vi.spyOn(EntryStore.prototype, 'deleted')],
    ['queries', vi.spyOn(Engine.prototype, 'query')],
    ['record ids', vi.spyOn(RecordReader.prototype, 'has')],
  ] as const

  reset(): void {
    for (const [, spy] of this.#spies) spy.mockClear()
  }

  /** Since it was reset. */
  get counts(): string {
    return this.#spies.map(([name, spy]) => `${spy.mock.calls.length} ${name}`).join(', ')
  }

  stop(): void {
    for (const [, spy] of this.#spies) spy.mockRestore()
  }
}
