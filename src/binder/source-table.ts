/** The sources that a query may name in `from`. */
import type { ObjectType } from '../type/record.ts'

/** How the arguments of a source name objects, and which of their rows are meant. */
export type SourceTable =
  /** Ids or names of objects; what a project has one of goes by the project's. */
  | { readonly kind: 'objects'; readonly type: ObjectType; readonly rows?: 'prompts' }
  /** Ids or names of projects, whose logs, experiments, datasets and playgrounds are read. */
  | { readonly kind: 'project' }
  /** A project and a dataset in it. */
  | { readonly kind: 'project_dataset' }
  /** The id or name of the organization: the objects of all its projects. */
  | { readonly kind: 'organization'; readonly type: ObjectType; readonly rows?: 'prompts' }
  /** Ids of rows, in any project. */
  | { readonly kind: 'rows'; readonly type: ObjectType; readonly rows?: 'prompts' }

export const sourceTables: ReadonlyMap<string, SourceTable> = new Map([
  ['experiment', { kind: 'objects', type: 'experiment' }],
  ['dataset', { kind: 'objects', type: 'dataset' }],
  ['project_logs', { kind: 'objects', type: 'project_logs' }],
  ['project', { kind: 'project' }],
  ['project_dataset', { kind: 'project_dataset' }],
  ['playground_logs', { kind: 'objects', type: 'playground_logs' }],
  ['prompt_session', { kind: 'objects', type: 'playground_logs' }],
  ['project_prompts', { kind: 'objects', type: 'project_prompts', rows: 'prompts' }],
  ['project_functions', { kind: 'objects', type: 'project_prompts' }],
  ['project_views', { kind: 'objects', type: 'project_views' }],
  ['org_prompts', { kind: 'organization', type: 'project_prompts', rows: 'prompts' }],
  ['org_functions', { kind: 'organization', type: 'project_prompts' }],
  ['prompt', { kind: 'rows', type: 'project_prompts', rows: 'prompts' }],
  ['function', { kind: 'rows', type: 'project_prompts' }],
  ['view', { kind: 'rows', type: 'project_views' }],
])
