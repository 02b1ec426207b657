/**
 * One record of CSV, found in bytes: every byte that means something is ASCII. Libraries do not tell which cells are
 * in quotes, by which the text "12" differs from the number, nor go on after a record whose quotes are wrong.
 */

export interface CsvCell {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  /** Whether quotes in it are written twice. */
  readonly hasQuotes: boolean
}

export interface CsvLine {
  readonly cells: readonly CsvCell[]
  /** Where the next begins. */
  readonly next: number
  /** Whether a cell that is not in quotes has quotes in it, which are taken as they are. */
  readonly isLoose: boolean
}

/** What ends a record: usually a line feed, with or without a carriage return; in files of old a carriage return. */
export type LineEnd = 0x0a | 0x0d

export interface CsvForm {
  readonly delimiter: number
  readonly lineEnd: LineEnd
}

const quote = 0x22
const carriageReturn = 0x0d
const space = 0x20

/**
 * Reads the record that begins at `from`: `more` when its end is not among the bytes and others follow, a reason
 * when its quotes are wrong.
 */
export function readCsvLine(
  bytes: Uint8Array,
  from: number,
  isWhole: boolean,
  { delimiter, lineEnd }: CsvForm,
): CsvLine | 'more' | { readonly fault: string } {
  const { length } = bytes
  const cells: CsvCell[] = []
  let isLoose = false
  let at = from
  for (;;) {
    const isQuoted = bytes[at] === quote
    let start = at
    let end: number
    let hasQuotes = false
    if (isQuoted) {
      start = ++at
      end = closingQuote(bytes, start)
      if (end < 0) return isWhole ? { fault: 'a quote opens in it that is never closed' } : 'more'
      if (end + 1 === length && !isWhole) return 'more'
      hasQuotes = bytes.subarray(start, end).includes(quote)
      at = end + 1
      while (at < length && bytes[at] === space && delimiter !== space) at++
    } else {
      while (at < length && bytes[at] !== delimiter && bytes[at] !== lineEnd) {
        if (bytes[at] === quote) isLoose = true
        at++
      }
      end = at
    }
    const isCut = at >= length && !isWhole
    if (isCut) return 'more'
    if (isQuoted && bytes[at] === carriageReturn && lineEnd !== carriageReturn) {
      const isLast = at + 1 === length
      if (isLast && !isWhole) return 'more'
      if (isLast || bytes[at + 1] === lineEnd) at++
    }
    const isEnd = at >= length || bytes[at] === lineEnd
    if (!isQuoted && isEnd && end > start && bytes[end - 1] === carriageReturn) end--
    cells.push({ start, end, isQuoted, hasQuotes })
    if (at >= length) return { cells, next: length, isLoose }
    if (bytes[at] === lineEnd) return { cells, next: at + 1, isLoose }
    if (bytes[at] !== delimiter) {
      return { fault: `cell ${cells.length} goes on after the quote that closes it` }
    }
    at++
  }
}

/** Where the quote is that closes a cell: one that no other follows; less than 0 when none is there. */
function closingQuote(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(quote, from)
  while (at >= 0 && bytes[at + 1] === quote) at = bytes.indexOf(quote, at + 2)
  return at
}
