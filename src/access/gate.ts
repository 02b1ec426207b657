/**
 * The one gate between requests and the catalog. Whatever a route or a query looks up goes through
 * a `Gate` of the request's principal, so that what may be seen is decided here and nowhere else.
 *
 * A key may read and write everything of its organization and nothing of any other.
 */

import type {
  Catalog,
  CatalogObject,
  CatalogView,
  FoundOrCreated,
  NamedEntry,
} from '../catalog/catalog.ts'
import type {
  Dataset,
  Experiment,
  NewDataset,
  NewExperiment,
  NewProject,
  NewPromptSession,
  Organization,
  Project,
  PromptSession,
} from '../catalog/entry.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { assert } from '../error.ts'
import type { ObjectType } from '../type/record.ts'
import type { Principal } from './authenticate.ts'

type Permission = 'read' | 'create' | 'update'

/** What a new object is given by its creator; the gate says in whose name it is made. */
type Given<Entry> = Omit<Entry, 'org_id' | 'user_id'>

export class Gate implements CatalogView {
  readonly principal: Principal
  readonly #catalog: Catalog

  constructor(catalog: Catalog, principal: Principal) {
    this.#catalog = catalog
    this.principal = principal
  }

  readable(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#object('read', type, id)
  }

  writable(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#object('update', type, id)
  }

  readableInProject(projectId: string): readonly CatalogObject[] | undefined {
    if (!this.#project('read', projectId)) return undefined
    return this.#catalog.objectsInProject(projectId)
  }

  *readableOfType(type: ObjectType): Generator<CatalogObject> {
    for (const object of this.#catalog.objects()) {
      if (object.type === type && this.#allows('read', object.organizationId)) yield object
    }
  }

  readableByName(type: ObjectType, name: string): CatalogObject[] {
    return this.#catalog
      .objectsByName(this.principal.organizationId, type, name)
      .filter(({ organizationId }) => this.#allows('read', organizationId))
  }

  readableProject(idOrName: string): NamedEntry | undefined {
    return this.#project('read', idOrName) ?? this.projectByName(idOrName)
  }

  /** The organization of the principal. */
  organization(): Organization {
    const organization = this.#catalog.organization(this.principal.organizationId)
    assert(organization, 'a key without an organization')
    return organization
  }

  /** The project, or the error that says it is not there or not for this principal. */
  project(id: string): Project {
    const project = this.#project('read', id)
    if (!project) throw missingAccess('read', 'project', id)
    return project
  }

  projectByName(name: string): Project | undefined {
    return this.#catalog.projectByName(this.principal.organizationId, name)
  }

  experiment(id: string): Experiment {
    const experiment = this.#catalog.experiment(id)
    if (!experiment || !this.readable('experiment', id)) {
      throw missingAccess('read', 'experiment', id)
    }
    return experiment
  }

  dataset(id: string): Dataset {
    const dataset = this.#catalog.dataset(id)
    if (!dataset || !this.readable('dataset', id)) throw missingAccess('read', 'dataset', id)
    return dataset
  }

  promptSession(id: string): PromptSession {
    const session = this.#catalog.promptSession(id)
    if (!session || !this.readable('playground_logs', id)) {
      throw missingAccess('read', 'prompt_session', id)
    }
    return session
  }

  /** Newest first, as are the lists below. */
  projects(): Project[] {
    const { organizationId } = this.principal
    const projects = [...this.#catalog.projects()].filter(({ org_id }) => org_id === organizationId)
    return this.#newestFirst('project_logs', projects)
  }

  experiments(): Experiment[] {
    const readable = ({ id }: Experiment) => this.readable('experiment', id) !== undefined
    return this.#newestFirst('experiment', [...this.#catalog.experiments()].filter(readable))
  }

  datasets(): Dataset[] {
    const readable = ({ id }: Dataset) => this.readable('dataset', id) !== undefined
    return this.#newestFirst('dataset', [...this.#catalog.datasets()].filter(readable))
  }

  promptSessions(): PromptSession[] {
    const readable = ({ id }: PromptSession) => this.readable('playground_logs', id) !== undefined
    const sessions = [...this.#catalog.promptSessions()].filter(readable)
    return this.#newestFirst('playground_logs', sessions)
  }

  findOrCreateProject(given: Given<NewProject>): Promise<FoundOrCreated<Project>> {
    const { organizationId, userId } = this.principal
    return this.#catalog.findOrCreateProject({
      ...given,
      org_id: organizationId,
      user_id: userId,
    })
  }

  async findOrCreateExperiment(given: Given<NewExperiment>): Promise<FoundOrCreated<Experiment>> {
    this.#mayCreateIn(given.project_id)
    return this.#catalog.findOrCreateExperiment({ ...given, user_id: this.principal.userId })
  }

  async findOrCreateDataset(given: Given<NewDataset>): Promise<FoundOrCreated<Dataset>> {
    this.#mayCreateIn(given.project_id)
    return this.#catalog.findOrCreateDataset({ ...given, user_id: this.principal.userId })
  }

  async findOrCreatePromptSession(
    given: Given<NewPromptSession>,
  ): Promise<FoundOrCreated<PromptSession>> {
    this.#mayCreateIn(given.project_id)
    return this.#catalog.findOrCreatePromptSession({ ...given, user_id: this.principal.userId })
  }

  #mayCreateIn(projectId: string): void {
    if (!this.#project('create', projectId)) throw missingAccess('create', 'project', projectId)
  }

  #project(permission: Permission, id: string): Project | undefined {
    const project = this.#catalog.project(id)
    return project && this.#allows(permission, project.org_id) ? project : undefined
  }

  #object(permission: Permission, type: ObjectType, id: string): CatalogObject | undefined {
    const object = this.#catalog.object(type, id)
    return object && this.#allows(permission, object.organizationId) ? object : undefined
  }

  #allows(_permission: Permission, organizationId: string): boolean {
    return organizationId === this.principal.organizationId
  }

  #newestFirst<Entry extends { readonly id: string }>(type: ObjectType, entries: Entry[]): Entry[] {
    const number = ({ id }: Entry) => this.#catalog.object(type, id)?.number ?? 0
    return entries.sort((a, b) => number(b) - number(a))
  }
}
