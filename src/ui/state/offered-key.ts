/**
 * A key that a link brings along for the form of the sign-in, behind `#key=`, as the demonstration prints
 * it. No server is sent what stands there. It is taken out of the address at once, so that it is in no
 * bookmark and no copied link; nobody is signed in by it without saying so.
 */
import { fragment, goTo, path } from './location.ts'

function take(): string | undefined {
  const key = new URLSearchParams(fragment.value).get('key')
  if (key === null) return undefined
  goTo(path.value + window.location.search, { replace: true })
  return key
}

export const offeredKey = take()
