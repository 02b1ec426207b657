/** Queries that a person has run, newest first; kept in this browser, each person's apart. */
import { session } from '../service/session.ts'

export interface PastQuery {
  readonly text: string
  readonly project: string
  /** ISO time. */
  readonly at: string
  readonly milliseconds: number | undefined
  readonly rows: number | undefined
  readonly hasFailed: boolean
}

const mostQueries = 200

/** Characters of all texts together; browsers keep some 5 MB for a page. */
const mostCharacters = 500_000

function keyOf(what: string): string {
  const { user, organization } = session.value ?? {}
  return `assay-${what} ${organization?.id ?? ''} ${user?.id ?? ''}`
}

export function readHistory(): readonly PastQuery[] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(keyOf('queries')) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isPastQuery) : []
  } catch {
    return []
  }
}

/** Takes the place of the same text run before. */
export function remember(query: PastQuery): void {
  const others = readHistory().filter(
    ({ text, project }) => text !== query.text || project !== query.project,
  )
  let characters = 0
  const kept = [query, ...others].slice(0, mostQueries).filter(({ text }) => {
    characters += text.length
    return characters <= mostCharacters
  })
  keep('queries', JSON.stringify(kept))
}

export function forgetHistory(): void {
  window.localStorage.removeItem(keyOf('queries'))
}

/** What is written and not run yet. */
export function readDraft(project: string): string | undefined {
  return window.localStorage.getItem(keyOf(`draft ${project}`)) ?? undefined
}

export function keepDraft(project: string, text: string): void {
  if (text.length <= mostCharacters) keep(`draft ${project}`, text)
}

/** Without room, what was kept before stays. */
function keep(what: string, text: string): void {
  try {
    window.localStorage.setItem(keyOf(what), text)
  } catch {
    // The browser's storage is full or switched off: the page works without it.
  }
}

function isPastQuery(value: unknown): value is PastQuery {
  if (typeof value !== 'object' || value === null) return false
  const { text, project, at } = value as Readonly<Record<string, unknown>>
  return typeof text === 'string' && typeof project === 'string' && typeof at === 'string'
}
