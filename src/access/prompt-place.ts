import type { Catalog } from '../catalog/catalog.ts'
import type { RecordReader } from '../storage/read/record-reader.ts'

/**
 * The project whose prompts and functions have this id; undefined when the organization has none. All
 * projects are looked at, so that the time does not tell whether there is one.
 */
export function projectOfPrompt(
  catalog: Catalog,
  records: RecordReader,
  organizationId: string,
  id: string,
): string | undefined {
  let found: string | undefined
  for (const project of catalog.list('project', { organizationId })) {
    const prompts = catalog.object('project_prompts', project.id)
    if (prompts && records.has(prompts.number, id)) found ??= project.id
  }
  return found
}
