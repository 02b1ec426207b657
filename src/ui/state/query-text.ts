/**
 * The query that a page shows, in its address: as the parameter `q`, or, where it is too long for
 * servers and proxies, behind the `#`, which browsers keep to themselves.
 */
import { computed } from '@preact/signals'
import { fragment, parameter, setParameters } from './location.ts'

/** Characters, as they are written in an address; proxies take some 4 to 8 thousand for all of it. */
const longestParameter = 1500

const inFragment = 'q='

export const queryText = computed<string | undefined>(() => {
  const short = parameter('q')
  if (short !== undefined) return short
  const { value } = fragment
  if (!value.startsWith(inFragment)) return undefined
  try {
    return decodeURIComponent(value.slice(inFragment.length))
  } catch {
    return undefined
  }
})

/** Puts a query into the address, with changes of other parameters; undefined takes it out. */
export function setQueryText(
  text: string | undefined,
  more: Readonly<Record<string, string | undefined>> = {},
  { replace = false } = {},
): void {
  const written = encodeURIComponent(text ?? '')
  const isLong = written.length > longestParameter
  setParameters(
    { q: isLong ? undefined : text, ...more },
    { replace, fragment: isLong ? inFragment + written : '' },
  )
}
