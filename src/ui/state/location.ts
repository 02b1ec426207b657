/** Where in the page the person is. All of it is in the URL, so that every view can be shared. */
import { computed, signal } from '@preact/signals'

/** The path that all pages are under: what `<base>` says, without a slash at its end. */
export const base = new URL(document.baseURI).pathname.replace(/\/+$/, '')

interface Place {
  /** Below the base: `/app/acme/p/support/logs`. */
  readonly path: string
  readonly search: string
  /** With its `#`, or nothing. */
  readonly hash: string
}

function placeNow(): Place {
  const { pathname, search, hash } = window.location
  return { path: pathname.startsWith(base) ? pathname.slice(base.length) : pathname, search, hash }
}

const place = signal<Place>(placeNow())

/** Which entry of the history this is, counted from where the page was opened. */
function stepNow(): number {
  const { state } = window.history
  return typeof state === 'object' && typeof state?.step === 'number' ? state.step : 0
}

let step = stepNow()
let shownUrl = window.location.href

window.addEventListener('popstate', () => {
  const before = step
  step = stepNow()
  // What was opened and closed again has left two entries of one place: one step leads past both.
  if (window.location.href === shownUrl && step !== before) {
    if (step < before) window.history.back()
    else window.history.forward()
  }
  shownUrl = window.location.href
  place.value = placeNow()
})

export const path = computed(() => place.value.path)

/** Parts of the path, decoded. */
export const parts = computed(() =>
  path.value
    .split('/')
    .filter((part) => part !== '')
    .map(decodePart),
)

/** The name of the project whose pages are shown: `/app/<organization>/p/<project>/…`. */
export const shownProject = computed(() => {
  const [app, , p, project] = parts.value
  return app === 'app' && p === 'p' ? project : undefined
})

/** What stands behind the `#`, as it is written there. */
export const fragment = computed(() => place.value.hash.slice(1))

export const parameters = computed(() => new URLSearchParams(place.value.search))

export function goTo(target: string, { replace = false } = {}): void {
  const url = base + target
  if (replace) window.history.replaceState({ step }, '', url)
  else {
    step++
    window.history.pushState({ step }, '', url)
  }
  shownUrl = window.location.href
  place.value = placeNow()
}

/**
 * Changes parts of the view that the URL's query holds; undefined or an empty text removes one.
 *
 * @param options.fragment takes the place of the one that is there
 */
export function setParameters(
  changes: Readonly<Record<string, string | undefined>>,
  { replace = true, fragment }: { readonly replace?: boolean; readonly fragment?: string } = {},
): void {
  const hash = fragment === undefined ? place.value.hash : fragment && `#${fragment}`
  goTo(`${addressWith(changes)}${hash}`, { replace })
}

/** Opens something beside what is shown, or over it: Back closes it. */
export function openBeside(changes: Readonly<Record<string, string | undefined>>): void {
  setParameters(changes, { replace: false })
}

/** Where the view is that differs from the one that is shown by these parameters, for links. */
export function addressWith(changes: Readonly<Record<string, string | undefined>>): string {
  const next = new URLSearchParams(place.value.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  const search = next.toString()
  return `${place.value.path}${search === '' ? '' : `?${search}`}`
}

export function parameter(name: string): string | undefined {
  return parameters.value.get(name) ?? undefined
}

/** A path of the page out of parts that may hold anything. */
export function pathOf(...names: readonly string[]): string {
  return `/${names.map(encodeURIComponent).join('/')}`
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
