/**
 * Chooses the paths that have columns in a segment that is merged from others: by the rule of
 * `shred-paths.ts`, but from what the columns count instead of from a sample of rows.
 */
import type { PathColumns } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { countSet, isSet } from '../../vector/read-column.ts'
import { objectRuns } from '../shred/shred-keys.ts'
import {
  type ChosenPath,
  minimumObjectRows,
  minimumShare,
  mostFrequent,
} from '../shred/shred-paths.ts'

/**
 * A path keeps its columns with half of the share that it needs to get them: one whose share is
 * about that would lose and get them in turns, and each time its rows are read again.
 */
const keptShare = 1 / 2

export interface MergedPaths {
  /** Paths that get columns; a parent comes before what is below it. The empty path is not among them. */
  readonly chosen: readonly (readonly string[])[]
  /** Paths that have columns in a source and get none. */
  readonly dropped: readonly (readonly string[])[]
  /** The chosen ones as a tree. */
  readonly tree: readonly ChosenPath[]
}

export function mergePaths(sources: readonly ColumnTable[]): MergedPaths {
  const known = unionOfPaths(sources)
  const rows = sources.reduce((sum, source) => sum + source.rowCount, 0)
  const objects = objectRanges(sources)
  const candidates = known
    .map((path) => ({
      path,
      key: path.at(-1)!,
      depth: path.length,
      estimate: countRows(sources, path),
    }))
    .filter(
      ({ path, estimate }) =>
        estimate >= rows * minimumShare(path.length) * keptShare ||
        isFrequentInAnObject(sources, objects, path),
    )
  const chosen = new Set(mostFrequent(candidates).map(({ path }) => path))
  return {
    chosen: known.filter((path) => chosen.has(path)),
    dropped: known.filter((path) => !chosen.has(path)),
    tree: treeOf(known.filter((path) => chosen.has(path))),
  }
}

function unionOfPaths(sources: readonly ColumnTable[]): (readonly string[])[] {
  const paths = new Map<string, readonly string[]>()
  for (const source of sources) {
    for (const path of source.pathsBelow([])) paths.set(JSON.stringify(path), path)
  }
  return [...paths.values()].sort((a, b) => a.length - b.length)
}

function countRows(sources: readonly ColumnTable[], path: readonly string[]): number {
  let count = 0
  for (const source of sources) {
    for (const bitmap of bitmapsOf(source.columns(path))) {
      count += bitmap === undefined ? source.rowCount : countSet(bitmap)
    }
  }
  return count
}

/** Of each type that the path has, the rows that have a value of it; undefined for all rows. */
function bitmapsOf(columns: PathColumns | undefined): (Uint8Array | undefined)[] {
  if (columns === undefined) return []
  const { number, timestamp, boolean, text, json, objects, stored, nulls } = columns
  return [
    ...[number, timestamp, boolean, text, json]
      .filter((column) => column !== undefined)
      .map(({ validity }) => validity),
    ...[objects, stored, nulls].filter((bitmap) => bitmap !== undefined),
  ]
}

/** Rows of one object in one source. */
interface ObjectRange {
  readonly source: number
  readonly from: number
  readonly to: number
}

/** By object, if it has enough rows to count on its own. */
function objectRanges(sources: readonly ColumnTable[]): readonly (readonly ObjectRange[])[] {
  const ranges = new Map<number, ObjectRange[]>()
  for (const [source, { keys }] of sources.entries()) {
    for (const { from, to } of objectRuns(keys.object)) {
      const object = keys.object[from]!
      ranges.set(object, [...(ranges.get(object) ?? []), { source, from, to }])
    }
  }
  return [...ranges.values()].filter((ofObject) => rowsOf(ofObject) >= minimumObjectRows)
}

function rowsOf(ranges: readonly ObjectRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0)
}

function isFrequentInAnObject(
  sources: readonly ColumnTable[],
  objects: readonly (readonly ObjectRange[])[],
  path: readonly string[],
): boolean {
  return objects.some((ranges) => {
    let count = 0
    for (const { source, from, to } of ranges) {
      for (const bitmap of bitmapsOf(sources[source]!.columns(path))) {
        if (bitmap === undefined) count += to - from
        else for (let row = from; row < to; row++) if (isSet(bitmap, row)) count++
      }
    }
    return count >= rowsOf(ranges) * minimumShare(path.length) * keptShare
  })
}

function treeOf(paths: readonly (readonly string[])[]): readonly ChosenPath[] {
  const root: { key: string; children: ChosenPath[] } = { key: '', children: [] }
  const nodes = new Map([[JSON.stringify([]), root]])
  for (const path of paths) {
    const node = { key: path.at(-1)!, children: [] }
    nodes.get(JSON.stringify(path.slice(0, -1)))!.children.push(node)
    nodes.set(JSON.stringify(path), node)
  }
  return root.children
}
