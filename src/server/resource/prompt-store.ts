/**
 * Prompts and functions, which are rows of a project's `project_prompts`: every version stays, and
 * what writes rows in another way is seen here at once. No two of a project have the same slug;
 * changes of one project wait for each other, so that this stays so.
 */
import { randomUUID } from 'node:crypto'
import type { Gate } from '../../access/gate.ts'
import type { CatalogView } from '../../catalog/catalog.ts'
import { missingAccess, missingReference } from '../../catalog/missing-access.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { JsonQuery } from '../../parser/given-query.ts'
import { writeExactJson } from '../../type/exact-json.ts'
import type { Value } from '../../type/value.ts'
import { queryRows } from '../query-rows.ts'
import { mergedFields } from './merge.ts'

export type PromptRow = { readonly [field: string]: unknown }

/** Functions are all of them; prompts those that run nothing but a prompt. */
export type PromptKind = 'prompt' | 'function'

export interface PromptSelection {
  readonly kind: PromptKind
  /** Without one, of the whole organization. */
  readonly projectId?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly slugs?: readonly string[] | undefined
  readonly names?: readonly string[] | undefined
  readonly functionType?: string | undefined
}

export interface PromptPage {
  readonly limit: number
  /** Pagination keys: only older, or only newer ones. */
  readonly after?: string | undefined
  readonly before?: string | undefined
  /** An `_xact_id`: rows as they were then. */
  readonly version?: string | undefined
}

export interface FoundOrWritten {
  readonly row: PromptRow
  readonly found: boolean
}

/** What is written again when a row changes; the rest is derived, or history. */
const storedFields = [
  'id',
  'name',
  'slug',
  'description',
  'created',
  'prompt_data',
  'tags',
  'metadata',
  'function_type',
  'function_data',
  'origin',
  'function_schema',
  'further_fields',
] as const

export class PromptStore {
  readonly #engine: Engine
  /** The last change of each project that has one under way. */
  readonly #changes = new Map<string, Promise<unknown>>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Newest first. */
  list(gate: Gate, selection: PromptSelection, page: PromptPage): Promise<PromptRow[]> {
    return this.#select(gate, gate, selection, page)
  }

