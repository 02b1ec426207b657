/**
 * Organizations, users, keys, projects, experiments and datasets. All of it is in memory; changes
 * are written to LMDB first, one after the other, so that memory never holds what a crash can lose.
 */
import { randomUUID } from 'node:crypto'
import { assert } from '../error.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import type { ObjectIdentity, ObjectType, ProjectObjectType } from '../type/record.ts'
import type {
  ApiKey,
  Dataset,
  Experiment,
  NewDataset,
  NewExperiment,
  NewProject,
  NewPromptSession,
  Organization,
  Project,
  PromptSession,
  User,
} from './entry.ts'
import { EntryStore, type Numbered } from './entry-store.ts'

/** Something that holds records. What a project has one of has the project's id and name. */
export interface CatalogObject extends ObjectIdentity {
  /** Stands for the object in the keys of rows; below 2^31. */
  readonly number: number
  readonly name: string
}

/** What one principal may see. Absent and not allowed are indistinguishable. */
export interface CatalogView {
  readable(type: ObjectType, id: string): CatalogObject | undefined
  writable(type: ObjectType, id: string): CatalogObject | undefined
  /**
   * The logs, experiments, datasets and playgrounds of a project; undefined when the project is not
   * there or may not be read.
   */
  readableInProject(projectId: string): readonly CatalogObject[] | undefined
  /** The objects of a type that may be read, in any order. */
  readableOfType(type: ObjectType): Iterable<CatalogObject>
  /** Objects of a type that have the name; in different projects there may be several. */
  readableByName(type: ObjectType, name: string): readonly CatalogObject[]
  /** The project of that id or, if there is none, of that name. */
  readableProject(idOrName: string): NamedEntry | undefined
  /** The principal's organization. */
  organization(): NamedEntry
}

export interface NamedEntry {
  readonly id: string
  readonly name: string
}

export interface FoundOrCreated<Entry> {
  readonly entry: Entry
  readonly found: boolean
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
const endOfNumbers = 2 ** 29

/** Types of objects that have a name of their own within their project. */
const namedTypes: ReadonlyMap<ObjectType, string> = new Map([
  ['experiment', 'experiment'],
  ['dataset', 'dataset'],
  ['playground_logs', 'prompt_session'],
])

/** Knows everything and asks nobody for rights: only `access/` may hand out parts of it. */
export class Catalog {
  readonly #store: EntryStore
  readonly #organizations = new Map<string, Organization>()
  readonly #users = new Map<string, User>()
  readonly #apiKeys = new Map<string, ApiKey>()
  readonly #projects = new Map<string, Project>()
  readonly #experiments = new Map<string, Experiment>()
  readonly #datasets = new Map<string, Dataset>()
  readonly #promptSessions = new Map<string, PromptSession>()
  readonly #objects = new Map<string, CatalogObject>()
  readonly #objectsByProject = new Map<string, CatalogObject[]>()
  /** Ids by kind, parent and name. */
  readonly #names = new Map<string, string>()
  #lastNumber: number
  #lastChange: Promise<unknown> = Promise.resolve()

