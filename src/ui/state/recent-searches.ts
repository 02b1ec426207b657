/** What was searched for on this computer, newest first. */
const storageKey = 'assay-searches'
const mostKept = 50

function kept(): readonly string[] {
  try {
    const value: unknown = JSON.parse(window.localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  } catch {
    // What another program put there is no list of searches.
    return []
  }
}

export function rememberSearch(text: string): void {
  if (text === '') return
  const next = [text, ...kept().filter((each) => each !== text)].slice(0, mostKept)
  window.localStorage.setItem(storageKey, JSON.stringify(next))
}

/** Those that have the text somewhere, and are not it. */
export function searchesLike(text: string): readonly string[] {
  const wanted = text.trim().toLowerCase()
  return kept().filter((each) => each.toLowerCase().includes(wanted) && each !== text)
}
