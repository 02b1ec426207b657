/**
 * Overwrites what LMDB has freed, which else stays in its files until the pages are used again: long stretches become holes,
 * which also gives their space back, short ones are written over with zeros, and so are the gaps of used pages, where values
 * that were removed or moved may have left their bytes.
 *
 * Nobody may write to the file meanwhile. A transaction that changes nothing sees to that; it is short, and what it has no
 * time for is left to the next.
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Pages, pageGaps, readMetadata, type Tree, UsedPages } from '../directory/lmdb-file.ts'
import type { RecordsEnvironment, SegmentsEnvironment } from '../environment.ts'
import {
  type EnvironmentFile,
  fileName,
  recordsFile,
  segmentFiles,
  spaceOf,
} from './segment-files.ts'
import { hasReaderBefore, makeHole } from './trim-files.ts'

/** For so long writers wait, beside the time that it takes to read which pages are used. */
const holdMs = 20
/** A hole that is shorter would only cut the file to pieces. */
const leastHoleBytes = 2 ** 16
const mostStepBytes = 2 ** 22

/** What is to be wiped of a file, as far as that was found out. */
export class Wiping {
  readonly #file: EnvironmentFile
  /** All that is free and lies before was wiped. */
  #from = 0
  #hasHoles = true

  constructor(file: EnvironmentFile) {
    this.#file = file
  }

  /** Wipes for a while. `busy`: somebody reads what was there before the last transaction, and nothing was done. */
  step(): 'done' | 'more' | 'busy' {
    const { root, folder } = this.#file
    const descriptor = openSync(join(folder, fileName), 'r+')
    try {
      root.resetReadTxn()
      return root.transactionSync(() => this.#wipe(descriptor))
    } finally {
      closeSync(descriptor)
    }
  }

  #wipe(descriptor: number): 'done' | 'more' | 'busy' {
    const { pageBytes } = spaceOf(this.#file)
    const pages = new Pages(descriptor, pageBytes)
    const [first, second] = [readMetadata(pages.read(0)), readMetadata(pages.read(1))]
    if (!first || !second) return 'done'
    const { trees, pageCount, transaction } =
      first.transaction > second.transaction ? first : second
    if (hasReaderBefore(transaction, this.#file.root)) return 'busy'
    const used = new UsedPages(pageCount)
    used.add(0, 2)
    if (!trees.every((tree) => this.#closeGaps(tree, pages, used, descriptor))) return 'done'
    const until = performance.now() + holdMs
    const ranges = used
      .rangesBetween()
      .map(({ first, count }) => ({ from: first * pageBytes, to: (first + count) * pageBytes }))
    const end = pageCount * pageBytes
    const behind = { from: end, to: Math.max(end, fstatSync(descriptor).size) }
    for (const { from, to } of [...ranges, behind]) {
      for (let at = Math.max(from, this.#from); at < to; ) {
        if (performance.now() > until) return 'more'
        const length = Math.min(to - at, mostStepBytes)
        this.#clear(descriptor, at, length)
        at += length
        this.#from = at
      }
    }
    fdatasyncSync(descriptor)
    return 'done'
  }

  #closeGaps(tree: Tree, pages: Pages, used: UsedPages, descriptor: number): boolean {
    return pageGaps(tree, pages, used, (offset, bytes) => {
      if (bytes.some((byte) => byte !== 0)) writeZeros(descriptor, offset, bytes.length)
    })
  }

  #clear(descriptor: number, offset: number, length: number): void {
    if (this.#hasHoles && length >= leastHoleBytes) {
      this.#hasHoles = makeHole(descriptor, { offset, length })
      if (this.#hasHoles) return
    }
    for (let at = 0; at < length; at += leastHoleBytes) {
      const part = Buffer.alloc(Math.min(leastHoleBytes, length - at))
      readSync(descriptor, part, 0, part.length, offset + at)
      // What is a hole already stays one.
      if (part.some((byte) => byte !== 0)) writeZeros(descriptor, offset + at, part.length)
    }
  }
}

function writeZeros(descriptor: number, offset: number, length: number): void {
  writeSync(descriptor, Buffer.alloc(length), 0, length, offset)
}

/** By whose files: what is not wiped yet. */
const begun = new WeakMap<RecordsEnvironment, Wiping[]>()

/** Begins to wipe all files, or goes on with it, for some ten milliseconds; false when all that was free at the beginning is wiped. */
export function wipeFiles(records: RecordsEnvironment, segments: SegmentsEnvironment): boolean {
  const files = [recordsFile(records), ...segmentFiles(segments)]
  const left = begun.get(records) ?? files.map((file) => new Wiping(file))
  begun.set(records, left)
  if (left[0]!.step() === 'done') left.shift()
  if (left.length === 0) begun.delete(records)
  return left.length > 0
}
