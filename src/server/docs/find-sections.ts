/** The search of the documentation: sections that have all the words, those first whose headings have them. */
import type { DocumentPage, DocumentSection, Documents } from './document-files.ts'

export interface FoundSection {
  readonly page: DocumentPage
  readonly section: DocumentSection
  /** A piece of its text in which the words are, with the places of the words in it. */
  readonly excerpt: string
  readonly places: readonly (readonly [start: number, end: number])[]
}

const mostFound = 30
const mostWords = 10
/** Characters of an excerpt, and how many of them stand before the first word. */
const excerptLength = 240
const excerptLead = 60

/** Words are parts of the text in any case; what is in no word or sign finds nothing. */
export function findSections({ pages }: Documents, query: string): FoundSection[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  return pages
    .flatMap((page) => page.sections.map((section) => ({ page, section })))
    .map((each) => ({ ...each, score: scoreOf(each.page, each.section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostFound)
    .map(({ page, section }) => ({ page, section, ...excerptOf(section.text, words) }))
}

export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, mostWords)
}

/** 0 where a word is missing. */
function scoreOf(page: DocumentPage, section: DocumentSection, words: readonly string[]): number {
  const title = section.title.toLowerCase()
  const text = section.text.toLowerCase()
  let score = 0
  for (const word of words) {
    const count = Math.min(text.split(word).length - 1, 5)
    const isInTitle = title.includes(word)
    const isInPage = page.title.toLowerCase().includes(word)
    if (count === 0 && !isInTitle && !isInPage) return 0
    score += count + (isInTitle ? 20 : 0) + (title === word ? 20 : 0) + (isInPage ? 5 : 0)
  }
  return score
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
