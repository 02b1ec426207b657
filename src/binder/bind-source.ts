/**
 * Finds the objects that a source names. What may not be seen does not exist: neither an error nor its
 * hint tells the one from the other.
 */
import type { CatalogObject, CatalogView } from '../catalog/catalog.ts'
import { AssayError } from '../error.ts'
import type { TableSource, TextClause } from '../parser/ast.ts'
import { suggest } from '../parser/suggest.ts'
import type { ObjectType } from '../type/record.ts'
import type { BoundExpression, BoundObject } from './bound.ts'
import { missingSource } from './missing-source.ts'
import { type SourceTable, sourceTables } from './source-table.ts'

export interface SourceRows {
  /** Each once. */
  readonly objects: readonly BoundObject[]
  /** What the source may have objects of, though it may have none: their columns can be named. */
  readonly types: ReadonlySet<ObjectType>
  /** Numbers of those that are seen whole, so that it may be told which fields their records have. */
  readonly wholeObjects: readonly number[]
  /** True for those of their rows that the source means; undefined: all. */
  readonly restriction: BoundExpression | undefined
}

/** Most projects that an error lists. */
const listedProjects = 5

export function bindSource(source: TableSource, view: CatalogView): SourceRows {
  const table = sourceTables.get(source.table)
  if (!table) throw unknownTable(source)
  const found = objectsOf(source, table, view)
  const objects = new Map<number, BoundObject>()
  for (const object of found) {
    objects.set(object.number, {
      number: object.number,
      type: object.type,
      id: object.id,
      projectId: object.projectId,
      organizationId: object.organizationId,
    })
  }
  const whole = found.filter(({ visibleIds }) => visibleIds === undefined)
  return {
    objects: [...objects.values()],
    types: typesOf(table),
    wholeObjects: [...new Set(whole.map(({ number }) => number))],
    restriction: restrictionOf(source, table, found),
  }
}

const projectTypes: ReadonlySet<ObjectType> = new Set<ObjectType>([
  'project_logs',
  'experiment',
  'dataset',
  'playground_logs',
])

function typesOf(table: SourceTable): ReadonlySet<ObjectType> {
  if (table.kind === 'project') return projectTypes
  return new Set([table.kind === 'project_dataset' ? 'dataset' : table.type])
}

function objectsOf(
  source: TableSource,
  table: SourceTable,
  view: CatalogView,
): readonly CatalogObject[] {
  switch (table.kind) {
    case 'objects':
      return source.ids.map((id) => findObject(source, table.type, id, view))
    case 'project':
      return source.ids.flatMap((id) => {
        const project = view.readableProject(id.value)
        const found = project && view.readableInProject(project.id)
        if (!found) throw missingSource(source, id, view)
        return found
      })
    case 'project_dataset':
      return [findDataset(source, view)]
    case 'organization': {
      const { id, name } = view.organization()
      for (const given of source.ids) {
        if (given.value !== id && given.value !== name) {
          throw missingSource(source, given, view, 'organization')
        }
      }
      return [...view.readableOfType(table.type)]
    }
    case 'rows': {
      // Rows that are not for the caller are not even read: what was read is told.
      const asked = new Set(source.ids.map(({ value }) => value))
      return [...view.readableOfType(table.type)].flatMap((object) => {
        const visibleIds = object.visibleIds?.filter((id) => asked.has(id))
        if (visibleIds === undefined) return object
        return visibleIds.length > 0 ? { ...object, visibleIds } : []
      })
    }
  }
}

/** By id; or by name; or by `project/name`, for names that several projects have. */
function findObject(
  source: TableSource,
  type: ObjectType,
  given: TextClause,
  view: CatalogView,
): CatalogObject {
  const byId = view.readable(type, given.value)
  if (byId) return byId
  const byName = view.readableByName(type, given.value)
  const found = byName.length > 0 ? byName : findByPath(type, given.value, view)
  if (found.length > 1) throw ambiguous(source, given, found, view)
  if (found.length === 0) throw missingSource(source, given, view)
  return found[0]!
}

/** Either name may hold slashes itself, so each slash may be the one between them. */
function findByPath(type: ObjectType, path: string, view: CatalogView): CatalogObject[] {
  const found: CatalogObject[] = []
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const project = view.readableProject(path.slice(0, slash))
    if (!project) continue
    for (const object of view.readableByName(type, path.slice(slash + 1))) {
      if (object.projectId === project.id) found.push(object)
    }
  }
  return found
}

