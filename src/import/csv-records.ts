/** Records of CSV, whose first line names the columns. */

import { unescapeFormula } from '../type/formula-text.ts'
import { ByteWindow } from './byte-window.ts'
import { type CellType, type ColumnTypes, cellJson } from './column-types.ts'
import { findCsvForm } from './csv-form.ts'
import { type CsvCell, type CsvForm, type CsvLine, readCsvLine } from './csv-line.ts'
import { decodeUtf8 } from './encoding.ts'
import { type BadLine, type FileRecord, reasonOf } from './file-record.ts'

export interface CsvOptions {
  /** One character; undefined: found by looking at the beginning. */
  readonly delimiter?: string | undefined
  readonly types: ColumnTypes
  readonly hasEscapedFormulas?: boolean | undefined
}

/** The beginning of a file by which its form is found. */
const headBytes = 64 * 1024

/** What is longer has a quote that is not closed. */
const longestRecord = 128 * 2 ** 20

/**
 * @param chunks UTF-8. A record whose quotes are wrong is told, and reading goes on in the line after the one where
 * it begins. Throws when the first line cannot be read, or names a column twice.
 */
export async function* csvRecords(
  chunks: AsyncIterable<Uint8Array>,
  { delimiter, types, hasEscapedFormulas }: CsvOptions,
): AsyncGenerator<FileRecord | BadLine> {
  const window = new ByteWindow(chunks)
  try {
    while (window.bytes.length < headBytes && (await window.more()));
    const separator = separatorLine(window.bytes)
    if (separator) window.drop(separator.length)
    const head = window.bytes.subarray(0, headBytes)
    const isWhole = head.length === window.bytes.length && window.isAtEnd
    const form = findCsvForm(head, isWhole, delimiter ?? separator?.delimiter)
    const written = hasEscapedFormulas ? unescapeFormula : asItIs
    yield* new CsvReader(window, form, types, separator ? 2 : 1, written).records()
  } finally {
    await window.close()
  }
}

/** `sep=;`, which spreadsheets write before the names. */
function separatorLine(bytes: Uint8Array) {
  const [line, delimiter] = /^sep=(.)\r?\n/i.exec(decodeLatin(bytes.subarray(0, 8))) ?? []
  return line === undefined ? undefined : { length: line.length, delimiter: delimiter! }
}

function decodeLatin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

/** A line as it was found, with the bytes that its cells are in. */
interface FoundLine {
  readonly number: number
  readonly bytes: Uint8Array
  readonly line: CsvLine | { readonly fault: string }
}

class CsvReader {
  readonly #window: ByteWindow
  readonly #form: CsvForm
  readonly #types: ColumnTypes
  /** What the text of a cell was before it was written. */
  readonly #before: (text: string) => string
  #number: number
  #names: readonly string[] = []
  #typesOfNames: readonly CellType[] = []
  /** Whether the record before was at fault, and this line may be the rest of it. */
  #isDoubtful = false

  constructor(
    window: ByteWindow,
    form: CsvForm,
    types: ColumnTypes,
    firstNumber: number,
    before: (text: string) => string,
  ) {
    this.#window = window
    this.#form = form
    this.#types = types
    this.#number = firstNumber
    this.#before = before
  }

  async *records(): AsyncGenerator<FileRecord | BadLine> {
    for (;;) {
      const found = await this.#next()
      if (!found) return
      const { number, bytes, line } = found
      const isFirst = this.#names.length === 0
      if ('fault' in line) {
        if (isFirst) throw new Error(`the names in line ${number}: ${line.fault}`)
        this.#isDoubtful = true
        yield { line: number, fault: line.fault }
      } else if (!isNothing(line.cells)) {
        if (isFirst) this.#begin(namesOf(bytes, line.cells).map(this.#before))
        else yield this.#record(number, bytes, line)
      }
    }
  }

  /** Records as this service exports them have quotes around texts that read like something else. */
  #begin(names: readonly string[]): void {
    const otherwise = names.includes('_xact_id') ? 'auto' : 'usual'
    this.#names = names
    this.#typesOfNames = names.map((name) => this.#types.of(name, otherwise))
  }

  async #next(): Promise<FoundLine | undefined> {
    for (;;) {
      const { bytes, isAtEnd } = this.#window
      if (bytes.length === 0 && isAtEnd) return undefined
      const isTooLong = bytes.length > longestRecord
      const line = readCsvLine(bytes, 0, isAtEnd || isTooLong, this.#form)
      if (line === 'more') {
        await this.#window.more()
        continue
      }
      const number = this.#number
      if ('fault' in line) await this.#passLine()
      else this.#pass(line.next)
      return { number, bytes, line }
    }
  }

  #pass(count: number): void {
    const { bytes } = this.#window
    for (let at = 0; at < count; at++) if (bytes[at] === this.#form.lineEnd) this.#number++
    this.#window.drop(count)
  }

  /** To the next line, whatever quotes there are. */
  async #passLine(): Promise<void> {
    let searched = 0
    for (;;) {
      const { bytes } = this.#window
      const end = bytes.indexOf(this.#form.lineEnd, searched)
      if (end >= 0) return this.#pass(end + 1)
      searched = bytes.length
      if (!(await this.#window.more())) return this.#pass(bytes.length)
    }
  }

  #record(line: number, bytes: Uint8Array, { cells, isLoose }: CsvLine): FileRecord | BadLine {
    const count = this.#names.length
    if (this.#isDoubtful && (isLoose || cells.length !== count)) {
      return { line, fault: 'it seems to be the rest of the record before it' }
    }
    this.#isDoubtful = false
    if (!isNothing(cells.slice(count))) {
      return { line, fault: `it has ${cells.length} cells for ${count} columns` }
    }
    try {
      return { line, values: this.#values(bytes, cells.slice(0, count)) }
    } catch (error) {
      return { line, fault: reasonOf(error) }
    }
  }

  #values(bytes: Uint8Array, cells: readonly CsvCell[]): Map<string, string> {
    const values = new Map<string, string>()
    for (const [index, cell] of cells.entries()) {
      const name = this.#names[index]!
      try {
        const text = textOf(bytes, cell)
        const before = this.#before(text)
        // Where an apostrophe was in front, it is a text, as if it stood in quotes.
        const isText = cell.isQuoted || before !== text
        const json = cellJson(before, isText, this.#typesOfNames[index]!)
        if (json !== undefined) values.set(name, json)
      } catch (error) {
        throw new Error(`its "${name}": ${reasonOf(error)}`)
      }
    }
    return values
  }
}

function asItIs(text: string): string {
  return text
}

function textOf(bytes: Uint8Array, { start, end, hasQuotes }: CsvCell): string {
  const text = decodeUtf8(bytes.subarray(start, end))
  return hasQuotes ? text.replaceAll('""', '"') : text
}

/** Whether there is nothing in a record, as spreadsheets write empty rows; a lone empty text is something. */
function isNothing(cells: readonly CsvCell[]): boolean {
  return (
    cells.every(({ start, end }) => start === end) && !(cells.length === 1 && cells[0]!.isQuoted)
  )
}

function namesOf(bytes: Uint8Array, cells: readonly CsvCell[]): string[] {
  const places = new Map<string, number>()
  return cells.map((cell, index) => {
    const name = textOf(bytes, cell).trim() || `column ${index + 1}`
    const first = places.get(name)
    if (first !== undefined) {
      throw new Error(
        `the column "${name}" is there twice, in places ${first} and ${index + 1} of the first line`,
      )
    }
    places.set(name, index + 1)
    return name
  })
}
