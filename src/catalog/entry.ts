/**
 * What the catalog keeps, in the shapes that REST answers: every key is present, and null when it is
 * not set.
 */

export interface Organization {
  readonly id: string
  readonly name: string
  readonly created: string
}

export interface User {
  readonly id: string
  readonly org_id: string
  readonly given_name: string | null
  readonly family_name: string | null
  readonly email: string | null
  readonly created: string
}

/** A key as it is kept: its text is not in it, only the SHA-256 of it in hexadecimal. */
export interface ApiKey {
  readonly id: string
  readonly org_id: string
  readonly user_id: string
  readonly name: string
  readonly preview_name: string
  readonly hash: string
  readonly created: string
}

export type Fields = { readonly [key: string]: unknown }

export interface Project {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
  readonly deleted_at: string | null
  readonly user_id: string | null
  readonly settings: Fields | null
}

export interface Experiment {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
  readonly repo_info: Fields | null
  readonly commit: string | null
  readonly base_exp_id: string | null
  readonly deleted_at: string | null
  readonly dataset_id: string | null
  readonly dataset_version: string | null
  readonly internal_metadata: Fields | null
  readonly parameters_id: string | null
  readonly parameters_version: string | null
  readonly public: boolean
  readonly user_id: string | null
  readonly metadata: Fields | null
  readonly tags: readonly string[] | null
}

export interface Dataset {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
  readonly deleted_at: string | null
  readonly user_id: string | null
  readonly tags: readonly string[] | null
  readonly metadata: Fields | null
  readonly url_slug: string
}

/** A playground. Its runs are logged in it. */
export interface PromptSession {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
  readonly deleted_at: string | null
  readonly user_id: string | null
}

/** What a caller may set of a new entry; the catalog gives the rest. */
type New<Entry, Given extends keyof Entry> = Pick<Entry, Given> &
  Partial<Omit<Entry, Given | 'id' | 'created' | 'deleted_at'>>

export type NewProject = New<Project, 'org_id' | 'name'>
export type NewExperiment = New<Experiment, 'project_id' | 'name'>
export type NewDataset = New<Dataset, 'project_id' | 'name'>
export type NewPromptSession = New<PromptSession, 'project_id' | 'name'>
