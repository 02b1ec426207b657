import type { Sought } from '../component/marked.tsx'
import type { Interpretation } from './query.ts'

/** What a search looks for in texts, once each. */
export function soughtBy(interpretation: Interpretation | undefined): readonly Sought[] {
  const found = new Map<string, Sought>()
  for (const { words, part } of interpretation?.looked_for ?? []) {
    if (words !== undefined) found.set(`words ${words}`, { words })
    else if (part !== undefined) found.set(`part ${part}`, { part })
  }
  return [...found.values()]
}
