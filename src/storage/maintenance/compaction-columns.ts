/**
 * Merges the columns of several segments into those of one, without reading a row again where that
 * can be helped.
 *
 * What is merged by copying: keys, numbers, bitmaps, texts (dictionaries become one), residuals.
 * Segments may differ in the paths that they have columns for. So some rows are shredded anew, from
 * their residual or, where a path loses its columns, from the row store; they make one more source,
 * the overlay, whose rows are numbered like those of the result and take their places.
 */
import type { PathColumns } from '../../vector/column.ts'
import { ColumnTable, ListedColumns } from '../../vector/column-table.ts'
import { isSet, storedRows, textBytesAt } from '../../vector/read-column.ts'
import type { RowView } from '../row/row.ts'
import { boundedResidualPaths } from '../shred/residual-paths.ts'
import { defaultMaximumValueBytes } from '../shred/shred.ts'
import { kind, pathColumns } from '../shred/shred-column.ts'
import { RowShredder } from '../shred/shred-row.ts'
import { copyRuns, gatherKeys, type Runs } from './compaction-order.ts'
import { type MergedPaths, mergePaths } from './compaction-paths.ts'
import { mergeTexts } from './compaction-text.ts'

/** Reads the row version that a row of a source is of. */
export type ReadRow = (source: ColumnTable, row: number) => RowView

/**
 * The rows of `runs` as columns, equal in all that can be read to those that `shred` would make.
 *
 * @param checkpoint called before each path; may throw to give up
 * @param supersededBy by source, of each row, where all rows of `runs` are superseded
 */
export function mergeColumns(
  sources: readonly ColumnTable[],
  runs: Runs,
  readRow: ReadRow,
  checkpoint: () => void,
  supersededBy?: readonly (Float64Array | undefined)[],
): ColumnTable {
  const keys = gatherKeys(
    sources.map((source) => source.keys),
    runs,
    supersededBy,
  )
  const paths = mergePaths(sources)
  const overlay = shredAnew(sources, runs, paths, readRow)
  const all = overlay === undefined ? sources : [...sources, overlay.columns]
  const merged: (readonly [readonly string[], PathColumns])[] = []
  for (const path of [[], ...paths.chosen]) {
    checkpoint()
    const ofPath = overlay === undefined ? runs : overlaid(runs, sources.length, overlay, path)
    const columns = mergePath(
      ofPath,
      all.map((source) => source.columns(path)),
      all.map((source) => source.rowCount),
    )
    if (columns !== undefined) merged.push([path, columns])
  }
  return new ColumnTable({
    rowCount: runs.rowCount,
    keys,
    paths: new ListedColumns(merged),
    residual: mergeResiduals(runs, sources, overlay),
    residualPaths: mergeResidualPaths(sources, overlay),
  })
}

interface Overlay {
  readonly columns: ColumnTable
  /** Rows that have a part here, ascending. */
  readonly rows: readonly number[]
  /** Sources none of whose residuals count: what they held is here. */
  readonly sources: ReadonlySet<number>
}

/** Undefined when no row has to be shredded anew. */
function shredAnew(
  sources: readonly ColumnTable[],
  runs: Runs,
  paths: MergedPaths,
  readRow: ReadRow,
): Overlay | undefined {
  const reread = new Set<number>()
  for (const [index, source] of sources.entries()) {
    if (source.residual !== undefined && mayHold(source, paths.chosen)) reread.add(index)
  }
  const losing = sources.map((source) => {
    const columns = paths.dropped.map((path) => source.columns(path))
    const found = columns.filter((ofPath) => ofPath !== undefined)
    if (found.length === 0) return undefined
    const kinds = new Uint8Array(source.rowCount)
    for (const ofPath of found) writeKinds(ofPath, kinds)
    return kinds
  })
  const rows: number[] = []
  let shredder: RowShredder | undefined
  let at = 0
  for (let run = 0; run < runs.count; run++) {
    const index = runs.source[run]!
    const source = sources[index]!
    const lost = losing[index]
    const residual = reread.has(index) ? source.residual : undefined
    const count = runs.to[run]! - runs.from[run]!
    if (lost === undefined && residual === undefined) {
      at += count
      continue
    }
    for (let i = 0; i < count; i++, at++) {
      const row = runs.from[run]! + i
      const text = residual && textBytesAt(residual, row)
      const isLost = lost !== undefined && lost[row] !== kind.nothing
      if (!isLost && text === undefined) continue
      shredder ??= new RowShredder(runs.rowCount, paths.tree, {
        fields: undefined,
        maximumValueBytes: defaultMaximumValueBytes,
      })
      rows.push(at)
      if (isLost) {
        shredder.add(at, readRow(source, row))
      } else {
        shredder.addObject(at, text as Buffer)
      }
    }
  }
  if (shredder === undefined) return undefined
  const columns = new ColumnTable({
    rowCount: runs.rowCount,
    keys: sources[0]!.keys,
    ...shredder.finish(),
  })
  return { columns, rows, sources: reread }
}

/** Whether a residual of the source may begin at one of the paths, among which are those above them. */
function mayHold(source: ColumnTable, paths: readonly (readonly string[])[]): boolean {
  const known = new Set(source.residualPaths.map((path) => JSON.stringify(path)))
  return [[], ...paths].some((path) => known.has(JSON.stringify(path)))
}

