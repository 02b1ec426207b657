import type { CatalogObject, CatalogView } from '../catalog/catalog.ts'

/**
 * What `view` shows, and beside it the prompts of one project, for somebody who has a right to one of
 * them: what is asked for through it must be that one alone.
 */
export function viewOfPrompt(
  view: CatalogView,
  prompts: CatalogObject,
  isWritable: boolean,
): CatalogView {
  const isIt = (type: string, id: string) => type === prompts.type && id === prompts.id
  return {
    readable: (type, id) => (isIt(type, id) ? prompts : view.readable(type, id)),
    writable: (type, id) => (isWritable && isIt(type, id) ? prompts : view.writable(type, id)),
    readableInProject: (id) => view.readableInProject(id),
    readableOfType: (type) => (type === prompts.type ? [prompts] : view.readableOfType(type)),
    readableByName: (type, name) => view.readableByName(type, name),
    readableProject: (idOrName) => view.readableProject(idOrName),
    organization: () => view.organization(),
  }
}
