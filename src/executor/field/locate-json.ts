import { JsonScanner } from '../../json/scan.ts'
import type { RowView } from '../../storage/row/row.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import type { Path, Value } from '../../type/value.ts'

interface JsonSpan {
  readonly start: number
  readonly end: number
}

/** Where the text of the value at `path` stands in a row; undefined when there is none, or null. */
export function locateInRow(view: RowView, path: Path): JsonSpan | undefined {
  const [name, ...rest] = path
  let span = typeof name === 'string' ? view.field(name) : undefined
  for (const part of rest) {
    if (!span) return undefined
    span = typeof part === 'number' ? element(view, span, part) : member(view, span, part)
  }
  return span && !isNullText(view, span) ? span : undefined
}

/** The value at `path` in a row, as columns would give it. */
export function valueInRow(view: RowView, path: Path): Value {
  if (path.length === 1 && path[0] === 'created') return view.created
  const span = locateInRow(view, path)
  return span ? parseJsonBytes(view.bytes, span.start, span.end) : null
}

function member({ bytes }: RowView, span: JsonSpan, key: string): JsonSpan | undefined {
  const scanner = new JsonScanner(bytes, span.start, span.end)
  if (!scanner.openObject()) return undefined
  const quoted = Buffer.from(JSON.stringify(key))
  let found: JsonSpan | undefined
  while (scanner.nextMember()) {
    const isKey = isSameKey(bytes, scanner.keyStart, scanner.keyEnd, quoted, key)
    const start = scanner.value()
    // Of members with the same name the last one counts.
    if (isKey) found = { start, end: scanner.position }
  }
  return found
}

function element({ bytes }: RowView, span: JsonSpan, index: number): JsonSpan | undefined {
  const scanner = new JsonScanner(bytes, span.start, span.end)
  if (!scanner.openArray()) return undefined
  const elements: JsonSpan[] = []
  while (scanner.nextElement()) {
    const start = scanner.value()
    elements.push({ start, end: scanner.position })
    if (elements.length - 1 === index) return elements[index]
  }
  return elements.at(index)
}

const backslash = 0x5c

function isSameKey(
  bytes: Buffer,
  start: number,
  end: number,
  quoted: Buffer,
  key: string,
): boolean {
  if (bytes.subarray(start, end).includes(backslash)) {
    return JSON.parse(bytes.toString('utf8', start, end)) === key
  }
  return end - start === quoted.length && bytes.compare(quoted, 0, quoted.length, start, end) === 0
}

function isNullText({ bytes }: RowView, { start, end }: JsonSpan): boolean {
  return end - start === 4 && bytes[start] === 0x6e
}
