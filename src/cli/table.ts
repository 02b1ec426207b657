/** Lays rows out for a terminal. */
import { ExactNumber, writeExactJson } from '../type/exact-json.ts'

export type TableRow = Readonly<Record<string, unknown>>

/** A column is not made narrower than this to fit the others in. */
const leastWidth = 8

/**
 * A table as wide as `width` at most, where that is possible. Texts too long for their column end
 * in an ellipsis; columns of numbers only are aligned to the right.
 */
export function formatTable(columns: readonly string[], rows: readonly TableRow[], width: number) {
  const cells = rows.map((row) => columns.map((column) => cellText(row, column)))
  const numeric = columns.map((column) => rows.every((row) => isNumeric(cell(row, column))))
  const natural = columns.map((column, index) =>
    Math.max(textWidth(column), ...cells.map((row) => textWidth(row[index]!)), 1),
  )
  const widths = narrow(natural, width - 3 * (columns.length - 1))
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => align(text, widths[index]!, numeric[index]!))
      .join(' │ ')
      .trimEnd()
  const rule = widths.map((columnWidth) => '─'.repeat(columnWidth)).join('─┼─')
  return [line(columns), rule, ...cells.map(line)].join('\n')
}

/** Takes from the widest columns until all of them fit. */
function narrow(natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, each) => sum + each, 0) - width
  while (excess > 0) {
    const widest = Math.max(...widths)
    if (widest <= leastWidth) break
    const next = Math.max(leastWidth, ...widths.filter((each) => each < widest))
    const count = widths.filter((each) => each === widest).length
    const cut = Math.min(widest - next, Math.ceil(excess / count))
    for (let i = 0; i < widths.length; i++) if (widths[i] === widest) widths[i] = widest - cut
    excess -= cut * count
  }
  return widths
}

function cell(row: TableRow, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : null
}

function cellText(row: TableRow, column: string): string {
  const value = cell(row, column)
  if (typeof value === 'number') return numberText(value)
  const text = typeof value === 'string' ? value : value === null ? '' : writeExactJson(value)
  // Control characters could move the cursor, or do worse to a terminal.
  return text.slice(0, 2000).replace(/\p{Cc}+/gu, ' ')
}

/** Fractions to seven digits, which is what a reader takes in; JSON lines have them all. */
function numberText(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)))
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber || value === null
}

function align(text: string, width: number, right: boolean): string {
  const cut = textWidth(text) > width ? `${cutTo(text, width - 1)}…` : text
  const padding = ' '.repeat(Math.max(0, width - textWidth(cut)))
  return right ? padding + cut : cut + padding
}

function cutTo(text: string, width: number): string {
  let used = 0
  let kept = ''
  for (const character of text) {
    used += characterWidth(character)
    if (used > width) break
    kept += character
  }
  return kept
}

function textWidth(text: string): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** Columns of a terminal: two for East Asian scripts and emoji, none for combining marks. */
function characterWidth(character: string): number {
  if (character < '\u0300') return 1
  if (/\p{M}|\p{Cf}/u.test(character)) return 0
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u.test(
    character,
  )
    ? 2
    : 1
}
