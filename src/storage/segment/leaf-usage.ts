/** Which rows of a segment count their usage once, whatever the tree of their traces. */
import { parseJsonBytes } from '../../type/parse-json.ts'
import { reportedMetrics } from '../../type/record.ts'
import type { ColumnSet, PathColumns, TextColumn, Texts } from '../../vector/column.ts'
import { isValid, storedRows, textBytesAt } from '../../vector/read-column.ts'
import { findText, GrowingTexts, TextIndex } from '../../vector/text-index.ts'

type Path = readonly string[]

/** Tells it of the rows `from … to` of one object. */
export type LeafUsage = (from: number, to: number) => boolean

const [spanPath, parentsPath, tracePath] = [['span_id'], ['span_parents'], ['root_span_id']]

/**
 * Whether no span among the rows that reports tokens or a cost is the parent of another among them. False where the
 * columns do not tell.
 */
export function leafUsage(set: ColumnSet): LeafUsage {
  const usage = reportedMetrics.map((name) => columnOf(set, ['metrics', name], 'number'))
  const span = columnOf(set, spanPath, 'text')
  const parents = columnOf(set, parentsPath, 'json')
  const trace = columnOf(set, tracePath, 'text')
  if ([...usage, span, parents, trace].includes(unknown)) return () => false
  const numbers = usage.flatMap((column) => (column === unknown ? [] : (column?.number ?? [])))
  const spans = textOf(span)
  const lists = jsonOf(parents)
  const traces = textOf(trace)
  if (numbers.length === 0 || !spans || !lists || !traces) return () => true
  const reports = (row: number) =>
    numbers.some(({ values, validity }) => isValid(validity, row) && values.at(row) > 0)
  const parentsAt = parentReader(lists)
  return (from, to) => {
    const reporting = new ReportingSpans(spans, traces)
    for (let row = from; row < to; row++) if (reports(row)) reporting.add(row)
    if (reporting.isEmpty) return true
    for (let row = from; row < to; row++) {
      for (const parent of parentsAt(row)) if (reporting.mayHave(parent, row)) return false
    }
    return true
  }
}

/** Spans that report usage, by their id. */
class ReportingSpans {
  readonly #texts = GrowingTexts.of(1024)
  readonly #index = new TextIndex()
  readonly #spans: TextColumn
  readonly #traces: TextColumn
  /** By number of the id, a row that has it; -1: rows of several traces. */
  readonly #rows: number[] = []

  constructor(spans: TextColumn, traces: TextColumn) {
    this.#spans = spans
    this.#traces = traces
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  add(row: number): void {
    const bytes = bufferOf(textBytesAt(this.#spans, row))
    if (!bytes) return
    const code = this.#index.codeOf(this.#texts, bytes, 0, bytes.length)
    const known = this.#rows[code]
    if (known === undefined) this.#rows[code] = row
    else if (known >= 0 && !this.#areOfOneTrace(known, row)) this.#rows[code] = -1
  }

  /** Whether one of them may be that parent of a row. */
  mayHave(parent: Buffer, row: number): boolean {
    const code = findText(
      this.#index.slots,
      this.#texts,
      parent,
      0,
      parent.length,
      this.#texts.count,
    )
    if (code < 0) return false
    const known = this.#rows[code]!
    return known < 0 || this.#areOfOneTrace(known, row)
  }

  #areOfOneTrace(row: number, other: number): boolean {
    const [first, second] = [textBytesAt(this.#traces, row), textBytesAt(this.#traces, other)]
    return first === undefined || second === undefined || Buffer.compare(first, second) === 0
  }
}

const unknown = Symbol('unknown')

/** What the path has in columns, if those have all of it, and in the one type that it may have. */
function columnOf(
  set: ColumnSet,
  path: Path,
  type: 'number' | 'text' | 'json',
): PathColumns | undefined | typeof unknown {
  if (set.residualMayBe(path) || storedRows(set, path).length > 0) return unknown
  const columns = set.columns(path)
  if (!columns) return undefined
  const others = Object.keys(columns).filter((key) => key !== type && key !== 'nulls')
  return others.length === 0 ? columns : unknown
}

function textOf(columns: PathColumns | undefined | typeof unknown): TextColumn | undefined {
  return columns === unknown ? undefined : columns?.text
}

function jsonOf(columns: PathColumns | undefined | typeof unknown): TextColumn | undefined {
  return columns === unknown ? undefined : columns?.json
}

/** The texts in a row's list, each good until the next is asked for. */
function parentReader(lists: TextColumn): (row: number) => readonly Buffer[] {
  if (lists.encoding !== 'dictionary') {
    return (row) => parentsIn(bufferOf(textBytesAt(lists, row)))
  }
  const { codes, dictionary } = lists
  const known: (readonly Buffer[] | undefined)[] = []
  return (row) => {
    const code = codes.at(row)
    if (code < 0) return []
    known[code] ??= parentsIn(entryOf(dictionary, code))
    return known[code]
  }
}

function entryOf({ bytes, offsets }: Texts, code: number): Buffer {
  return bytes.subarray(offsets[code]!, offsets[code + 1]!)
}

const [quote, backslash] = [0x22, 0x5c]

function parentsIn(json: Buffer | undefined): readonly Buffer[] {
  if (!json || json.length <= 2) return []
  // Most have one parent. Parsing a list takes ten times as long as finding where its only text ends.
  const end = json.indexOf(quote, 2)
  const isPlain = json[1] === quote && end === json.length - 2 && !json.includes(backslash)
  if (isPlain) return [json.subarray(2, end)]
  const parents = parseJsonBytes(json)
  if (!Array.isArray(parents)) return []
  return parents.flatMap((parent) => (typeof parent === 'string' ? [Buffer.from(parent)] : []))
}

function bufferOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