/** The runs with the overlay's rows in place of those that it has at the path, or around it. */
function overlaid(runs: Runs, source: number, overlay: Overlay, path: readonly string[]): Runs {
  const { columns, rows } = overlay
  const ofPath = columns.columns(path)
  const around = storedRows(columns, path.slice(0, -1))
  const kinds = new Uint8Array(runs.rowCount)
  if (ofPath !== undefined) writeKinds(ofPath, kinds)
  return runs.replacedBy(
    source,
    rows.filter(
      (row) => kinds[row] !== kind.nothing || around.some((bitmap) => isSet(bitmap, row)),
    ),
  )
}

/** The columns of one path; `columns` by source. Undefined when no row has anything there. */
function mergePath(
  runs: Runs,
  columns: readonly (PathColumns | undefined)[],
  rowCounts: readonly number[],
): PathColumns | undefined {
  const kinds = kindsOf(runs, columns, rowCounts)
  const numbers = (type: 'number' | 'timestamp') => {
    const values = new Float64Array(runs.rowCount).fill(Number.NaN)
    copyRuns(
      runs,
      columns.map((ofSource, i) => ofSource?.[type]?.values.between(0, rowCounts[i]!)),
      values,
    )
    return values
  }
  const texts = (type: 'text' | 'json', validity: Uint8Array | undefined) =>
    mergeTexts(
      runs,
      columns.map((ofSource) => ofSource?.[type]),
      validity,
    )
  return pathColumns(kinds, {
    numbers: () => numbers('number'),
    timestamps: () => numbers('timestamp'),
    text: (validity) => texts('text', validity),
    json: (validity) => texts('json', validity),
  })
}

/** What rows have at one path after the other: new memory for each would be a tenth of what a merge leaves behind. */
let kept = new Uint8Array(0)

/** What the rows of `runs` have at a path, until that is asked of another. */
function kindsOf(
  runs: Runs,
  columns: readonly (PathColumns | undefined)[],
  rowCounts: readonly number[],
): Uint8Array {
  const byteLength = rowCounts.reduce((sum, count) => sum + count, runs.rowCount)
  if (kept.length < byteLength) kept = new Uint8Array(byteLength)
  else kept.fill(0, 0, byteLength)
  let end = runs.rowCount
  const ofSources = columns.map((ofSource, i) => {
    if (ofSource === undefined) return undefined
    const from = end
    end += rowCounts[i]!
    const kinds = kept.subarray(from, end)
    writeKinds(ofSource, kinds)
    return kinds
  })
  const kinds = kept.subarray(0, runs.rowCount)
  copyRuns(runs, ofSources, kinds)
  return kinds
}

/** Writes what each row has here; of rows that have nothing, nothing. */
function writeKinds(columns: PathColumns, kinds: Uint8Array): void {
  const { number, timestamp, boolean, text, json, objects, stored, nulls } = columns
  if (number) writeKind(number.validity, kind.number, kinds)
  if (timestamp) writeKind(timestamp.validity, kind.timestamp, kinds)
  if (boolean) {
    writeKind(boolean.validity, kind.false, kinds)
    writeKind(boolean.bits, kind.true, kinds)
  }
  if (text) writeKind(text.validity, kind.text, kinds)
  if (json) writeKind(json.validity, kind.json, kinds)
  if (objects) writeKind(objects, kind.object, kinds)
  if (stored) writeKind(stored, kind.stored, kinds)
  if (nulls) writeKind(nulls, kind.null, kinds)
}

function writeKind(bitmap: Uint8Array | undefined, what: number, kinds: Uint8Array): void {
  if (bitmap === undefined) {
    kinds.fill(what)
    return
  }
  for (let row = 0; row < kinds.length; ) {
    const byte = bitmap[row >> 3]!
    const end = Math.min(row + 8, kinds.length)
    if (byte === 0) row = end
    for (; row < end; row++) if ((byte & (1 << (row & 7))) !== 0) kinds[row] = what
  }
}

function mergeResiduals(
  runs: Runs,
  sources: readonly ColumnTable[],
  overlay: Overlay | undefined,
): ColumnTable['residual'] {
  const own = sources.map((source, i) => (overlay?.sources.has(i) ? undefined : source.residual))
  const residuals = [...own, overlay?.columns.residual]
  if (residuals.every((residual) => residual === undefined)) return undefined
  const ofOverlay = overlay === undefined ? runs : runs.replacedBy(sources.length, overlay.rows)
  return mergePath(
    ofOverlay,
    residuals.map((json) => (json === undefined ? undefined : { json })),
    [...sources.map((source) => source.rowCount), runs.rowCount],
  )?.json
}

function mergeResidualPaths(
  sources: readonly ColumnTable[],
  overlay: Overlay | undefined,
): readonly (readonly string[])[] {
  const tables = sources.filter((_, i) => !overlay?.sources.has(i))
  const all = overlay === undefined ? tables : [...tables, overlay.columns]
  return boundedResidualPaths(all.flatMap(({ residualPaths }) => residualPaths))
}
