/**
 * What an LMDB file says of itself, read without LMDB, which trusts it. The layout is that of data format 2 (`mdb.c` of
 * LMDB 1.0): two pages of metadata, of the last transaction and the one before, with the roots of the trees that
 * lead to all pages that are used.
 */
import { readSync } from 'node:fs'

const magic = 0xbeefc0de
const format = 2

const pageHeaderBytes = 24
const isBranch = 1
const isLeaf = 2
const isMetadata = 8

const nodeHeaderBytes = 8
const isOnPagesOfItsOwn = 1
const isTree = 2
const isOfManyValues = 4

const noPage = 2n ** 64n - 1n

const leastPageBytes = 512
const mostPageBytes = 65_536

/** Where in a page of metadata its own part begins, and how long it is. */
export const metadataPart = { offset: pageHeaderBytes, length: 144 }

/** What LMDB keeps of a tree, 48 bytes. */
export interface Tree {
  readonly branchPages: number
  readonly leafPages: number
  /** Of values that are longer than a page. */
  readonly valuePages: number
  readonly entries: number
  readonly root: number | undefined
}

export interface Metadata {
  readonly pageBytes: number
  readonly transaction: number
  readonly pageCount: number
  /** Of what is free, and of the names of databases. */
  readonly trees: readonly [Tree, Tree]
}

export class Pages {
  readonly #file: number
  readonly pageBytes: number

  constructor(file: number, pageBytes: number) {
    this.#file = file
    this.pageBytes = pageBytes
  }

  /** What is behind the end of the file reads as zeros, which no page is. */
  read(page: number): DataView {
    const bytes = new Uint8Array(this.pageBytes)
    readSync(this.#file, bytes, 0, bytes.length, page * bytes.length)
    return new DataView(bytes.buffer)
  }
}

/** Pages of a file. */
export interface PageRange {
  readonly first: number
  readonly count: number
}

/** A byte for each page: 256 MB for a file of a terabyte. */
export class UsedPages {
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

  rangesBetween(): PageRange[] {
    const ranges: PageRange[] = []
    for (let from = this.#used.indexOf(0); from >= 0; ) {
      const to = this.#used.indexOf(1, from)
      const end = to < 0 ? this.#used.length : to
      ranges.push({ first: from, count: end - from })
      from = this.#used.indexOf(0, end)
    }
    return ranges
  }
}

/** The transaction of a page of metadata, be the rest of it right or not; undefined for another page. */
export function metadataTransaction(page: DataView): number | undefined {
  const at = pageHeaderBytes
  if (page.getUint16(18, true) !== isMetadata || page.getUint32(at, true) !== magic)
    return undefined
  if ((page.getUint32(at + 4, true) & 0xffff) !== format) return undefined
  return numberAt(page, at + 128)
}

/** Undefined for a page that is not one of metadata, as it should be. */
export function readMetadata(page: DataView): Metadata | undefined {
  const at = pageHeaderBytes
  const transaction = metadataTransaction(page)
  if (transaction === undefined) return undefined
  const pageBytes = page.getUint32(at + 24, true)
  const metadata: Metadata = {
    pageBytes,
    transaction,
    pageCount: numberAt(page, at + 120) + 1,
    trees: [readTree(page, at + 24), readTree(page, at + 72)],
  }
  const isSize = pageBytes >= leastPageBytes && pageBytes <= mostPageBytes
  const { trees, pageCount } = metadata
  const areWithin = trees.every(({ root }) => root === undefined || (root > 1 && root < pageCount))
  return isSize && (pageBytes & (pageBytes - 1)) === 0 && areWithin ? metadata : undefined
}

/** A page's number, and the transaction that wrote it. */
export function pageOrigin(page: DataView): {
  readonly number: number
  readonly transaction: number
} {
  return { number: numberAt(page, 0), transaction: numberAt(page, 8) }
}

function readTree(page: DataView, at: number): Tree {
  const root = page.getBigUint64(at + 40, true)
  return {
    branchPages: numberAt(page, at + 8),
    leafPages: numberAt(page, at + 16),
    valuePages: numberAt(page, at + 24),
    entries: numberAt(page, at + 32),
    root: root === noPage ? undefined : Number(root),
  }
}

function numberAt(page: DataView, at: number): number {
  return Number(page.getBigUint64(at, true))
}

/** Notes the pages of a tree and of those in it, and shows its own to `look`; false when they are not as many as LMDB says. */
export function addTree(
  tree: Tree,
  pages: Pages,
  used: UsedPages,
  look?: (page: DataView, number: number) => void,
): boolean {
  const left = { branch: tree.branchPages, leaf: tree.leafPages, value: tree.valuePages }
  const waiting = tree.root === undefined ? [] : [tree.root]
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    const page = pages.read(number)
    if (numberAt(page, 0) !== number || !used.add(number, 1)) return false
    look?.(page, number)
    const flags = page.getUint16(18, true)
    if (flags === isBranch) {
      if (left.branch-- === 0) return false
      for (const node of nodesOf(page)) waiting.push(childOf(page, node))
    } else if (flags === isLeaf) {
      if (left.leaf-- === 0) return false
      for (const node of nodesOf(page)) {
        const values = addValue(page, node, pages, used, look)
        if (values === undefined) return false
        left.value -= values
      }
    } else return false
  }
  return left.branch === 0 && left.leaf === 0 && left.value === 0
}

