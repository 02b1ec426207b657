import type { CatalogObject, CatalogView } from '../catalog/catalog.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { AssayError } from '../error.ts'
import type { TableSource } from '../parser/ast.ts'
import { suggest } from '../parser/suggest.ts'
import type { ObjectType } from '../type/record.ts'
import type { BoundObject } from './bound.ts'

const tables = ['experiment', 'project_logs', 'dataset', 'project']

/** Finds the objects that a source names, each once; what may not be seen does not exist. */
export function bindSource(source: TableSource, view: CatalogView): BoundObject[] {
  if (!tables.includes(source.table)) throw unknownTable(source)
  if (source.shape !== undefined && source.shape !== 'spans') {
    throw new AssayError('BIND_UNSUPPORTED', `the shape ${source.shape} is not supported`, {
      ...(source.shapeSpan && { span: source.shapeSpan }),
      hint: 'use spans, or leave it out',
    })
  }
  const objects = new Map<number, BoundObject>()
  for (const { value: id } of source.ids) {
    const found =
      source.table === 'project'
        ? view.readableInProject(id)
        : one(view.readable(source.table as ObjectType, id))
    if (!found) throw missingAccess('read', source.table, id)
    for (const object of found) {
      objects.set(object.number, {
        number: object.number,
        type: object.type,
        id: object.id,
        projectId: object.projectId,
        organizationId: object.organizationId,
      })
    }
  }
  return [...objects.values()]
}

function one(object: CatalogObject | undefined): readonly CatalogObject[] | undefined {
  return object && [object]
}

function unknownTable(source: TableSource): AssayError {
  const near = suggest(source.table, tables)
  return new AssayError('BIND_UNKNOWN_SOURCE', `unknown source ${source.table}()`, {
    span: source.tableSpan,
    hint:
      near === undefined
        ? 'sources are experiment(id), dataset(id), project_logs(id) and project(id)'
        : `did you mean ${near}()?`,
  })
}