function findDataset(source: TableSource, view: CatalogView): CatalogObject {
  const [projectGiven, given] = source.ids
  if (!projectGiven || !given || source.ids.length > 2) {
    throw new AssayError(
      'BIND_WRONG_ARGUMENTS',
      'project_dataset() takes a project and a dataset',
      {
        span: source.span,
        hint: "write project_dataset('project', 'dataset'), each by id or name",
      },
    )
  }
  const project = view.readableProject(projectGiven.value)
  if (!project) throw missingSource({ ...source, table: 'project' }, projectGiven, view)
  const byId = view.readable('dataset', given.value)
  const candidates = byId ? [byId] : view.readableByName('dataset', given.value)
  const found = candidates.find(({ projectId }) => projectId === project.id)
  if (!found) throw missingSource({ ...source, table: 'dataset' }, given, view)
  return found
}

function restrictionOf(
  source: TableSource,
  table: SourceTable,
  objects: readonly CatalogObject[],
): BoundExpression | undefined {
  const conditions: BoundExpression[] = []
  if (table.kind === 'rows') {
    const isWhole = objects.some(({ visibleIds }) => visibleIds === undefined)
    const asked = source.ids.map(({ value }) => value)
    conditions.push(isIn('id', isWhole ? asked : objects.flatMap((one) => one.visibleIds ?? [])))
  }
  const visible = visibleRows(objects)
  if (visible) conditions.push(visible)
  if ('rows' in table && table.rows === 'prompts') conditions.push(isPrompt)
  return conditions.length > 1
    ? { kind: 'and', operands: conditions, type: 'boolean' }
    : conditions[0]
}

/** Of some objects the caller may see single rows only; ids are unique within an object. */
function visibleRows(objects: readonly CatalogObject[]): BoundExpression | undefined {
  if (objects.every(({ visibleIds }) => visibleIds === undefined)) return undefined
  const whole = objects.filter(({ visibleIds }) => visibleIds === undefined)
  const inParts = objects.flatMap(({ projectId, visibleIds }): BoundExpression[] =>
    visibleIds === undefined
      ? []
      : [
          {
            kind: 'and',
            operands: [isIn('project_id', [projectId]), isIn('id', visibleIds)],
            type: 'boolean',
          },
        ],
  )
  const projects = whole.map(({ projectId }) => projectId)
  const operands = [...inParts, ...(whole.length > 0 ? [isIn('project_id', projects)] : [])]
  return operands.length > 1 ? { kind: 'or', operands, type: 'boolean' } : operands[0]
}

function isIn(field: string, values: readonly string[]): BoundExpression {
  return {
    kind: 'in',
    operand: { kind: 'field', path: [field], type: 'string' },
    list: { kind: 'constant', value: [...values], type: 'json' },
    type: 'boolean',
  }
}

/** A function is a prompt when a prompt is what it runs; rows that do not say are prompts. */
const isPrompt: BoundExpression = {
  kind: 'or',
  operands: [
    {
      kind: 'is_null',
      operand: { kind: 'field', path: ['function_data', 'type'], type: 'json' },
      type: 'boolean',
    },
    {
      kind: 'comparison',
      operator: 'eq',
      left: { kind: 'field', path: ['function_data', 'type'], type: 'json' },
      right: { kind: 'constant', value: 'prompt', type: 'string' },
      type: 'boolean',
    },
  ],
  type: 'boolean',
}

function unknownTable(source: TableSource): AssayError {
  const names = [...sourceTables.keys()]
  const near = suggest(source.table, names)
  return new AssayError('BIND_UNKNOWN_SOURCE', `unknown source ${source.table}()`, {
    span: source.tableSpan,
    hint: near === undefined ? `sources are ${names.join(', ')}` : `did you mean ${near}()?`,
  })
}

function ambiguous(
  source: TableSource,
  given: TextClause,
  found: readonly CatalogObject[],
  view: CatalogView,
): AssayError {
  const names = found.map(({ projectId }) => view.readableProject(projectId)?.name ?? projectId)
  const shown = names.slice(0, listedProjects).map((name) => `"${name}"`)
  const more = names.length - shown.length
  const projects = shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
  return new AssayError(
    'BIND_AMBIGUOUS_SOURCE',
    `several projects have ${source.table} "${given.value}": ${projects}`,
    {
      span: given.span,
      hint: `use the id, or name the project: ${source.table}('${names[0]}/${given.value}')`,
    },
  )
}