  constructor(records: RecordsEnvironment) {
    this.#store = new EntryStore(records)
    this.#lastNumber = this.#store.lastNumber()
    for (const entry of this.#store.entries('organization'))
      this.#organizations.set(entry.id, entry)
    for (const entry of this.#store.entries('user')) this.#users.set(entry.id, entry)
    for (const entry of this.#store.entries('api_key')) this.#apiKeys.set(entry.id, entry)
    for (const stored of this.#store.entries('project')) this.#loadProject(stored)
    for (const stored of this.#store.entries('experiment')) this.#loadExperiment(stored)
    for (const stored of this.#store.entries('dataset')) this.#loadDataset(stored)
    for (const stored of this.#store.entries('prompt_session')) this.#loadPromptSession(stored)
  }

  organizations(): Iterable<Organization> {
    return this.#organizations.values()
  }

  organization(id: string): Organization | undefined {
    return this.#organizations.get(id)
  }

  user(id: string): User | undefined {
    return this.#users.get(id)
  }

  apiKeys(): Iterable<ApiKey> {
    return this.#apiKeys.values()
  }

  project(id: string): Project | undefined {
    return this.#projects.get(id)
  }

  projectByName(organizationId: string, name: string): Project | undefined {
    const id = this.#names.get(nameKey('project', organizationId, name))
    return id === undefined ? undefined : this.#projects.get(id)
  }

  projects(): Iterable<Project> {
    return this.#projects.values()
  }

  experiment(id: string): Experiment | undefined {
    return this.#experiments.get(id)
  }

  experiments(): Iterable<Experiment> {
    return this.#experiments.values()
  }

  dataset(id: string): Dataset | undefined {
    return this.#datasets.get(id)
  }

  datasets(): Iterable<Dataset> {
    return this.#datasets.values()
  }

  promptSession(id: string): PromptSession | undefined {
    return this.#promptSessions.get(id)
  }

  promptSessions(): Iterable<PromptSession> {
    return this.#promptSessions.values()
  }

  object(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#objects.get(`${type}:${id}`)
  }

  /** Those of a name in all projects of an organization. */
  objectsByName(organizationId: string, type: ObjectType, name: string): CatalogObject[] {
    const kind = namedTypes.get(type)
    if (kind === undefined) {
      const project = this.projectByName(organizationId, name)
      const object = project && this.object(type, project.id)
      return object ? [object] : []
    }
    const found: CatalogObject[] = []
    for (const { id, org_id } of this.#projects.values()) {
      if (org_id !== organizationId) continue
      const objectId = this.#names.get(nameKey(kind, id, name))
      const object = objectId === undefined ? undefined : this.object(type, objectId)
      if (object) found.push(object)
    }
    return found
  }

  objects(): Iterable<CatalogObject> {
    return this.#objects.values()
  }

  /**
   * What holds records of runs and cases in a project, in the order it was made; its logs come
   * first. Prompts and views are not among them.
   */
  objectsInProject(projectId: string): readonly CatalogObject[] {
    return this.#objectsByProject.get(projectId) ?? []
  }

  createOrganization(name: string): Promise<Organization> {
    return this.#change(async () => {
      const entry: Organization = { id: randomUUID(), name, created: now() }
      await this.#store.put('organization', entry.id, entry)
      this.#organizations.set(entry.id, entry)
      return entry
    })
  }

  createUser(organizationId: string, givenName: string): Promise<User> {
    return this.#change(async () => {
      const entry: User = {
        id: randomUUID(),
        org_id: organizationId,
        given_name: givenName,
        family_name: null,
        email: null,
        created: now(),
      }
      await this.#store.put('user', entry.id, entry)
      this.#users.set(entry.id, entry)
      return entry
    })
  }

  createApiKey(given: Omit<ApiKey, 'id' | 'created'>): Promise<ApiKey> {
    return this.#change(async () => {
      const entry: ApiKey = { ...given, id: randomUUID(), created: now() }
      await this.#store.put('api_key', entry.id, entry)
      this.#apiKeys.set(entry.id, entry)
      return entry
    })
  }

  /** Names are unique in the organization; an existing project is returned as it is. */
  findOrCreateProject(given: NewProject): Promise<FoundOrCreated<Project>> {
    return this.#findOrCreate(
      () => this.projectByName(given.org_id, given.name),
      async (number) => {
        const entry: Project = {
          id: randomUUID(),
          org_id: given.org_id,
          name: given.name,
          description: given.description ?? null,
          created: now(),
          deleted_at: null,
          user_id: given.user_id ?? null,
          settings: given.settings ?? null,
        }
        const stored = { number, entry }
        await this.#store.put('project', entry.id, stored)
        this.#loadProject(stored)
        return entry
      },
    )
  }

  /** Names are unique in the project; an existing experiment is returned as it is. */
  findOrCreateExperiment(given: NewExperiment): Promise<FoundOrCreated<Experiment>> {
    return this.#findOrCreate(
      () => this.#named('experiment', given.project_id, given.name, this.#experiments),
      async (number) => {
        const entry: Experiment = {
          id: randomUUID(),
          project_id: given.project_id,
          name: given.name,
          description: given.description ?? null,
          created: now(),
          repo_info: given.repo_info ?? null,
          commit: given.commit ?? null,
          base_exp_id: given.base_exp_id ?? null,
          deleted_at: null,
          dataset_id: given.dataset_id ?? null,
          dataset_version: given.dataset_version ?? null,
          internal_metadata: given.internal_metadata ?? null,
          parameters_id: given.parameters_id ?? null,
          parameters_version: given.parameters_version ?? null,
          public: given.public ?? false,
          user_id: given.user_id ?? null,
          metadata: given.metadata ?? null,
          tags: given.tags ?? null,
        }
        const stored = { number, entry }
        await this.#store.put('experiment', entry.id, stored)
        this.#loadExperiment(stored)
        return entry
      },
    )
  }

