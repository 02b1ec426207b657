/** Which masking rules hold for what a request writes. */
import type { Catalog, CatalogObject, CatalogView } from '../../catalog/catalog.ts'
import { lostEntry } from '../../catalog/restore-entries.ts'
import { ruleOf } from '../../catalog/schema/masking.ts'
import type { MaskingRule, MaskingRules } from '../../masking/rule.ts'
import { objectKey, type RowMasking } from '../../storage/prepare/mask-body.ts'
import type { ObjectReference, ObjectType } from '../../type/record.ts'

/** What prompts and views are made of is not what people and models have said. */
export const maskedTypes: ReadonlySet<ObjectType> = new Set([
  'project_logs',
  'experiment',
  'dataset',
  'playground_logs',
])

/** Of an organization: those for all its projects, and those of single ones, which come first. */
interface OrganizationRules {
  readonly all: readonly MaskingRule[]
  readonly ofProject: ReadonlyMap<string, readonly MaskingRule[]>
}

export class MaskingPlans {
  readonly #catalog: Catalog
  readonly #keyOf: (organizationId: string) => Uint8Array
  readonly #rules = new Map<string, OrganizationRules | undefined>()
  readonly #keys = new Map<string, Uint8Array>()
  #version = 0

  /** @param keyOf the key of the hashes of an organization */
  constructor(catalog: Catalog, keyOf: (organizationId: string) => Uint8Array) {
    this.#catalog = catalog
    this.#keyOf = keyOf
    catalog.onChange((changes) => {
      if (!changes.some(({ kind }) => kind === 'masking_rule')) return
      this.#rules.clear()
      this.#version++
    })
  }

  /** Whether any rule may hold for what is written through the view. */
  hasRules(view: CatalogView): boolean {
    return this.#of(view.organization().id) !== undefined
  }

  /** What holds for these objects; undefined when nothing does. Those that may not be written have no rules. */
  planFor(objects: readonly ObjectReference[], view: CatalogView): RowMasking | undefined {
    const organizationId = view.organization().id
    const rules = this.#of(organizationId)
    if (!rules) return undefined
    const sets: MaskingRules[] = []
    const setOf: Record<string, number> = {}
    const ofProject = new Map<string, number>()
    for (const object of objects) {
      const found = maskedTypes.has(object.type) ? view.writable(object.type, object.id) : undefined
      if (!found) continue
      const own = rules.ofProject.get(found.projectId)
      const place = own ? found.projectId : ''
      let set = ofProject.get(place)
      if (set === undefined) {
        const held = own ? [...own, ...rules.all] : rules.all
        if (held.length === 0) continue
        set = sets.push({ rules: held, key: this.#key(organizationId) }) - 1
        ofProject.set(place, set)
      }
      setOf[objectKey(object)] = set
    }
    if (sets.length === 0) return undefined
    const places = [...ofProject.keys()].join(',')
    return { version: `${organizationId}/${this.#version}/${places}`, sets, setOf }
  }

  /** The same for an object that is only read, with these rules in place of those that hold, if they are given. */
  planToTry(
    object: CatalogObject,
    given: readonly MaskingRule[] | undefined,
  ): RowMasking | undefined {
    const { organizationId, projectId } = object
    const held = this.#of(organizationId)
    const rules = given ?? [...(held?.ofProject.get(projectId) ?? []), ...(held?.all ?? [])]
    if (rules.length === 0 || !maskedTypes.has(object.type)) return undefined
    const version = given
      ? JSON.stringify(given)
      : `${organizationId}/${this.#version}/${projectId}`
    const sets = [{ rules, key: this.#key(organizationId) }]
    return { version: `try/${organizationId}/${version}`, sets, setOf: { [objectKey(object)]: 0 } }
  }

  /**
   * What holds for a file: it is of no project until a record names it, and has no fields that a path names. Undefined
   * when nothing does.
   */
  planForFile(view: CatalogView): RowMasking | undefined {
    const organizationId = view.organization().id
    const rules = this.#of(organizationId)?.all.filter(({ path }) => path === undefined) ?? []
    if (rules.length === 0) return undefined
    const version = `${organizationId}/${this.#version}/file`
    return { version, sets: [{ rules, key: this.#key(organizationId) }], setOf: {} }
  }

  #key(organizationId: string): Uint8Array {
    const key = this.#keys.get(organizationId) ?? this.#keyOf(organizationId)
    this.#keys.set(organizationId, key)
    return key
  }

  #of(organizationId: string): OrganizationRules | undefined {
    if (this.#rules.has(organizationId)) return this.#rules.get(organizationId)
    // What a rule would have masked is not stored because the rule cannot be read.
    const lost = this.#catalog.damaged.find((one) => {
      return one.kind === 'masking_rule' && one.state === 'lost'
    })
    if (lost) throw lostEntry(lost)
    const all: MaskingRule[] = []
    const ofProject = new Map<string, MaskingRule[]>()
    // Oldest first: that is the order in which they were written down.
    const entries = [...this.#catalog.list('masking_rule', { organizationId })].reverse()
    for (const entry of entries) {
      if (entry.enabled === false) continue
      const { project_id } = entry
      const place = project_id === null ? all : (ofProject.get(project_id) ?? [])
      if (project_id !== null) ofProject.set(project_id, place)
      place.push(ruleOf(entry))
    }
    const found = all.length + ofProject.size === 0 ? undefined : { all, ofProject }
    this.#rules.set(organizationId, found)
    return found
  }
}
