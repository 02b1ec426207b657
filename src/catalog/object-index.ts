import type { ObjectIdentity, ObjectType, ProjectObjectType } from '../type/record.ts'

/** Something that holds records. What a project has one of has the project's id and name. */
export interface CatalogObject extends ObjectIdentity {
  /** Stands for the object in the keys of rows; below 2^31. */
  readonly number: number
  readonly name: string
  /** Ids of the only records that a caller may see; all of them when not given. */
  readonly visibleIds?: readonly string[]
}

/**
 * Added to a project's number to give the numbers of the objects that it has one of. So these need
 * no entries, and every project that ever was made has them.
 */
const projectObjects: readonly (readonly [type: ProjectObjectType, shift: number])[] = [
  ['project_logs', 0],
  ['project_prompts', 2 ** 29],
  ['project_views', 2 ** 30],
]

/** Numbers that are given are less. */
export const endOfNumbers = 2 ** 29

/** Numbers of all that a project has one of. */
export function projectObjectNumbers(number: number): number[] {
  return projectObjects.map(([, shift]) => number + shift)
}

/** The objects that hold records, by type and id, and by their project. They are never changed in place. */
export class ObjectIndex {
  readonly #byType = new Map<ObjectType, Map<string, CatalogObject>>()
  /** By project, then by number. */
  readonly #byProject = new Map<string, Map<number, CatalogObject>>()
  /** `#byProject` as lists, made when they are asked for. */
  readonly #lists = new Map<string, readonly CatalogObject[]>()

  get(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#byType.get(type)?.get(id)
  }

  /** By its number; goes over all. */
  numbered(number: number): CatalogObject | undefined {
    for (const objects of this.#byType.values()) {
      for (const object of objects.values()) if (object.number === number) return object
    }
    return undefined
  }

  /** In no order. */
  *all(): Generator<CatalogObject> {
    for (const objects of this.#byType.values()) yield* objects.values()
  }

  /** In the order in which they were made. */
  inProject(projectId: string): readonly CatalogObject[] {
    const known = this.#lists.get(projectId)
    if (known) return known
    const objects = [...(this.#byProject.get(projectId)?.values() ?? [])]
    objects.sort((a, b) => a.number - b.number)
    this.#lists.set(projectId, objects)
    return objects
  }

  set(object: CatalogObject): void {
    const { type, id, number, projectId } = object
    const ofType = this.#byType.get(type)
    if (ofType) ofType.set(id, object)
    else this.#byType.set(type, new Map([[id, object]]))
    if (type === 'project_prompts' || type === 'project_views') return
    this.#lists.delete(projectId)
    const siblings = this.#byProject.get(projectId)
    if (siblings) siblings.set(number, object)
    else this.#byProject.set(projectId, new Map([[number, object]]))
  }

  /** Those that a project has one of. */
  setProject(number: number, project: Omit<CatalogObject, 'number' | 'type'>): void {
    for (const [type, shift] of projectObjects) {
      this.set({ ...project, number: number + shift, type })
    }
  }

  remove(type: ObjectType, id: string): void {
    const object = this.get(type, id)
    if (!object) return
    this.#byType.get(type)?.delete(id)
    this.#lists.delete(object.projectId)
    this.#byProject.get(object.projectId)?.delete(object.number)
  }

  removeProject(id: string): void {
    for (const [type] of projectObjects) this.remove(type, id)
    this.#lists.delete(id)
    if (this.#byProject.get(id)?.size === 0) this.#byProject.delete(id)
  }
}
