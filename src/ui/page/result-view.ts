/** How a result is shown; all of it is in the address. */

export const resultViews = [
  { id: 'table', title: 'Table' },
  { id: 'plot', title: 'Plot' },
  { id: 'raw', title: 'JSON' },
  { id: 'log', title: 'Audit log' },
] as const

export type ResultView = (typeof resultViews)[number]['id']

export function readView(text: string | undefined): ResultView {
  return resultViews.find(({ id }) => id === text)?.id ?? 'table'
}

/** Parts of the address that say how a result is shown, and are saved with a query. */
export const shownParameters = ['show', 'x', 'y', 'series', 'chart'] as const
