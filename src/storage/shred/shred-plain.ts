/**
 * Columns of rows that lie end to end, by the loops of `kernel/row-shred.ts`, which take any rows that have room in their
 * memory; `shred-row.ts` makes the same of more rows, and of single ones among many.
 */
import {
  breadthFirst,
  RowShred,
  type ShreddedPath,
  type ShreddedTexts,
} from '../../kernel/row-shred.ts'
import type { PathColumns, TextColumn } from '../../vector/column.ts'
import { ListedColumns } from '../../vector/column-table.ts'
import { elementsOf } from '../../vector/elements.ts'
import { letQueriesPass } from '../give-way.ts'
import { boundedResidualPaths } from './residual-paths.ts'
import { pathColumns } from './shred-column.ts'
import type { ChosenPath } from './shred-paths.ts'
import type { ShreddedColumns } from './shred-row.ts'

/** Rows between two looks at queries that wait. */
const rowsAtOnce = 64

interface NamedPath extends ShreddedPath {
  readonly path: readonly string[]
  readonly children: readonly NamedPath[]
}

/** Of this thread. */
let shred: RowShred | undefined

/**
 * The columns of rows, in memory that the next call takes; undefined where they have no room.
 *
 * @param starts, ends of each row among `bytes`
 */
export function shredPlainRows(
  bytes: Uint8Array,
  starts: ArrayLike<number>,
  ends: ArrayLike<number>,
  paths: readonly ChosenPath[],
  maximumValueBytes: number,
): ShreddedColumns | undefined {
  shred ??= new RowShred()
  const rowCount = starts.length
  const root = namedPath([], paths)
  if (!shred.begin(bytes, rowCount, root, maximumValueBytes)) return undefined
  for (let row = 0; row < rowCount; row++) {
    if (row % rowsAtOnce === 0) letQueriesPass()
    if (!shred.add(row, starts[row]!, ends[row]!)) return undefined
  }
  return shred.finish() ? columnsOf(shred, root) : undefined
}

function namedPath(path: readonly string[], children: readonly ChosenPath[]): NamedPath {
  return {
    path,
    quotedName: Buffer.from(JSON.stringify(path.at(-1) ?? '')),
    isTime: path.length === 1 && path[0] === 'created',
    children: children.map((child) => namedPath([...path, child.key], child.children)),
  }
}

function columnsOf(rows: RowShred, root: NamedPath): ShreddedColumns {
  const all = breadthFirst(root)
  const paths: (readonly [readonly string[], PathColumns])[] = []
  all.forEach(({ path }, number) => {
    const columns = columnsAt(rows, number)
    if (columns) paths.push([path, columns])
  })
  const whole = all.flatMap(({ path }, number) => (rows.hasManyResiduals(number) ? [path] : []))
  const below = rows.residualPaths().map(({ parent, quotedName }) => {
    return [...all[parent]!.path, JSON.parse(quotedName.toString()) as string]
  })
  const residual = columnsAt(rows, all.length)?.json
  return {
    paths: new ListedColumns(paths),
    residual,
    residualPaths: residual ? boundedResidualPaths([...whole, ...below]) : [],
  }
}

function columnsAt(rows: RowShred, path: number): PathColumns | undefined {
  const kinds = rows.kinds(path)
  return (
    kinds &&
    pathColumns(kinds, {
      numbers: () => rows.numbers(path),
      timestamps: () => rows.timestamps(path),
      text: (validity) => textColumn(rows.texts(path), validity),
      json: (validity) => textColumn(rows.json(path), validity),
    })
  )
}

function textColumn(
  { bytes, offsets, codes }: ShreddedTexts,
  validity: Uint8Array | undefined,
): TextColumn {
  if (!codes) return { encoding: 'plain', texts: { bytes, offsets }, validity }
  return {
    encoding: 'dictionary',
    codes: elementsOf(codes),
    dictionary: { bytes, offsets },
    validity,
  }
}
