/**
 * Looks at an LMDB file before it is mapped. Whoever reads behind the end of a mapped file is ended by the system, so what
 * LMDB would trust is held against the file: its size, both pages of metadata, and the upper pages of its trees.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import {
  addTree,
  type Metadata,
  metadataPart,
  metadataTransaction,
  Pages,
  pageOrigin,
  readMetadata,
  type Tree,
  UsedPages,
  upperPages,
} from './lmdb-file.ts'

/** More would delay the start of a service: its first query reads as many. */
const mostLookedAt = 512

/** What pages are long when no page says so. */
const usualPageBytes = [4096, 16_384, 65_536, 8192, 32_768, 2048, 1024, 512] as const

export type Inspection =
  | { readonly state: 'missing' }
  /** Shorter than what LMDB begins with: nothing was ever written to it, or it was cut off. */
  | { readonly state: 'unwritten'; readonly bytes: number }
  | { readonly state: 'damaged'; readonly fault: string }
  | {
      readonly state: 'whole'
      readonly databases: ReadonlyMap<string, Tree>
      /** What was mended. */
      readonly mended?: string
    }

/** Nobody may have the file open for writing. Mends a lost page of metadata if that loses nothing. */
export function inspectFile(path: string): Inspection {
  let file: number
  try {
    file = openSync(path, 'r+')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') {
      return { state: 'missing' }
    }
    throw thrown
  }
  try {
    return inspect(file)
  } finally {
    closeSync(file)
  }
}

function inspect(file: number): Inspection {
  const { size } = fstatSync(file)
  const both = readBoth(file)
  if (both.every((one) => one === undefined)) {
    if (size < 2 * usualPageBytes[0]) return { state: 'unwritten', bytes: size }
    return damaged('neither of its two pages of metadata is whole')
  }
  const [first, second] = both
  const newest = first && second ? newer(first, second) : (first ?? second)!
  const pages = new Pages(file, newest.pageBytes)
  const lost = both.indexOf(undefined)
  if (lost >= 0 && !wasTakenBack(pages.read(lost), newest) && wasNewer(pages, newest, size)) {
    return damaged('the page of metadata of its last transaction is lost')
  }
  const needed = newest.pageCount * newest.pageBytes
  if (size < needed && !isWithin(newest, pages, size)) {
    return damaged(`it has ${size} bytes of ${needed}: it was cut off`)
  }
  const databases = upperPages(newest, pages, mostLookedAt)
  if (!databases) return damaged('pages that lead to its values are not what they should be')
  if (lost < 0) return { state: 'whole', databases }
  restoreMetadata(file, lost, newest)
  const mended = 'an older page of metadata was lost, and made again from the newer one'
  return { state: 'whole', databases, mended }
}

function damaged(fault: string): Inspection {
  return { state: 'damaged', fault }
}

/** Either page of metadata, if it is one. The first tells how long pages are, or the second where it lies. */
function readBoth(file: number): readonly [Metadata | undefined, Metadata | undefined] {
  const first = readMetadata(new Pages(file, usualPageBytes[0]).read(0))
  const sizes = first ? [first.pageBytes] : usualPageBytes
  for (const pageBytes of sizes) {
    const second = readMetadata(new Pages(file, pageBytes).read(1))
    if (second?.pageBytes === pageBytes) return [first, second]
  }
  return [first, undefined]
}

function newer(first: Metadata, second: Metadata): Metadata {
  return first.transaction >= second.transaction ? first : second
}

/**
 * Whether LMDB has taken a page of metadata back, as it could not be written: it has the number of the transaction that
 * it had before, and trees of the one that failed.
 */
function wasTakenBack(page: DataView, { transaction }: Metadata): boolean {
  const before = metadataTransaction(page)
  return before !== undefined && before < transaction
}

/**
 * Whether a page of metadata that was lost was the newer one. Transactions write it in turns, and each leaves pages
 * with its number. Those of one that was not committed count as well, as nobody can tell.
 */
function wasNewer(pages: Pages, { transaction }: Metadata, size: number): boolean {
  for (let number = 2; number * pages.pageBytes < size; number++) {
    const origin = pageOrigin(pages.read(number))
    if (origin.number === number && origin.transaction === transaction + 1) return true
  }
  return false
}

/** Whether all that is used lies in a file whose last pages, which are free, were never written. */
function isWithin({ trees }: Metadata, pages: Pages, size: number): boolean {
  const used = new UsedPages(Math.floor(size / pages.pageBytes))
  return used.add(0, 2) && trees.every((tree) => addTree(tree, pages, used))
}

/** Writes the metadata of the newest transaction in the other place, too, as that of the transaction before. */
function restoreMetadata(file: number, number: number, { pageBytes, transaction }: Metadata): void {
  const page = new Uint8Array(pageBytes)
  const from = (1 - number) * pageBytes
  readSync(file, page, 0, metadataPart.offset + metadataPart.length, from)
  const view = new DataView(page.buffer)
  view.setBigUint64(0, BigInt(number), true)
  view.setBigUint64(metadataPart.offset + 128, BigInt(Math.max(0, transaction - 1)), true)
  writeSync(file, page, 0, page.length, number * pageBytes)
  fsyncSync(file)
}
