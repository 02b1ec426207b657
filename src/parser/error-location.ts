import type { WireError } from '../error.ts'

export interface Location {
  /** From 1. */
  readonly line: number
  /** From 1, in characters (code points). */
  readonly column: number
}

/** What of an error is shown to a user; an `AssayError` is one. */
export type ShownError = Pick<WireError, 'code' | 'message'> & {
  readonly span?: WireError['span'] | undefined
  readonly hint?: string | undefined
  readonly others?: readonly ShownError[] | undefined
}

/** The most characters of a line that are shown around the place of an error. */
const shownWidth = 100
const lineBreak = /\r\n|\n|\r/g

/** Finds the line and column of an offset; one past the end counts as the end. */
export function locate(text: string, offset: number): Location {
  const { line, start } = lineAt(text, offset)
  return { line, column: codePointCount(text.slice(start, Math.min(offset, text.length))) + 1 }
}

/**
 * Renders an error for people: its code and message, then, if it has a place in `text`, line and
 * column and that line with carets under the fault, then the hint; then the other faults of the text
 * in the same way.
 */
export function renderError(text: string, error: ShownError): string {
  const lines = [`${error.code}: ${error.message}`]
  if (error.span !== undefined) lines.push(...renderPlace(text, error.span))
  if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`)
  for (const other of error.others ?? []) lines.push(renderError(text, other))
  return lines.join('\n')
}

function renderPlace(text: string, span: { start: number; end: number }): string[] {
  const { line, start, end } = lineAt(text, span.start)
  const { column } = locate(text, span.start)
  // A fault that goes on past its line is marked up to the line's end.
  const stop = Math.max(Math.min(span.end, end), Math.min(span.start, end))
  const marked = Math.max(1, codePointCount(text.slice(span.start, stop)))
  const shown = cut(text.slice(start, end), column - 1, marked)
  const number = String(line).padStart(3)
  const gutter = ' '.repeat(number.length)
  return [
    `  at line ${line}, column ${column}`,
    `${number} | ${shown.text}`.trimEnd(),
    `${gutter} | ${' '.repeat(shown.column)}${'^'.repeat(shown.marked)}`,
  ]
}

/** Cuts a line to what fits, so that the carets stay in view. */
function cut(
  line: string,
  column: number,
  marked: number,
): { text: string; column: number; marked: number } {
  // A tab or a control character would push the carets out of place.
  const characters = [...line].map((character) => (/\p{Cc}/u.test(character) ? ' ' : character))
  if (characters.length <= shownWidth) return { text: characters.join(''), column, marked }
  const latest = characters.length - shownWidth
  const first = Math.max(0, Math.min(latest, column - Math.floor(shownWidth / 3)))
  const last = first + shownWidth
  const before = first > 0 ? '…' : ''
  const after = last < characters.length ? '…' : ''
  return {
    text: before + characters.slice(first, last).join('') + after,
    column: column - first + before.length,
    marked: Math.max(1, Math.min(marked, last - column)),
  }
}

/** The line that holds `offset`: its number from 1, and where it starts and ends in the text. */
function lineAt(text: string, offset: number): { line: number; start: number; end: number } {
  let line = 1
  let start = 0
  for (const found of text.matchAll(lineBreak)) {
    if (found.index + found[0].length > offset) return { line, start, end: found.index }
    line++
    start = found.index + found[0].length
  }
  return { line, start, end: text.length }
}

function codePointCount(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; count++) i += text.codePointAt(i)! > 0xffff ? 2 : 1
  return count
}