/** As `addTree`; tells where in the file there is nothing between the nodes of a page, and what stands there. */
export function pageGaps(
  tree: Tree,
  pages: Pages,
  used: UsedPages,
  found: (offset: number, bytes: Uint8Array) => void,
): boolean {
  return addTree(tree, pages, used, (page, number) => {
    const from = pageHeaderBytes + page.getUint16(20, true)
    const to = pageHeaderBytes + page.getUint16(22, true)
    if (from >= to || to > page.byteLength) return
    const bytes = new Uint8Array(page.buffer, from, to - from)
    found(number * page.byteLength + from, bytes)
  })
}

/** Notes the pages of what a leaf's node leads to: how many a value has of its own; undefined when they cannot be. */
function addValue(
  page: DataView,
  node: number,
  pages: Pages,
  used: UsedPages,
  look?: (page: DataView, number: number) => void,
): number | undefined {
  const kind = page.getUint16(node + 4, true)
  const value = node + nodeHeaderBytes + page.getUint16(node + 6, true)
  if (kind === isOnPagesOfItsOwn) {
    const count = numberAt(page, value + 16)
    return used.add(numberAt(page, value), count) ? count : undefined
  }
  if (kind === isTree) {
    return addTree(readTree(page, value), pages, used, look) ? 0 : undefined
  }
  return (kind & isOfManyValues) === 0 ? 0 : undefined
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

/**
 * Looks at the upper pages of all trees, and finds the databases by their names; undefined when a page is not what the
 * one above it says.
 *
 * @param most how many pages are looked at
 */
export function upperPages(
  { trees, pageCount, transaction }: Metadata,
  pages: Pages,
  most: number,
): ReadonlyMap<string, Tree> | undefined {
  const names = new Map<string, Tree>()
  const rootsOf = (found: readonly Tree[]) => found.flatMap(({ root }) => root ?? [])
  const waiting = rootsOf(trees)
  const [, { root: namesRoot }] = trees
  for (let i = 0; i < Math.min(waiting.length, most); i++) {
    const page = pages.read(waiting[i]!)
    const origin = pageOrigin(page)
    if (origin.number !== waiting[i] || origin.transaction > transaction) return undefined
    const flags = page.getUint16(18, true)
    if ((flags !== isBranch && flags !== isLeaf) || !hasNodesWithin(page)) return undefined
    for (const node of nodesOf(page)) {
      if (flags === isBranch) waiting.push(childOf(page, node))
      else if (waiting[i] === namesRoot && page.getUint16(node + 4, true) === isTree) {
        const end = node + nodeHeaderBytes + page.getUint16(node + 6, true)
        if (end + 48 > page.byteLength) return undefined
        const name = Buffer.from(page.buffer, node + nodeHeaderBytes, end - node - nodeHeaderBytes)
        const tree = readTree(page, end)
        // A name ends in a zero.
        names.set(name.toString('latin1').replace(/\0$/, ''), tree)
        waiting.push(...rootsOf([tree]))
      }
    }
    if (waiting.some((number) => number < 2 || number >= pageCount)) return undefined
  }
  return names
}

function hasNodesWithin(page: DataView): boolean {
  const lower = page.getUint16(20, true)
  if (pageHeaderBytes + lower > page.byteLength) return false
  for (const node of nodesOf(page)) {
    const isBehind = node >= pageHeaderBytes + lower
    if (!isBehind || node + nodeHeaderBytes > page.byteLength) return false
    const end = node + nodeHeaderBytes + page.getUint16(node + 6, true)
    if (end > page.byteLength) return false
  }
  return true
}
