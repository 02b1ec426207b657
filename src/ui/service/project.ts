import { requestJson } from './client.ts'
import { type Loaded, useLoaded } from './load.ts'

export interface Project {
  readonly id: string
  readonly name: string
  readonly settings: ProjectSettings | null
}

export interface ProjectSettings {
  readonly baseline_experiment_id?: string | null
  /** An expression by which examples of experiments are matched; their input, if it is not set. */
  readonly comparison_key?: string | null
}

/** The project of a name; its absence is an error that says so. */
export function useProject(name: string): Loaded<Project> {
  return useLoaded(`project ${name}`, async (signal) => {
    const target = `/v1/project?project_name=${encodeURIComponent(name)}`
    const { objects } = await requestJson<{ objects: readonly Project[] }>(target, { signal })
    const [project] = objects
    if (!project) throw new Error(`There is no project "${name}", or it is not for you to see`)
    return project
  })
}
