/** The search of the documentation: sections that have the words, those first whose headings have them. */
import type { DocumentPage, DocumentSection, Documents } from './document-files.ts'

export interface FoundSection {
  readonly page: DocumentPage
  readonly section: DocumentSection
  /** A piece of its text in which the words are, with the places of the words in it. */
  readonly excerpt: string
  readonly places: readonly (readonly [start: number, end: number])[]
}

export interface Found {
  readonly sections: readonly FoundSection[]
  /** Whether each section has all the words; else each has some, and those with the most come first. */
  readonly hasAll: boolean
}

const mostFound = 30
const mostWords = 10
/** Characters of an excerpt, and how many of them stand before the first word. */
const excerptLength = 240
const excerptLead = 60

/** Words are parts of the text, in any case. */
export function findSections({ pages }: Documents, query: string): Found {
  const words = wordsOf(query)
  const scored = pages
    .flatMap((page) => page.sections.map((section) => ({ page, section })))
    .map((each) => ({ ...each, ...scoreOf(each.page, each.section, words) }))
    .filter(({ found }) => found > 0)
    .sort((a, b) => b.found - a.found || b.score - a.score)
  const hasAll = scored[0]?.found === words.length
  const sections = scored
    .filter(({ found }) => !hasAll || found === words.length)
    .slice(0, mostFound)
    .map(({ page, section }) => ({ page, section, ...excerptOf(section.text, words) }))
  return { sections, hasAll }
}

function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter(Boolean).slice(0, mostWords)
}

/** How many of the words are in a section or in its page's title, and how well they fit. */
function scoreOf(
  page: DocumentPage,
  section: DocumentSection,
  words: readonly string[],
): { readonly found: number; readonly score: number } {
  const title = section.title.toLowerCase()
  const text = section.text.toLowerCase()
  const pageTitle = page.title.toLowerCase()
  const scores = words.map((word) => {
    const inTitle = (title.includes(word) ? 20 : 0) + (title === word ? 20 : 0)
    const inPage = pageTitle.includes(word) ? 5 : 0
    return inTitle + inPage + Math.min(text.split(word).length - 1, 5)
  })
  return {
    found: scores.filter((score) => score > 0).length,
    score: scores.reduce((sum, score) => sum + score, 0),
  }
}

function excerptOf(
  text: string,
  words: readonly string[],
): Pick<FoundSection, 'excerpt' | 'places'> {
  const lower = text.toLowerCase()
  const first = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter(isFound)))
  const from = Number.isFinite(first) ? wordStart(text, first - excerptLead) : 0
  const excerpt = text.slice(from, from + excerptLength)
  return { excerpt, places: placesOf(excerpt.toLowerCase(), words) }
}

function isFound(place: number): boolean {
  return place >= 0
}

function wordStart(text: string, near: number): number {
  return near <= 0 ? 0 : text.lastIndexOf(' ', near) + 1
}

/** In order, none over another. */
function placesOf(text: string, words: readonly string[]): [number, number][] {
  const all = words.flatMap((word) => {
    const places: [number, number][] = []
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      places.push([at, at + word.length])
    }
    return places
  })
  let end = 0
  return all
    .sort(([a], [b]) => a - b)
    .filter(([start, stop]) => {
      if (start < end) return false
      end = stop
      return true
    })
}