  async #select(
    gate: Gate,
    view: CatalogView,
    selection: PromptSelection,
    page: PromptPage,
  ): Promise<PromptRow[]> {
    const { limit, after, before, version } = page
    const conditions = conditionsOf(selection)
    if (after !== undefined) conditions.push(compare('lt', '_pagination_key', after))
    if (before !== undefined) conditions.push(compare('gt', '_pagination_key', before))
    const query = new JsonQuery({
      select: [{ op: 'star' }],
      from: sourceOf(selection, gate.organization().id),
      ...(conditions.length > 0 && { filter: { op: 'and', children: conditions } }),
      sort: [{ expr: field('_pagination_key'), dir: before === undefined ? 'desc' : 'asc' }],
      limit,
    })
    const request = { query, view, ...(version !== undefined && { version }) }
    const rows = await queryRows(this.#engine, request)
    return before === undefined ? rows : rows.reverse()
  }

  /** Undefined if there is none that may be read, or there was none at that version. */
  async find(
    gate: Gate,
    kind: PromptKind,
    id: string,
    version?: string,
  ): Promise<PromptRow | undefined> {
    const view = gate.forPrompt('read', id)
    const [row] = await this.#select(gate, view, { kind, ids: [id] }, { limit: 1, version })
    return row
  }

  /** Throws the error of what is not there or not allowed. */
  async require(
    gate: Gate,
    permission: 'read' | 'update' | 'delete',
    kind: PromptKind,
    id: string,
    version?: string,
  ): Promise<PromptRow> {
    const row = await this.find(gate, kind, id, version)
    const projectId = String(row?.project_id)
    const view = gate.forPrompt(permission, id)
    const may = permission === 'read' || view.writable('project_prompts', projectId)
    if (!row && permission === 'delete') throw missingReference(permission, 'prompt', id, 'id')
    if (!row || !may) throw missingAccess(permission, 'prompt', id)
    if (permission === 'delete') gate.requirePermission('delete', 'prompt', id)
    return row
  }

  /** Throws unless prompts and functions may be made in the project. */
  requireCreate(gate: Gate, projectId: string): void {
    if (seesAll(gate, projectId) && gate.writable('project_prompts', projectId)) return
    throw missingAccess('create', 'project', projectId)
  }

  /** One of the slug that is there already is answered as it is, or gets these fields. */
  findOrWrite(
    gate: Gate,
    kind: PromptKind,
    projectId: string,
    given: PromptRow,
    replaces: boolean,
  ): Promise<FoundOrWritten> {
    this.requireCreate(gate, projectId)
    return this.#change(projectId, async () => {
      const known = await this.#bySlug(gate, projectId, String(given.slug))
      if (known && !replaces) return { row: known, found: true }
      const id = known ? String(known.id) : randomUUID()
      const row = {
        ...given,
        id,
        ...(known?.created !== undefined && { created: known.created }),
        ...(kind === 'prompt' && { function_data: { type: 'prompt' } }),
      }
      return { row: await this.#write(gate, kind, projectId, row), found: known !== undefined }
    })
  }

  /** Objects are merged into those that are there. */
  async patch(gate: Gate, kind: PromptKind, id: string, patch: PromptRow): Promise<PromptRow> {
    const { project_id } = await this.require(gate, 'update', kind, id)
    const projectId = String(project_id)
    return this.#change(projectId, async () => {
      const before = await this.require(gate, 'update', kind, id)
      const after = { ...before, ...mergedFields(before, patch) }
      if (after.slug !== before.slug) await this.#requireFree(gate, projectId, String(after.slug))
      return this.#write(gate, kind, projectId, after)
    })
  }

  /** The row as it was, marked as deleted. */
  async remove(gate: Gate, kind: PromptKind, id: string): Promise<PromptRow> {
    const row = await this.require(gate, 'delete', kind, id)
    const projectId = String(row.project_id)
    return this.#change(projectId, async () => {
      const view = gate.forPrompt('delete', id)
      await gate.removePartsOfPrompt(id)
      const transactionId = await this.#insert(view, projectId, { id, _object_delete: true })
      return { ...row, _xact_id: transactionId, _object_delete: true }
    })
  }

  async #bySlug(gate: Gate, projectId: string, slug: string): Promise<PromptRow | undefined> {
    const selection = { kind: 'function', projectId, slugs: [slug] } as const
    const [row] = await this.list(gate, selection, { limit: 1 })
    return row
  }

  /** Slugs are unique, so who chooses one must be allowed to see them all. */
  async #requireFree(gate: Gate, projectId: string, slug: string): Promise<void> {
    if (!seesAll(gate, projectId)) throw missingAccess('read', 'project', projectId)
    if (!(await this.#bySlug(gate, projectId, slug))) return
    throw new AssayError('REQUEST_CONFLICT', `There is a prompt or function "${slug}" already`, {
      path: 'slug',
      hint: 'choose another slug',
    })
  }

  async #write(
    gate: Gate,
    kind: PromptKind,
    projectId: string,
    values: PromptRow,
  ): Promise<PromptRow> {
    const row = Object.fromEntries(
      storedFields.flatMap((name) => (isSet(values[name]) ? [[name, values[name]]] : [])),
    )
    await this.#insert(gate.forPrompt('update', String(row.id)), projectId, row)
    const written = await this.find(gate, kind, String(row.id))
    if (!written) throw missingAccess('read', 'prompt', String(row.id))
    return written
  }

  async #insert(view: CatalogView, projectId: string, row: PromptRow): Promise<string> {
    const rows = [{ ...row, project_id: projectId, log_id: 'p' }]
    const body = Buffer.from(writeExactJson({ rows }))
    const { transactionId } = await this.#engine.insert({ body, form: 'logs3', view })
    return transactionId
  }

  #change<T>(projectId: string, run: () => Promise<T>): Promise<T> {
    const result = (this.#changes.get(projectId) ?? Promise.resolve()).then(run)
    const settled = result
      .catch(() => undefined)
      .then(() => {
        if (this.#changes.get(projectId) === settled) this.#changes.delete(projectId)
      })
    this.#changes.set(projectId, settled)
    return result
  }
}

/** Whether all prompts and functions of a project may be read, not only single ones. */
function seesAll(gate: Gate, projectId: string): boolean {
  const prompts = gate.readable('project_prompts', projectId)
  return prompts !== undefined && prompts.visibleIds === undefined
}

function sourceOf({ kind, projectId, ids }: PromptSelection, organizationId: string): Value {
  if (projectId !== undefined) return source(`project_${kind}s`, [projectId])
  return ids ? source(kind, ids) : source(`org_${kind}s`, [organizationId])
}

function source(name: string, ids: readonly string[]): Value {
  return {
    op: 'function',
    name: { op: 'ident', name: [name] },
    args: ids.map((value) => ({ op: 'literal', value })),
  }
}

function conditionsOf({ projectId, ids, slugs, names, functionType }: PromptSelection): Value[] {
  return [
    ...(ids && projectId !== undefined ? [isIn('id', ids)] : []),
    ...(slugs ? [isIn('slug', slugs)] : []),
    ...(names ? [isIn('name', names)] : []),
    ...(functionType === undefined ? [] : [compare('eq', 'function_type', functionType)]),
  ]
}

function isIn(name: string, values: readonly string[]): Value {
  return { op: 'in', left: field(name), right: { op: 'literal', value: values as Value } }
}

function compare(op: string, name: string, value: string): Value {
  return { op, left: field(name), right: { op: 'literal', value } }
}

function field(name: string): Value {
  return { op: 'ident', name: [name] }
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}
