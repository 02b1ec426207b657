/**
 * Where the person was before the provider took over this tab. It stays in the tab: nothing that a link says
 * decides where one comes back to.
 */
import { goTo, path } from './location.ts'

const name = 'assay.returning'
const lastsMs = 15 * 60_000

/** Called when the browser is about to leave for the provider. */
export function leave(): void {
  const { search } = window.location
  const place = { to: path.value + search, at: Date.now() }
  sessionStorage.setItem(name, JSON.stringify(place))
}

/** Goes back there, once, if it was lately. */
export function comeBack(): void {
  const text = sessionStorage.getItem(name)
  if (text === null) return
  sessionStorage.removeItem(name)
  const { to, at } = JSON.parse(text) as { readonly to: string; readonly at: number }
  if (path.value === '/app' && Date.now() - at < lastsMs) goTo(to, { replace: true })
}
