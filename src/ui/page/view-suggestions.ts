/** Saved views, offered where one begins to search. */
import { useState } from 'preact/hooks'
import type { Suggestion } from '../component/search-input.tsx'
import { useLoaded } from '../service/load.ts'
import { listViews } from '../service/saved-views.ts'
import { openView } from './view-menu.tsx'

/** They are asked for once somebody begins. */
export function useViewSuggestions(projectId: string) {
  const [isAsked, setAsked] = useState(false)
  const { data } = useLoaded(isAsked ? `views to suggest ${projectId}` : undefined, (signal) =>
    listViews(projectId, signal),
  )
  const suggestions = (data ?? []).map(
    (view): Suggestion => ({
      text: view.name,
      detail: 'view',
      onTake: () => openView(view),
    }),
  )
  return { suggestions, onBegin: () => setAsked(true) }
}
