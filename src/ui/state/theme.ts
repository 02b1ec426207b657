/** Light or dark: as the system has it, unless the person chose. */
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'assay-theme'

function stored(): Theme {
  const value = window.localStorage.getItem(storageKey)
  return value === 'light' || value === 'dark' ? value : 'system'
}

export const theme = signal<Theme>(stored())

effect(() => {
  const { dataset } = document.documentElement
  if (theme.value === 'system') {
    delete dataset.theme
    window.localStorage.removeItem(storageKey)
  } else {
    dataset.theme = theme.value
    window.localStorage.setItem(storageKey, theme.value)
  }
})
