/** Which entries of the catalog are, or have, objects that hold records. */
import type { ObjectType } from '../type/record.ts'
import type { EntryKind } from './entry.ts'

/** Objects whose name is that of an entry. */
export const kindsOfObjects: ReadonlyMap<ObjectType, EntryKind> = new Map([
  ['experiment', 'experiment'],
  ['dataset', 'dataset'],
  ['playground_logs', 'prompt_session'],
])

const typesOfProjects: readonly ObjectType[] = ['project_logs', 'project_prompts', 'project_views']

/** Types of the objects that an entry is or, as a project, has one of; none for what holds no records. */
export function objectTypesOf(kind: EntryKind): readonly ObjectType[] {
  if (kind === 'project') return typesOfProjects
  return [...kindsOfObjects].flatMap(([type, each]) => (each === kind ? [type] : []))
}
