import type { Catalog } from '../catalog/catalog.ts'
import type { RecordReader } from '../storage/record-reader.ts'

/** The project whose prompts and functions have this id; undefined when the organization has none. */
export function projectOfPrompt(
  catalog: Catalog,
  records: RecordReader,
  organizationId: string,
  id: string,
): string | undefined {
  for (const project of catalog.list('project', { organizationId })) {
    const prompts = catalog.object('project_prompts', project.id)
    if (prompts && records.latest(prompts.number, id)) return project.id
  }
  return undefined
}
