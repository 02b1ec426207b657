import {
  type Catalog,
  type CatalogChange,
  type CatalogObject,
  objectTypesOf,
} from '../../catalog/catalog.ts'
import type { ExportStep } from '../../clickhouse/export-step.ts'
import type { ExportedObject } from '../../clickhouse/object-table.ts'

type ToldObjects = Omit<ExportStep, 'through' | 'verify'>

/** Knows which objects the thread of the export was not told of yet. */
export class ExportedObjects {
  readonly #catalog: Catalog
  /** By type and id: what was removed is in the catalog no more. */
  readonly #numbers = new Map<string, number>()
  #written: ExportedObject[] = []
  #removed: number[] = []
  #isAll = true
  #catalogChanges = 0
  readonly #stop: () => void

  /** @param onNews called when there is something to tell */
  constructor(catalog: Catalog, onNews: () => void) {
    this.#catalog = catalog
    this.#stop = catalog.onChange((changes) => {
      this.#catalogChanges++
      this.#note(changes)
      if (!this.isEmpty) onNews()
    })
    this.#tellAll()
  }

  get isEmpty(): boolean {
    return !this.#isAll && this.#written.length === 0 && this.#removed.length === 0
  }

  /** All is told with the next step, as by a new thread nothing is known. */
  forget(): void {
    this.#tellAll()
  }

  take(): ToldObjects {
    const told = {
      isAll: this.#isAll,
      written: this.#written,
      removed: this.#removed,
      catalogChanges: this.#catalogChanges,
      mayRemove: this.#catalog.damaged.every(({ state }) => state !== 'lost'),
    }
    this.#isAll = false
    this.#written = []
    this.#removed = []
    return told
  }

  close(): void {
    this.#stop()
  }

  #tellAll(): void {
    this.#isAll = true
    this.#written = Array.from(this.#catalog.allObjects(), exported)
    for (const { type, id, number } of this.#written) this.#numbers.set(`${type} ${id}`, number)
  }

  #note(changes: readonly CatalogChange[]): void {
    for (const { kind, id, after } of changes) {
      for (const type of objectTypesOf(kind)) {
        const key = `${type} ${id}`
        const object = after && this.#catalog.object(type, id)
        if (object) {
          this.#numbers.set(key, object.number)
          this.#written.push(exported(object))
          continue
        }
        const number = this.#numbers.get(key)
        if (number === undefined) continue
        this.#numbers.delete(key)
        this.#removed.push(number)
      }
    }
  }
}

function exported(object: CatalogObject): ExportedObject {
  const { number, type, id, name, projectId, organizationId } = object
  return { number, type, id, name, projectId, organizationId }
}
