import { writeExactJson } from '../../type/exact-json.ts'
import { formatTable } from '../table.ts'
import type { AdminOptions, Fields } from './admin-connection.ts'

/** A table of these columns on a terminal; otherwise, or with --json, whole objects as JSON lines. */
export function printEntries(
  entries: readonly Fields[],
  columns: readonly string[],
  { json }: AdminOptions,
): void {
  if (json || !process.stdout.isTTY) {
    for (const entry of entries) process.stdout.write(`${writeExactJson(entry)}\n`)
  } else process.stdout.write(`${formatTable(columns, entries, process.stdout.columns)}\n`)
}

/** On a terminal the secret is alone on standard output, and what it is on standard error. */
export function printSecret(entry: Fields, { json }: AdminOptions): void {
  if (json || !process.stdout.isTTY) {
    process.stdout.write(`${writeExactJson(entry)}\n`)
    return
  }
  process.stderr.write('Shown this once:\n')
  process.stdout.write(`${String(entry.key)}\n`)
}
