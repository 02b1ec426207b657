import { createHash } from 'node:crypto'
import type { Line, LineSource } from './import-source.ts'

export interface ImportRow {
  readonly id: string
  /** The record as JSON, byte for byte as in the file but for an id that was added. */
  readonly bytes: Buffer
  readonly line: number
  readonly source: LineSource
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Makes a row of a line; undefined for a blank one. Throws with the reason when the line is no
 * record. A record without an id gets one that depends on nothing but the file's name and the line,
 * so that importing the same file again changes nothing.
 */
export function readRow(source: LineSource, line: Line): ImportRow | undefined {
  const text = decode(line.bytes)
  if (text.trim() === '') return undefined
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new Error('not a JSON object')
  }
  const given: unknown = Object.hasOwn(record, 'id') ? Reflect.get(record, 'id') : null
  if (typeof given === 'string') {
    return { id: given, bytes: line.bytes, line: line.number, source }
  }
  if (given !== null) throw new Error('its "id" is not a string')
  const id = idOf(source, line)
  return { id, bytes: appendId(text, id), line: line.number, source }
}

/** At the end, because the last of two equal keys counts, and `"id": null` may be there. */
function appendId(text: string, id: string): Buffer {
  const head = text.trimEnd().slice(0, -1).trimEnd()
  const separator = head.endsWith('{') ? '' : ','
  return Buffer.from(`${head}${separator}"id":"${id}"}`)
}

function idOf(source: LineSource, line: Line): string {
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
