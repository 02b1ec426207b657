/** The members of a row that say what to do with it, and the checks of those with a fixed type. */
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import { isObject, type Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import type { ArrayDelete } from '../row/prepared-rows.ts'

/** Members that are never stored as given: they control, or tell what the server knows better. */
export type ControlName = (typeof controlNames)[number]

const controlNames = [
  '_is_merge',
  '_object_delete',
  '_merge_paths',
  '_array_delete',
  '_parent_id',
  '_audit_source',
  '_audit_metadata',
  'id',
  'created',
  'experiment_id',
  'dataset_id',
  'project_id',
  'prompt_session_id',
  'log_id',
] as const

const controls: ReadonlySet<string> = new Set(controlNames)

const ignored: ReadonlySet<string> = new Set([
  '_async_scoring_control',
  '_skip_async_scoring',
  '_xact_id',
  '_pagination_key',
  'is_root',
  'org_id',
])

export function isControl(name: string): name is ControlName {
  return controls.has(name)
}

export function isIgnored(name: string): boolean {
  return ignored.has(name)
}

export function invalid(path: string, message: string, hint?: string): AssayError {
  return new AssayError('REQUEST_INVALID', `${path} ${message}`, {
    path,
    ...(hint !== undefined && { hint }),
  })
}

export function readBoolean(value: Value, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false')
  return value
}

export function readString(value: Value, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'must be a string')
  return value
}

export function readMergePaths(value: Value, path: string): string[][] {
  return readArray(value, path, 'an array of paths').map((part, i) =>
    readPath(part, `${path}[${i}]`),
  )
}

export function readArrayDeletes(value: Value, path: string): ArrayDelete[] {
  return readArray(value, path, 'an array of {path, delete}').map((entry, i) => {
    const at = `${path}[${i}]`
    if (!isObject(entry)) throw invalid(at, 'must be an object {path, delete}')
    return {
      path: readPath(entry.path ?? null, `${at}.path`),
      values: readArray(entry.delete ?? null, `${at}.delete`, 'an array of values').map(
        canonicalJson,
      ),
    }
  })
}

/** The audit metadata as it is stored: its text, with all digits of its numbers; null for null. */
export function auditMetadata(bytes: Uint8Array, start: number, end: number): string | null {
  const text = new ByteWriter(end - start)
  new JsonScanner(bytes, start, end).value(text)
  return jsonKind(bytes[start]!) === 'null' ? null : decodeUtf8(text.view())
}

export function readAuditMetadata(value: Value, path: string): string {
  if (typeof value !== 'string' || !value.startsWith('{')) throw invalid(path, 'must be an object')
  return value
}

function readPath(value: Value, path: string): string[] {
  return readArray(value, path, 'an array of keys').map((key, i) =>
    readString(key, `${path}[${i}]`),
  )
}

function readArray(value: Value, path: string, what: string): readonly Value[] {
  if (!Array.isArray(value)) throw invalid(path, `must be ${what}`)
  return value as readonly Value[]
}

/** What the value of a field must be, if it is not null. */
type FieldType = 'string' | 'strings' | 'object' | 'scores'

const fieldTypes: ReadonlyMap<string, FieldType> = new Map([
  ['span_id', 'string'],
  ['root_span_id', 'string'],
  ['span_parents', 'strings'],
  ['tags', 'strings'],
  ['metadata', 'object'],
  ['metrics', 'object'],
  ['span_attributes', 'object'],
  ['scores', 'scores'],
])

/** Undefined: any value suits the field. */
export function fieldType(name: string): FieldType | undefined {
  return fieldTypes.get(name)
}

/** Throws REQUEST_INVALID unless the valid JSON text from `start` to `end` suits the field. */
export function checkField(
  name: string,
  bytes: Uint8Array,
  start: number,
  end: number,
  path: string,
): void {
  const type = fieldTypes.get(name)
  const kind = jsonKind(bytes[start]!)
  if (type === undefined || kind === 'null') return
  const at = `${path}.${name}`
  if (type === 'string') {
    if (kind !== 'string') throw invalid(at, 'must be a string')
  } else if (type === 'strings') {
    if (kind !== 'array') throw invalid(at, 'must be an array of strings')
    checkStrings(bytes, start, end, at)
  } else {
    if (kind !== 'object') throw invalid(at, 'must be an object')
    if (type === 'scores') checkScores(bytes, start, end, at)
  }
}

function checkStrings(bytes: Uint8Array, start: number, end: number, path: string): void {
  const scanner = new JsonScanner(bytes, start, end)
  scanner.openArray()
  for (let i = 0; scanner.nextElement(); i++) {
    if (jsonKind(scanner.peek()) !== 'string') throw invalid(`${path}[${i}]`, 'must be a string')
    scanner.value()
  }
}

function checkScores(bytes: Uint8Array, start: number, end: number, path: string): void {
  const scanner = new JsonScanner(bytes, start, end)
  scanner.openObject()
  while (scanner.nextMember()) {
    const kind = jsonKind(scanner.peek())
    if (kind !== 'number' && kind !== 'boolean' && kind !== 'null') {
      const name = parseJsonBytes(bytes, scanner.keyStart, scanner.keyEnd) as string
      throw invalid(`${path}.${name}`, 'must be a number, a boolean or null', 'scores are 0 to 1')
    }
    scanner.value()
  }
}
