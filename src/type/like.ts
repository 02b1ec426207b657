/**
 * LIKE patterns. `%` stands for any run of characters, `_` for one, and a backslash takes the
 * character after it literally. A pattern matches the whole text.
 *
 * Matching takes the leftmost place for each stretch between two `%`, which is never wrong because
 * what follows can only gain from it, so nothing is ever tried twice.
 */
import { hasPart, indexOfPart, isWithin } from './find-part.ts'
import { textOf } from './text.ts'
import type { Value } from './value.ts'

/** A stretch of a pattern between two `%`: texts, and the number of characters to skip before each. */
interface Stretch {
  readonly parts: readonly { readonly skip: number; readonly text: string }[]
  /** Characters to skip after the last text. */
  readonly trailingSkip: number
}

export interface LikePattern {
  /** Every kind but `general` is told completely by its needle. */
  readonly kind: 'contains' | 'prefix' | 'suffix' | 'exact' | 'general'
  /**
   * The text to find; of a `general` pattern its longest literal text, which occurs in everything
   * that the pattern matches. In lower case when the pattern ignores case.
   */
  readonly needle: string
  readonly caseInsensitive: boolean
  /** One more than there are runs of `%`; the first and last stand at the ends of the text. */
  readonly stretches: readonly Stretch[]
}

/** Takes a pattern apart. A backslash at its very end stands for itself. */
export function parseLike(pattern: string, caseInsensitive: boolean): LikePattern {
  const stretches = parseStretches(caseInsensitive ? pattern.toLowerCase() : pattern)
  const texts = stretches.flatMap((stretch) => stretch.parts.map((part) => part.text))
  const needle = texts.reduce(
    (longest, text) => (text.length > longest.length ? text : longest),
    '',
  )
  return { kind: kindOfPattern(stretches), needle, caseInsensitive, stretches }
}

/** A function that says whether a text matches the pattern. */
export function compileLike(pattern: string, caseInsensitive: boolean): (text: string) => boolean {
  const parsed = parseLike(pattern, caseInsensitive)
  const matches = matcher(parsed)
  return caseInsensitive ? (text) => matches(text.toLowerCase()) : matches
}

/** `value like pattern`; what is not a string is matched by its JSON. */
export function like(value: Value, pattern: Value, caseInsensitive: boolean): boolean | null {
  if (value === null || typeof pattern !== 'string') return null
  if (last.pattern !== pattern || last.caseInsensitive !== caseInsensitive) {
    last = { pattern, caseInsensitive, matches: compileLike(pattern, caseInsensitive) }
  }
  return last.matches(textOf(value))
}

/** The pattern that was used last, which the next row most likely has too. */
let last = { pattern: '', caseInsensitive: false, matches: compileLike('', false) }

function matcher(pattern: LikePattern): (text: string) => boolean {
  const { kind, needle, stretches } = pattern
  switch (kind) {
    case 'exact':
      return (text) => text === needle
    case 'prefix':
      return (text) => text.startsWith(needle) && !isWithin(text, needle.length)
    case 'suffix':
      return (text) => text.endsWith(needle) && !isWithin(text, text.length - needle.length)
    case 'contains':
      return (text) => hasPart(text, needle)
    case 'general':
      return (text) => matchesStretches(text, stretches)
  }
}

function kindOfPattern(stretches: readonly Stretch[]): LikePattern['kind'] {
  if (stretches.some((stretch) => !isLiteral(stretch))) return 'general'
  if (stretches.length === 1) return 'exact'
  const [first, second, third] = stretches.map((stretch) => stretch.parts.length > 0)
  if (stretches.length === 2)
    return first ? (second ? 'general' : 'prefix') : second ? 'suffix' : 'contains'
  return stretches.length === 3 && !first && second && !third ? 'contains' : 'general'
}

function isLiteral(stretch: Stretch): boolean {
  return stretch.trailingSkip === 0 && stretch.parts.every((part) => part.skip === 0)
}

function parseStretches(pattern: string): Stretch[] {
  const stretches: Stretch[] = []
  let parts: { skip: number; text: string }[] = []
  let skip = 0
  let text = ''
  const endText = (): void => {
    if (text === '') return
    parts.push({ skip, text })
    skip = 0
    text = ''
  }
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!
    if (character === '%') {
      endText()
      const empty = parts.length === 0 && skip === 0
      if (!empty || stretches.length === 0) stretches.push({ parts, trailingSkip: skip })
      parts = []
      skip = 0
    } else if (character === '_') {
      endText()
      skip++
    } else {
      if (character === '\\' && i + 1 < pattern.length) i++
      text += pattern[i]!
    }
  }
  endText()
  stretches.push({ parts, trailingSkip: skip })
  return stretches
}

function matchesStretches(text: string, stretches: readonly Stretch[]): boolean {
  const first = stretches[0]!
  let position = matchAt(text, 0, first)
  if (stretches.length === 1) return position === text.length
  if (position < 0) return false
  const last = stretches[stretches.length - 1]!
  for (let i = 1; i < stretches.length - 1; i++) {
    position = findFrom(text, position, stretches[i]!)
    if (position < 0) return false
  }
  return matchBefore(text, text.length, last) >= position
}

/** Where the stretch ends when it starts at `start`, or -1. */
function matchAt(text: string, start: number, stretch: Stretch): number {
  return matchParts(text, start, stretch, 0)
}

function matchParts(text: string, start: number, stretch: Stretch, fromPart: number): number {
  let position = start
  for (let i = fromPart; i < stretch.parts.length; i++) {
    const part = stretch.parts[i]!
    position = skipForward(text, position, part.skip)
    if (position < 0 || !text.startsWith(part.text, position)) return -1
    position += part.text.length
    if (isWithin(text, position)) return -1
  }
  return skipForward(text, position, stretch.trailingSkip)
}

/** Where the stretch ends at its first occurrence from `start` on, or -1. */
function findFrom(text: string, start: number, stretch: Stretch): number {
  const head = stretch.parts[0]
  if (!head) return skipForward(text, start, stretch.trailingSkip)
  const earliest = skipForward(text, start, head.skip)
  if (earliest < 0) return -1
  let found = indexOfPart(text, head.text, earliest)
  while (found >= 0) {
    const end = matchParts(text, found + head.text.length, stretch, 1)
    if (end >= 0) return end
    found = indexOfPart(text, head.text, found + 1)
  }
  return -1
}

/** Where the stretch starts when it ends at `end`, or -1. */
function matchBefore(text: string, end: number, stretch: Stretch): number {
  let position = skipBackward(text, end, stretch.trailingSkip)
  for (let i = stretch.parts.length - 1; i >= 0; i--) {
    const part = stretch.parts[i]!
    if (position < 0 || !text.endsWith(part.text, position)) return -1
    position -= part.text.length
    if (isWithin(text, position)) return -1
    position = skipBackward(text, position, part.skip)
  }
  return position
}

function skipForward(text: string, start: number, count: number): number {
  let position = start
  for (let skipped = 0; skipped < count; skipped++) {
    if (position >= text.length) return -1
    position += text.codePointAt(position)! > 0xffff ? 2 : 1
  }
  return position
}

function skipBackward(text: string, end: number, count: number): number {
  let position = end
  for (let skipped = 0; skipped < count; skipped++) {
    if (position <= 0) return -1
    position -= position > 1 && text.codePointAt(position - 2)! > 0xffff ? 2 : 1
  }
  return position
}
