/** The `ColumnSet` that shredding and the segment reader both return. */
import type { ColumnSet, KeyColumns, PathColumns, TextColumn } from './column.ts'
import { PathTree } from './path-tree.ts'

/** The columns of paths. */
export interface PathColumnsSource {
  columns(path: readonly string[]): PathColumns | undefined
  /** See `ColumnSet.pathsBelow`. */
  pathsBelow(path: readonly string[]): readonly (readonly string[])[]
}

export interface ColumnTableParts {
  readonly rowCount: number
  readonly keys: KeyColumns
  readonly paths: PathColumnsSource
  readonly residual: TextColumn | (() => TextColumn | undefined) | undefined
  /** Paths at which, or below which, residual values begin. */
  readonly residualPaths: readonly (readonly string[])[]
}

/** Columns that are given; a function is called once, when the path is first asked for. */
export class ListedColumns implements PathColumnsSource {
  readonly #columns = new PathTree<{ columns: PathColumns | (() => PathColumns) }>()

  constructor(paths: Iterable<readonly [readonly string[], PathColumns | (() => PathColumns)]>) {
    for (const [path, columns] of paths) this.#columns.set(path, { columns })
  }

  columns(path: readonly string[]): PathColumns | undefined {
    const entry = this.#columns.get(path)
    if (entry === undefined) return undefined
    if (typeof entry.columns === 'function') entry.columns = entry.columns()
    return entry.columns
  }

  pathsBelow(path: readonly string[]): readonly (readonly string[])[] {
    return this.#columns.below(path)
  }
}

export class ColumnTable implements ColumnSet {
  readonly rowCount: number
  readonly keys: KeyColumns
  /** Paths at which, or below which, residual values begin. */
  readonly residualPaths: readonly (readonly string[])[]
  readonly #paths: PathColumnsSource
  #residual: ColumnTableParts['residual']
  readonly #residualTree = new PathTree<true>()

  constructor(parts: ColumnTableParts) {
    this.rowCount = parts.rowCount
    this.keys = parts.keys
    this.#paths = parts.paths
    this.#residual = parts.residual
    this.residualPaths = parts.residualPaths
    for (const path of parts.residualPaths) this.#residualTree.set(path, true)
  }

  columns(path: readonly string[]): PathColumns | undefined {
    return this.#paths.columns(path)
  }

  pathsBelow(path: readonly string[]): readonly (readonly string[])[] {
    return this.#paths.pathsBelow(path)
  }

  get residual(): TextColumn | undefined {
    if (typeof this.#residual === 'function') this.#residual = this.#residual()
    return this.#residual
  }

  residualMayHold(path: readonly string[]): boolean {
    return this.#residualTree.touches(path)
  }

  residualMayBe(path: readonly string[]): boolean {
    return this.#residualTree.leadsTo(path)
  }
}
