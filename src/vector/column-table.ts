/** The `ColumnSet` that shredding and the segment reader both return. */
import type { ColumnSet, KeyColumns, PathColumns, TextColumn } from './column.ts'
import { PathTree } from './path-tree.ts'

export interface ColumnTableParts {
  readonly rowCount: number
  readonly keys: KeyColumns
  /** Paths and their columns; a function is called once, when the path is first asked for. */
  readonly paths: Iterable<readonly [readonly string[], PathColumns | (() => PathColumns)]>
  readonly residual: TextColumn | (() => TextColumn | undefined) | undefined
  /** Paths at which residual values begin; undefined when they are too many to list. */
  readonly residualPaths: readonly (readonly string[])[] | undefined
}

export class ColumnTable implements ColumnSet {
  readonly rowCount: number
  readonly keys: KeyColumns
  readonly #columns = new PathTree<{ columns: PathColumns | (() => PathColumns) }>()
  /** Paths at which residual values begin; undefined when they are too many to list. */
  readonly residualPaths: readonly (readonly string[])[] | undefined
  #residual: ColumnTableParts['residual']
  readonly #residualTree: PathTree<true> | undefined

  constructor(parts: ColumnTableParts) {
    this.rowCount = parts.rowCount
    this.keys = parts.keys
    this.#residual = parts.residual
    this.residualPaths = parts.residualPaths
    for (const [path, columns] of parts.paths) this.#columns.set(path, { columns })
    if (parts.residualPaths !== undefined) {
      this.#residualTree = new PathTree()
      for (const path of parts.residualPaths) this.#residualTree.set(path, true)
    }
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

  get residual(): TextColumn | undefined {
    if (typeof this.#residual === 'function') this.#residual = this.#residual()
    return this.#residual
  }

  residualMayHold(path: readonly string[]): boolean {
    return this.#residualTree === undefined || this.#residualTree.touches(path)
  }

  residualMayBe(path: readonly string[]): boolean {
    return this.#residualTree === undefined || this.#residualTree.leadsTo(path)
  }
}
