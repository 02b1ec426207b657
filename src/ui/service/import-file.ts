/**
 * Files of records as texts of JSON, one by one, so that a file of any size is read in pieces and its
 * numbers keep all their digits.
 */
import type { Library } from './field-text.ts'
import { placeOf } from './field-text.ts'

export type FileKind = 'jsonl' | 'json' | 'csv'

/** What becomes of a column of a file. */
export type Target = 'id' | 'input' | 'expected' | 'metadata' | 'tags' | 'as it is' | 'nothing'

/** A record of a file; its values are texts of JSON, by the names of columns. */
export interface FileRecord {
  /** From 1, where it begins. */
  readonly line: number
  readonly values: ReadonlyMap<string, string>
}

export interface BadLine {
  readonly line: number
  readonly fault: string
}

export interface ReadOptions {
  readonly kind: FileKind
  readonly library: Library
  /** Told as the file is read. */
  readonly onBytes?: (bytes: number) => void
}

export function kindOf(name: string, beginning: string): FileKind {
  const first = beginning.trimStart().charAt(0)
  if (/\.(csv|tsv)$/i.test(name)) return 'csv'
  if (first === '[') return 'json'
  return first === '{' || /\.(jsonl|ndjson|json)$/i.test(name) ? 'jsonl' : 'csv'
}

export async function* recordsOfFile(
  file: File,
  options: ReadOptions,
): AsyncGenerator<FileRecord | BadLine> {
  if (options.kind === 'csv') yield* recordsOfCsv(file, options)
  else if (options.kind === 'json') yield* recordsOfArray(await file.text(), options)
  else yield* recordsOfLines(file, options)
}

async function* recordsOfLines(
  file: File,
  { library, onBytes }: ReadOptions,
): AsyncGenerator<FileRecord | BadLine> {
  const reader = file.stream().getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let line = 0
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    bytes += value?.length ?? 0
    onBytes?.(bytes)
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = done ? '' : (lines.pop() ?? '')
    for (const text of lines) {
      line++
      if (text.trim() !== '') yield recordOfText(text, line, library)
    }
    if (done) return
  }
}

function recordOfText(text: string, line: number, library: Library): FileRecord | BadLine {
  const errors: { error: number; offset: number; length: number }[] = []
  const options = { disallowComments: true, allowTrailingComma: false }
  const tree = library.parseTree(text, errors, options)
  const [first] = errors
  if (first) {
    const words = library.printParseErrorCode(first.error).replace(/([a-z])([A-Z])/g, '$1 $2')
    return { line, fault: `${words.toLowerCase()} at column ${first.offset + 1}` }
  }
  if (tree?.type !== 'object') return { line, fault: 'this is no JSON object' }
  return { line, values: valuesOf(tree, text) }
}

type Node = NonNullable<ReturnType<Library['parseTree']>>

function valuesOf(node: Node, text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const { children } of node.children ?? []) {
    const [name, value] = children ?? []
    if (!name || !value || value.type === 'null') continue
    values.set(String(name.value), text.slice(value.offset, value.offset + value.length))
  }
  return values
}

function* recordsOfArray(text: string, { library }: ReadOptions): Generator<FileRecord | BadLine> {
  const errors: { error: number; offset: number; length: number }[] = []
  const options = { disallowComments: true, allowTrailingComma: false }
  const tree = library.parseTree(text, errors, options)
  const [first] = errors
  if (first) {
    const { line, column } = placeOf(text, first.offset)
    const words = library.printParseErrorCode(first.error).replace(/([a-z])([A-Z])/g, '$1 $2')
    yield { line, fault: `${words.toLowerCase()} at column ${column}` }
    return
  }
  for (const node of tree?.children ?? []) {
    const { line } = placeOf(text, node.offset)
    if (node.type === 'object') yield { line, values: valuesOf(node, text) }
    else yield { line, fault: 'this is no JSON object' }
  }
}

/** Bytes of a piece of a file. */
const pieceBytes = 1 << 20

