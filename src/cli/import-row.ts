import { createHash } from 'node:crypto'
import { eventOf } from '../import/event.ts'
import type { FileRecord } from '../import/file-record.ts'
import type { ImportSource } from './import-source.ts'

/** Where rows come from, for messages and for ids that are made. */
export type RowSource = Pick<ImportSource, 'label' | 'name' | 'unit' | 'isTable'>

export interface ImportRow {
  readonly id: string
  /** The record as JSON: as the file has it, but for an id that was added and for what it was elsewhere. */
  readonly bytes: Buffer
  readonly line: number
  readonly source: RowSource
}

/**
 * Makes a row of a record. Throws with the reason when it cannot be one. A record without an id gets one that
 * depends on nothing but the file's name, its line and what is in it, so that importing the same file again
 * changes nothing.
 */
export function readRow(source: RowSource, record: FileRecord): ImportRow {
  const { isTable } = source
  const { id, text } = eventOf(record, { isTable, targetOf: () => 'as it is' })
  const { line } = record
  if (id !== undefined) return { id, bytes: Buffer.from(text), line, source }
  const made = createHash('sha256')
    .update(`${source.name}\n${line}\n`)
    .update(text)
    .digest('hex')
    .slice(0, 32)
  return { id: made, bytes: appendId(text, made), line, source }
}

/** At the end, because the last of two equal keys counts, and `"id": null` may be there. */
function appendId(text: string, id: string): Buffer {
  const head = text.trimEnd().slice(0, -1).trimEnd()
  const separator = head.endsWith('{') ? '' : ','
  return Buffer.from(`${head}${separator}"id":"${id}"}`)
}
