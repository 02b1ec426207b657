import type { Catalog, CatalogObject, CatalogView, NamedEntry } from '../catalog/catalog.ts'
import { assert } from '../error.ts'
import type { ObjectType } from '../type/record.ts'

/** What the service itself sees and writes when it carries out what a project's settings say: that project alone. */
export function serviceView(catalog: Catalog, projectId: string): CatalogView {
  const project = catalog.get('project', projectId)
  assert(project, 'a view of a project that is not there')
  const objectOf = (type: ObjectType, id: string): CatalogObject | undefined => {
    const object = catalog.object(type, id)
    return object?.projectId === projectId ? object : undefined
  }
  const objects = () => catalog.objectsInProject(projectId)
  return {
    readable: objectOf,
    writable: objectOf,
    readableInProject: (id) => (id === projectId ? objects() : undefined),
    readableOfType: (type) => objects().filter((object) => object.type === type),
    readableByName: (type, name) =>
      objects().filter((object) => object.type === type && object.name === name),
    readableProject: (idOrName) =>
      idOrName === projectId || idOrName === project.name ? project : undefined,
    organization: (): NamedEntry => {
      const organization = catalog.get('organization', project.org_id)
      assert(organization, 'a project without an organization')
      return organization
    },
  }
}
