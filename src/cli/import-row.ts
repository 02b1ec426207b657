import { createHash } from 'node:crypto'
import { parseJson } from '../type/parse-json.ts'
import type { JsonObject } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import type { ImportSource, Line } from './import-source.ts'

/** Where rows come from, for messages and for ids that are made. */
export type RowSource = Pick<ImportSource, 'label' | 'name'>

export interface ImportRow {
  readonly id: string
  /** The record as JSON, byte for byte as in the file but for an id that was added. */
  readonly bytes: Buffer
  readonly line: number
  readonly source: RowSource
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Makes a row of a line; undefined for a blank one. Throws with the reason when the line is no
 * record. A record without an id gets one that depends on nothing but the file's name and the line,
 * so that importing the same file again changes nothing.
 */
export function readRow(source: RowSource, line: Line): ImportRow | undefined {
  if (line.fault !== undefined) throw new Error(line.fault)
  const text = decode(line.bytes)
  if (text.trim() === '') return undefined
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new Error('not a JSON object')
  }
  const given: unknown = Object.hasOwn(record, 'id') ? Reflect.get(record, 'id') : null
  if (given !== null && typeof given !== 'string') throw new Error('its "id" is not a string')
  const { number } = line
  if (places.some((name) => Object.hasOwn(record, name))) {
    const id = given ?? idOf(source, line)
    return { id, bytes: Buffer.from(withoutPlace(text, id)), line: number, source }
  }
  if (given !== null) return { id: given, bytes: line.bytes, line: number, source }
  const id = idOf(source, line)
  return { id, bytes: appendId(text, id), line: number, source }
}

/** Where a record was exported from. It is imported to somewhere else. */
const places = [
  'org_id',
  'project_id',
  'experiment_id',
  'dataset_id',
  'prompt_session_id',
  'log_id',
] as const

/** With all digits of its numbers. */
function withoutPlace(text: string, id: string): string {
  const record = parseJson(text) as JsonObject
  const kept = Object.entries(record).filter(([name]) => !places.some((place) => place === name))
  return writeJson({ ...Object.fromEntries(kept), id })
}

/** At the end, because the last of two equal keys counts, and `"id": null` may be there. */
function appendId(text: string, id: string): Buffer {
  const head = text.trimEnd().slice(0, -1).trimEnd()
  const separator = head.endsWith('{') ? '' : ','
  return Buffer.from(`${head}${separator}"id":"${id}"}`)
}

function idOf(source: RowSource, line: Line): string {
  return createHash('sha256')
    .update(`${source.name}\n${line.number}\n`)
    .update(line.bytes)
    .digest('hex')
    .slice(0, 32)
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error('not UTF-8 text')
  }
}
