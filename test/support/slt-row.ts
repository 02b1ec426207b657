/** Rows of golden files: how those that are written are completed, and how answers are printed. */

import type { Value } from '../../src/type/value.ts'
import { writeJson } from '../../src/type/write-json.ts'

export interface SltColumn {
  readonly name: string
  readonly type: string
}

/** Gives a row the id `rN`, and a time N seconds into 2024, if it names none itself. */
export function completeRow(line: string, nextNumber: () => number): string {
  const row = JSON.parse(line)
  if (row.id !== undefined) return line
  const number = nextNumber()
  const created = new Date(Date.UTC(2024, 0, 1) + number * 1000).toISOString()
  const id = `"id":"r${number}"`
  const extra = Object.hasOwn(row, 'created') ? id : `${id},"created":"${created}"`
  return line.replace('{', Object.keys(row).length === 0 ? `{${extra}` : `{${extra},`)
}

export function printHeader(columns: readonly SltColumn[]): string {
  return columns.map(({ name, type }) => `${escapeCell(name)}:${type}`).join('\t')
}

export function parseHeader(line: string): SltColumn[] {
  return line.split('\t').map((cell) => {
    const colon = cell.lastIndexOf(':')
    return { name: cell.slice(0, colon), type: cell.slice(colon + 1) }
  })
}

/** What a column's schema says its values are; null is left out, as any column may be null. */
export function typeName(schema: { type?: string | string[]; format?: string }): string {
  if (schema.format === 'date-time') return 'timestamp'
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  return types.length === 0 ? 'json' : types.join('|')
}

export function printRow(row: Value, columns: readonly SltColumn[]): string {
  const object = row as { readonly [name: string]: Value }
  return columns
    .map(({ name, type }) => printCell(Object.hasOwn(object, name) ? object[name]! : null, type))
    .join('\t')
}

/** Texts stand bare where the column can hold nothing else; elsewhere they are JSON like the rest. */
function printCell(value: Value, type: string): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string' || (type !== 'string' && type !== 'timestamp')) {
    return escapeCell(sortedJson(value))
  }
  if (value === '') return '(empty)'
  return /^(NULL|\(empty\)|".*)$/s.test(value) ? writeJson(value) : escapeCell(value)
}

function escapeCell(text: string): string {
  return text.replace(/[\t\n\r]/g, (character) => JSON.stringify(character).slice(1, -1))
}

function sortedJson(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (value === null || typeof value !== 'object') return writeJson(value)
  const object = value as { readonly [key: string]: Value }
  const keys = Object.keys(object).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${sortedJson(object[key]!)}`).join(',')}}`
}
