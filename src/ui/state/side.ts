/** Whether the way to other pages is folded to its icons; kept in this browser. */
import { effect, signal } from '@preact/signals'

const storageKey = 'assay-side'

export const isSideFolded = signal(window.localStorage.getItem(storageKey) === 'folded')

effect(() => {
  if (isSideFolded.value) window.localStorage.setItem(storageKey, 'folded')
  else window.localStorage.removeItem(storageKey)
})
