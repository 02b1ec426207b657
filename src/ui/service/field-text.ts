/** Fields of records as people type them: as a text, or as JSON whose faults are told with their place. */
import type * as JsonLibrary from 'jsonc-parser'
import type { RecordField } from './dataset.ts'
import { useLoaded } from './load.ts'

export type Library = typeof JsonLibrary

/** Loaded when something is edited. */
export function useJsonLibrary() {
  return useLoaded<Library>('jsonc-parser', () => import('jsonc-parser'))
}

export interface FieldText {
  readonly text: string
  readonly mode: 'text' | 'json'
}

/** Metadata is an object; tags are written with commas between them. */
export function modesOf(field: RecordField): readonly FieldText['mode'][] {
  if (field === 'metadata') return ['json']
  return field === 'tags' ? ['text'] : ['text', 'json']
}

/** @param json the exact text of the value; undefined for none */
export function fieldText(
  field: RecordField,
  json: string | undefined,
  library: Library,
): FieldText {
  if (field === 'tags') return { text: tagsOf(json).join(', '), mode: 'text' }
  if (json === undefined) return { text: '', mode: field === 'metadata' ? 'json' : 'text' }
  if (json.startsWith('"')) return { text: JSON.parse(json) as string, mode: 'text' }
  const edits = library.format(json, undefined, { insertSpaces: true, tabSize: 2 })
  return { text: library.applyEdits(json, edits), mode: 'json' }
}

function tagsOf(json: string | undefined): string[] {
  const value: unknown = json === undefined ? [] : JSON.parse(json)
  return Array.isArray(value) ? value.map(String) : []
}

/** The JSON of what was typed, which must have no faults; nothing typed is null. */
export function jsonOf(field: RecordField, { text, mode }: FieldText): string {
  if (text.trim() === '') return 'null'
  if (field === 'tags') {
    const tags = text.split(',').map((tag) => tag.trim())
    return JSON.stringify([...new Set(tags.filter((tag) => tag !== ''))])
  }
  return mode === 'json' ? text : JSON.stringify(text)
}

export interface FieldFault {
  readonly message: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

export function faultOf(
  field: RecordField,
  { text, mode }: FieldText,
  library: Library,
): FieldFault | undefined {
  if (mode === 'text' || text.trim() === '') return undefined
  const errors: JsonLibrary.ParseError[] = []
  const options = { disallowComments: true, allowTrailingComma: false }
  const tree = library.parseTree(text, errors, options)
  const [first] = errors
  if (first) {
    const words = library.printParseErrorCode(first.error).replace(/([a-z])([A-Z])/g, '$1 $2')
    return { message: sentence(words), ...placeOf(text, first.offset) }
  }
  if (field === 'metadata' && tree?.type !== 'object') {
    return { message: 'Metadata must be an object: {"name": "value"}', line: 1, column: 1 }
  }
  return undefined
}

function sentence(words: string): string {
  const lower = words.toLowerCase()
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}

export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lastBreak = before.lastIndexOf('\n')
  return { line: before.split('\n').length, column: offset - lastBreak }
}
