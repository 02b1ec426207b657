import { shownProject } from '../state/location.ts'

/** A source of a project that names none, which stands for the one whose pages are shown. */
const unnamed = /\bproject(?:_logs|_prompts|_functions|_views)?\s*\(\s*(?:\)|shape\s*=>)/i

/** What a request has to say for such a query; nothing for all others, which are the same everywhere. */
export function ownProject(query: string): { readonly project_name?: string } {
  const name = shownProject.value
  return name !== undefined && unnamed.test(query) ? { project_name: name } : {}
}
