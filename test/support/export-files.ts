/** What a scheduled export has written into a folder, read and checked as others read it. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { parseTransaction } from '../../src/type/transaction.ts'

export interface ExportedRow {
  readonly id: string
  readonly _xact_id: string
  readonly [field: string]: unknown
}

export interface ExportedRange {
  readonly after: number
  readonly first: number
  readonly through: number
  readonly file: string | null
  readonly rows: readonly ExportedRow[]
}

export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !/^lock\./.test(entry.name))
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort()
}

/**
 * The ranges of an export of JSON lines, the oldest first. Expects that each manifest tells the truth, and that there
 * are no files but those that manifests name.
 */
export function exportedRanges(folder: string): ExportedRange[] {
  const files = filesIn(folder)
  const named: string[] = []
  const ranges = files
    .filter((path) => path.startsWith('_manifests/'))
    .map((path) => {
      const manifest = JSON.parse(readFileSync(join(folder, path), 'utf8')) as {
        readonly after: string
        readonly first: string
        readonly through: string
        readonly file: string | null
        readonly rows: number
        readonly bytes: number
        readonly sha256: string | null
      }
      const { file } = manifest
      const bytes = file === null ? undefined : readFileSync(join(folder, file))
      if (file !== null) named.push(file)
      const text = bytes && (file!.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
      const lines = text === undefined ? [] : text.trimEnd().split('\n')
      expect({
        bytes: bytes?.length ?? 0,
        rows: lines.length,
        sha256: bytes ? createHash('sha256').update(bytes).digest('hex') : null,
      }).toEqual({ bytes: manifest.bytes, rows: manifest.rows, sha256: manifest.sha256 })
      return {
        after: parseTransaction(manifest.after),
        first: parseTransaction(manifest.first),
        through: parseTransaction(manifest.through),
        file,
        rows: lines.map((line) => JSON.parse(line) as ExportedRow),
      }
    })
    .sort((a, b) => a.through - b.through)
  expect(files.filter((path) => !path.startsWith('_manifests/'))).toEqual(named.sort())
  return ranges
}

export function exportedRows(folder: string): ExportedRow[] {
  return exportedRanges(folder).flatMap(({ rows }) => rows)
}