  /** Names are unique in the project; an existing dataset is returned as it is. */
  findOrCreateDataset(given: NewDataset): Promise<FoundOrCreated<Dataset>> {
    return this.#findOrCreate(
      () => this.#named('dataset', given.project_id, given.name, this.#datasets),
      async (number) => {
        const id = randomUUID()
        const entry: Dataset = {
          id,
          project_id: given.project_id,
          name: given.name,
          description: given.description ?? null,
          created: now(),
          deleted_at: null,
          user_id: given.user_id ?? null,
          tags: given.tags ?? null,
          metadata: given.metadata ?? null,
          url_slug: given.url_slug ?? slug(given.name, id),
        }
        const stored = { number, entry }
        await this.#store.put('dataset', entry.id, stored)
        this.#loadDataset(stored)
        return entry
      },
    )
  }

  /** Names are unique in the project; an existing playground is returned as it is. */
  findOrCreatePromptSession(given: NewPromptSession): Promise<FoundOrCreated<PromptSession>> {
    return this.#findOrCreate(
      () => this.#named('prompt_session', given.project_id, given.name, this.#promptSessions),
      async (number) => {
        const entry: PromptSession = {
          id: randomUUID(),
          project_id: given.project_id,
          name: given.name,
          description: given.description ?? null,
          created: now(),
          deleted_at: null,
          user_id: given.user_id ?? null,
        }
        const stored = { number, entry }
        await this.#store.put('prompt_session', entry.id, stored)
        this.#loadPromptSession(stored)
        return entry
      },
    )
  }

  #named<Entry>(kind: string, parentId: string, name: string, entries: Map<string, Entry>) {
    const id = this.#names.get(nameKey(kind, parentId, name))
    return id === undefined ? undefined : entries.get(id)
  }

  async #findOrCreate<Entry>(
    find: () => Entry | undefined,
    create: (number: number) => Promise<Entry>,
  ): Promise<FoundOrCreated<Entry>> {
    const known = find()
    if (known) return { entry: known, found: true }
    return this.#change(async () => {
      const found = find()
      if (found) return { entry: found, found: true }
      assert(this.#lastNumber + 1 < endOfNumbers, 'there are no numbers left for objects')
      const entry = await create(this.#lastNumber + 1)
      this.#lastNumber++
      return { entry, found: false }
    })
  }

  /** Runs changes one at a time: what a change looks up is still so when it writes. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change)
    this.#lastChange = result.catch(() => undefined)
    return result
  }

  #loadProject({ number, entry }: Numbered<Project>): void {
    if (entry.deleted_at !== null) return
    this.#projects.set(entry.id, entry)
    this.#names.set(nameKey('project', entry.org_id, entry.name), entry.id)
    for (const [type, shift] of projectObjects) {
      this.#addObject(type, number + shift, entry.id, entry.id, entry.name)
    }
  }

  #loadExperiment({ number, entry }: Numbered<Experiment>): void {
    if (entry.deleted_at !== null || !this.#projects.has(entry.project_id)) return
    this.#experiments.set(entry.id, entry)
    this.#names.set(nameKey('experiment', entry.project_id, entry.name), entry.id)
    this.#addObject('experiment', number, entry.id, entry.project_id, entry.name)
  }

  #loadDataset({ number, entry }: Numbered<Dataset>): void {
    if (entry.deleted_at !== null || !this.#projects.has(entry.project_id)) return
    this.#datasets.set(entry.id, entry)
    this.#names.set(nameKey('dataset', entry.project_id, entry.name), entry.id)
    this.#addObject('dataset', number, entry.id, entry.project_id, entry.name)
  }

  #loadPromptSession({ number, entry }: Numbered<PromptSession>): void {
    if (entry.deleted_at !== null || !this.#projects.has(entry.project_id)) return
    this.#promptSessions.set(entry.id, entry)
    this.#names.set(nameKey('prompt_session', entry.project_id, entry.name), entry.id)
    this.#addObject('playground_logs', number, entry.id, entry.project_id, entry.name)
  }

  #addObject(type: ObjectType, number: number, id: string, projectId: string, name: string) {
    const project = this.#projects.get(projectId)
    assert(project, `object of an unknown project: ${projectId}`)
    const organizationId = project.org_id
    const object: CatalogObject = { number, type, id, projectId, organizationId, name }
    this.#objects.set(`${type}:${id}`, object)
    if (type === 'project_prompts' || type === 'project_views') return
    const siblings = this.#objectsByProject.get(projectId)
    if (siblings) insertByNumber(siblings, object)
    else this.#objectsByProject.set(projectId, [object])
  }
}

function insertByNumber(objects: CatalogObject[], object: CatalogObject): void {
  let at = objects.length
  while (at > 0 && objects[at - 1]!.number > object.number) at--
  objects.splice(at, 0, object)
}

/** Parents are UUIDs, which hold no slash: the key cannot be read in two ways. */
function nameKey(kind: string, parentId: string, name: string): string {
  return `${kind}/${parentId}/${name}`
}

function slug(name: string, id: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...words, id.slice(0, 4)].join('-').slice(-200)
}

function now(): string {
  return new Date().toISOString()
}
