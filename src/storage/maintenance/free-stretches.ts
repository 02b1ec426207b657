/**
 * Where nothing lies in an LMDB file, read from the file itself: lmdb tells how much is free, not where. The layout
 * is that of data format 2 (`mdb.c` of LMDB 1.0): two pages of metadata, of the last transaction and the one
 * before, with the roots of the trees that lead to all pages that are used.
 */
import { readSync } from 'node:fs'

const magic = 0xbeefc0de
const format = 2

const pageHeaderBytes = 24
const isBranch = 1
const isLeaf = 2

const nodeHeaderBytes = 8
const isOnPagesOfItsOwn = 1
const isTree = 2
const isOfManyValues = 4

const noPage = 2n ** 64n - 1n

/** What LMDB keeps of a tree, 48 bytes. */
interface Tree {
  readonly branchPages: number
  readonly leafPages: number
  /** Of values that are longer than a page. */
  readonly valuePages: number
  readonly root: number | undefined
}

interface Metadata {
  readonly transaction: number
  readonly pageCount: number
  readonly trees: readonly Tree[]
}

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
  return used
    .stretchesBetween()
    .map(({ offset, length }) => ({ offset: offset * pageBytes, length: length * pageBytes }))
    .filter(({ length }) => length >= leastBytes)
}

class Pages {
  readonly #file: number
  readonly #pageBytes: number

  constructor(file: number, pageBytes: number) {
    this.#file = file
    this.#pageBytes = pageBytes
  }

  /** What is behind the end of the file reads as zeros, which no page is. */
  read(page: number): DataView {
    const bytes = new Uint8Array(this.#pageBytes)
    readSync(this.#file, bytes, 0, bytes.length, page * bytes.length)
    return new DataView(bytes.buffer)
  }
}

/** A byte for each page: 256 MB for a file of a terabyte. */
class UsedPages {
  readonly #used: Uint8Array

  constructor(pageCount: number) {
    this.#used = new Uint8Array(pageCount)
  }

  /** False when these are more than there are. */
  add(page: number, count: number): boolean {
    if (page + count > this.#used.length) return false
    this.#used.fill(1, page, page + count)
    return true
  }

  /** In pages. */
  stretchesBetween(): Stretch[] {
    const stretches: Stretch[] = []
    for (let from = this.#used.indexOf(0); from >= 0; ) {
      const to = this.#used.indexOf(1, from)
      const end = to < 0 ? this.#used.length : to
      stretches.push({ offset: from, length: end - from })
      from = this.#used.indexOf(0, end)
    }
    return stretches
  }
}

function readMetadata(page: DataView): Metadata | undefined {
  const at = pageHeaderBytes
  if (page.getUint32(at, true) !== magic || page.getUint32(at + 4, true) !== format)
    return undefined
  return {
    transaction: numberAt(page, at + 128),
    pageCount: numberAt(page, at + 120) + 1,
    trees: [readTree(page, at + 24), readTree(page, at + 72)],
  }
}

function readTree(page: DataView, at: number): Tree {
  const root = page.getBigUint64(at + 40, true)
  return {
    branchPages: numberAt(page, at + 8),
    leafPages: numberAt(page, at + 16),
    valuePages: numberAt(page, at + 24),
    root: root === noPage ? undefined : Number(root),
  }
}

function numberAt(page: DataView, at: number): number {
  return Number(page.getBigUint64(at, true))
}

/** Adds the pages of a tree and of those in it; false when they are not as many as LMDB says. */
function addTree(tree: Tree, pages: Pages, used: UsedPages): boolean {
  const left = { branch: tree.branchPages, leaf: tree.leafPages, value: tree.valuePages }
  const waiting = tree.root === undefined ? [] : [tree.root]
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    const page = pages.read(number)
    if (numberAt(page, 0) !== number || !used.add(number, 1)) return false
    const flags = page.getUint16(18, true)
    if (flags === isBranch) {
      if (left.branch-- === 0) return false
      for (const node of nodesOf(page)) waiting.push(childOf(page, node))
    } else if (flags === isLeaf) {
      if (left.leaf-- === 0) return false
      for (const node of nodesOf(page)) {
        const kind = page.getUint16(node + 4, true)
        const value = node + nodeHeaderBytes + page.getUint16(node + 6, true)
        if (kind === isOnPagesOfItsOwn) {
          const count = numberAt(page, value + 16)
          left.value -= count
          if (!used.add(numberAt(page, value), count)) return false
        } else if (kind === isTree) {
          if (!addTree(readTree(page, value), pages, used)) return false
        } else if ((kind & isOfManyValues) !== 0) return false
      }
    } else return false
  }
  return left.branch === 0 && left.leaf === 0 && left.value === 0
}

/** Where the nodes of a page begin. */
function* nodesOf(page: DataView): Generator<number> {
  const count = page.getUint16(20, true) >> 1
  for (let i = 0; i < count; i++) {
    yield pageHeaderBytes + page.getUint16(pageHeaderBytes + 2 * i, true)
  }
}

function childOf(page: DataView, node: number): number {
  return page.getUint32(node, true) + page.getUint16(node + 4, true) * 2 ** 32
}
