import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Block, linesMatch, parseSlt } from './slt.ts'

export const goldenDirectory = new URL('../golden', import.meta.url).pathname

export interface GoldenFile {
  /** Its path below the directory of golden files, without the ending. */
  readonly name: string
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

export function readGoldenFiles(): GoldenFile[] {
  const paths = readdirSync(goldenDirectory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.slt'))
    .map((entry) => join(entry.parentPath, entry.name))
  return paths.sort().map((path) => {
    const text = readFileSync(path, 'utf8')
    const name = relative(goldenDirectory, path).replace(/\.slt$/, '')
    return { path, name, text, blocks: parseSlt(text) }
  })
}

/** How many blocks a file starts with that only write. */
export function prefixLength(file: GoldenFile): number {
  const first = file.blocks.findIndex(
    ({ kind, expected }) => expected !== undefined || (kind !== 'comment' && kind !== 'insert'),
  )
  return first < 0 ? file.blocks.length : first
}

/** Whether a block's lines are those that it expects. */
export function isExpected({ header, expected }: Block, actual: readonly string[]): boolean {
  if (expected === undefined) return false
  if (!header[0]!.includes('rowsort')) return linesMatch(actual, expected)
  const [first = '', ...rows] = expected
  return linesMatch(actual, [first, ...rows.sort()])
}