async function* recordsOfCsv(
  file: File,
  { onBytes }: ReadOptions,
): AsyncGenerator<FileRecord | BadLine> {
  const { default: papaparse } = await import('papaparse')
  const queue: (FileRecord | BadLine)[] = []
  let names: readonly string[] | undefined
  let line = 1
  let isDone = false
  let failure: Error | undefined
  let wake: () => void = () => undefined
  let resume: () => void = () => undefined
  papaparse.parse<string[]>(file, {
    chunkSize: pieceBytes,
    skipEmptyLines: 'greedy',
    chunk: ({ data, errors, meta }, parser) => {
      const faults = new Map(errors.map(({ row, message }) => [row ?? 0, message]))
      for (const [index, cells] of data.entries()) {
        const fault = faults.get(index)
        if (!names) names = cells
        else if (fault !== undefined) queue.push({ line, fault: fault.toLowerCase() })
        else if (cells.length > names.length) {
          const fault = `it has ${cells.length} fields, and the first line names ${names.length}`
          queue.push({ line, fault })
        } else queue.push({ line, values: cellsOf(names, cells) })
        line += 1 + cells.reduce((breaks, cell) => breaks + cell.split('\n').length - 1, 0)
      }
      onBytes?.(Math.min(meta.cursor, file.size))
      parser.pause()
      resume = () => parser.resume()
      wake()
    },
    complete: () => {
      isDone = true
      wake()
    },
    error: (error) => {
      failure = error
      wake()
    },
  })
  for (;;) {
    yield* queue.splice(0)
    if (failure) throw failure
    if (isDone) return
    const woken = new Promise<void>((resolve) => {
      wake = resolve
    })
    resume()
    await woken
  }
}

function cellsOf(names: readonly string[], cells: readonly string[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const [index, cell] of cells.entries()) {
    const name = names[index]
    if (name !== undefined && cell !== '') values.set(name, jsonOfCell(cell))
  }
  return values
}

/** Objects and arrays are JSON, as exports write them; anything else is a text. */
function jsonOfCell(cell: string): string {
  if (/^\s*[{[]/.test(cell)) {
    try {
      JSON.parse(cell)
      return cell.trim()
    } catch {
      return JSON.stringify(cell)
    }
  }
  return JSON.stringify(cell)
}

const usualNames: Readonly<Record<string, Target>> = {
  id: 'id',
  input: 'input',
  inputs: 'input',
  question: 'input',
  prompt: 'input',
  expected: 'expected',
  output: 'expected',
  answer: 'expected',
  ideal: 'expected',
  reference: 'expected',
  target: 'expected',
  metadata: 'metadata',
  tags: 'tags',
  created: 'as it is',
}

/** Columns of a usual name are what they are called; all others of a file of JSON stay as they are. */
export function usualTarget(column: string, kind: FileKind): Target {
  return usualNames[column.trim().toLowerCase()] ?? (kind === 'csv' ? 'metadata' : 'as it is')
}

/** A record as the service takes it. */
export function eventOf(
  { values }: FileRecord,
  targetOf: (column: string) => Target,
): { readonly text: string } | { readonly fault: string } {
  const parts = new Map<Target, [string, string][]>()
  const fields: string[] = []
  for (const [column, json] of values) {
    const target = targetOf(column)
    if (target === 'nothing') continue
    if (target === 'as it is') fields.push(`${JSON.stringify(column)}:${json}`)
    else parts.set(target, [...(parts.get(target) ?? []), [column, json]])
  }
  for (const [target, given] of parts) {
    const json =
      target === 'tags' ? tagsOf(given) : target === 'id' ? idOf(given) : together(target, given)
    if (json === undefined) return { fault: `"${given[0]?.[0]}" is no ${target}` }
    fields.push(`${JSON.stringify(target)}:${json}`)
  }
  return { text: `{${fields.join(',')}}` }
}

/** One column is the value itself; several become an object of theirs, and so does metadata. */
function together(target: Target, given: readonly [string, string][]): string {
  const [[name, json]] = given as [[string, string]]
  if (given.length === 1 && (target !== 'metadata' || json.startsWith('{'))) return json
  const members: string[] = []
  for (const [column, value] of given) {
    const isWhole = target === 'metadata' && column === 'metadata' && value.startsWith('{')
    const inside = value.slice(1, -1).trim()
    if (!isWhole) members.push(`${JSON.stringify(column)}:${value}`)
    else if (inside !== '') members.push(inside)
  }
  return `{${members.join(',')}}`.replace(/^\{\}$/, `{${JSON.stringify(name)}:${json}}`)
}

function tagsOf(given: readonly [string, string][]): string | undefined {
  const tags = new Set<string>()
  for (const [, json] of given) {
    const value: unknown = JSON.parse(json)
    const list = Array.isArray(value)
      ? value
      : typeof value === 'string'
        ? value.split(',')
        : [null]
    for (const tag of list) {
      if (typeof tag !== 'string') return undefined
      if (tag.trim() !== '') tags.add(tag.trim())
    }
  }
  return JSON.stringify([...tags])
}

function idOf(given: readonly [string, string][]): string | undefined {
  const json = given[0]?.[1]
  if (json === undefined) return undefined
  return json.startsWith('"') ? json : JSON.stringify(json)
}
