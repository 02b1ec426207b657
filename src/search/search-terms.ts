/** Words of a search that mean nothing else, as conditions that look for them. */
import { printString } from '../parser/print.ts'

export interface Term {
  readonly text: string
  readonly isPhrase: boolean
  readonly isUnwanted: boolean
  /** Joined to the one before by `or`. */
  readonly isAlternative: boolean
  /** Terms of the same stretch stand beside each other. */
  readonly stretch: number
}

/** Where `or` stands, what is beside it on either side; all others are looked for together. */
export function searches(wanted: readonly Term[]): string[] {
  const alternatives = wanted.filter(({ isAlternative }) => isAlternative)
  const stretches = new Set(alternatives.map(({ stretch }) => stretch))
  const together = wanted.filter(({ stretch }) => !stretches.has(stretch))
  const search = (terms: readonly Term[]) => `search(${printString(searchText(terms))})`
  return [
    ...(together.length > 0 ? [search(together)] : []),
    ...[...stretches].map((stretch) => {
      const groups: Term[][] = [[]]
      for (const term of wanted.filter((each) => each.stretch === stretch)) {
        if (term.isAlternative) groups.push([])
        groups.at(-1)!.push(term)
      }
      return `(${groups.map(search).join(' or ')})`
    }),
  ]
}

/** What `search` takes: a phrase stays together in quotes. */
export function searchText(terms: readonly Term[]): string {
  return terms
    .map(({ text, isPhrase }) => (isPhrase ? `"${text.replace(/"/g, ' ')}"` : text))
    .join(' ')
}

export function toldTerms(terms: readonly Term[]): string {
  return terms
    .map(({ text, isAlternative }, i) => {
      return `${i === 0 ? '' : isAlternative ? ' or ' : ' and '}"${text}"`
    })
    .join('')
}
