/** Of which objects a query is made: its kept result is for who may still see all of them. */
import type { CatalogObject, CatalogView } from '../../catalog/catalog.ts'
import type { QueryRequest } from '../../engine.ts'
import type { ObjectType } from '../../type/record.ts'

type View = QueryRequest['view']

/** Shows what another view does, and notes what was shown. */
export class NotingView implements CatalogView {
  /** Plans are each user's own. */
  readonly owner?: NonNullable<View['owner']>
  readonly #view: View
  readonly #seen = new Set<string>()

  constructor(view: View) {
    this.#view = view
    if (view.owner) this.owner = view.owner
  }

  /** The number of each object that was seen whole; of others, that with the id of each row. */
  get seen(): string[] {
    return [...this.#seen]
  }

  /** Whether all of that was shown this time, too. */
  covers(seen: readonly string[]): boolean {
    return seen.every((one) => this.#seen.has(one) || this.#seen.has(one.split('/', 1)[0]!))
  }

  readable(type: ObjectType, id: string) {
    return this.#note(this.#view.readable(type, id))
  }

  writable(type: ObjectType, id: string) {
    return this.#view.writable(type, id)
  }

  readableInProject(projectId: string) {
    return this.#view.readableInProject(projectId)?.map((object) => this.#note(object))
  }

  readableOfType(type: ObjectType) {
    return Array.from(this.#view.readableOfType(type), (object) => this.#note(object))
  }

  readableByName(type: ObjectType, name: string) {
    return this.#view.readableByName(type, name).map((object) => this.#note(object))
  }

  readableProject(idOrName: string) {
    return this.#view.readableProject(idOrName)
  }

  organization() {
    return this.#view.organization()
  }

  #note<Found extends CatalogObject | undefined>(object: Found): Found {
    if (object?.visibleIds === undefined) {
      if (object) this.#seen.add(String(object.number))
    } else for (const id of object.visibleIds) this.#seen.add(`${object.number}/${id}`)
    return object
  }
}
