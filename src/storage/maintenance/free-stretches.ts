/** Where nothing lies in an LMDB file, read from the file itself: lmdb tells how much is free, not where. */
import { fstatSync } from 'node:fs'
import { addTree, Pages, readMetadata, UsedPages } from '../directory/lmdb-file.ts'

/** Bytes of a file. */
export interface Stretch {
  readonly offset: number
  readonly length: number
}

/**
 * Stretches of at least so many bytes that the last transaction does not use; undefined when the file is not as it is
 * described here. Nobody may write to it meanwhile.
 *
 * @param file its descriptor
 */
export function freeStretches(
  file: number,
  pageBytes: number,
  leastBytes: number,
): Stretch[] | undefined {
  const pages = new Pages(file, pageBytes)
  const [first, second] = [readMetadata(pages.read(0)), readMetadata(pages.read(1))]
  if (!first || !second) return undefined
  const { trees, pageCount } = first.transaction > second.transaction ? first : second
  const used = new UsedPages(pageCount)
  used.add(0, 2)
  if (!trees.every((tree) => addTree(tree, pages, used))) return undefined
  const between = used
    .rangesBetween()
    .map(({ first, count }) => ({ offset: first * pageBytes, length: count * pageBytes }))
  // Left by a transaction that was given up, as when the disk was full.
  const offset = pageCount * pageBytes
  const behind = { offset, length: fstatSync(file).size - offset }
  return [...between, behind].filter(({ length }) => length >= leastBytes)
}
