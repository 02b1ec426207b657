/**
 * Overwrites what LMDB has freed, which else stays in its files until the pages are used again: long stretches become holes,
 * which also gives their space back, short ones are written over with zeros, and so are the gaps of used pages, where values
 * that were removed or moved may have left their bytes.
 *
 * Nobody may write to the file meanwhile, nor read what was there before the last transaction. A transaction that changes
 * nothing keeps others from writing, and waits a little for those who read; it is short, and what it has no time for is left
 * to the next.
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

/** For so long it waits for readers, and wipes, beside the time that it takes to read which pages are used. */
interface Patience {
  readonly waitMs: number
  readonly wipeMs: number
}

/** Others write to it, too, and wait. */
const ofRecords: Patience = { waitMs: 20, wipeMs: 20 }
const ofSegments: Patience = { waitMs: 1000, wipeMs: 500 }
/** Between two looks at who reads. */
const lookAgainMs = 2
/** A hole that is shorter would only cut the file to pieces. */
const leastHoleBytes = 2 ** 16
const mostStepBytes = 2 ** 22

/** What is to be wiped of a file, as far as that was found out. */
export class Wiping {
  readonly #file: EnvironmentFile
  readonly #patience: Patience
  /** All that is free and lies before was wiped. */
  #from = 0
  #hasHoles = true

  constructor(file: EnvironmentFile, patience: Patience) {
    this.#file = file
    this.#patience = patience
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
    if (!this.#waitForReaders(transaction)) return 'busy'
    const used = new UsedPages(pageCount)
    used.add(0, 2)
    if (!trees.every((tree) => this.#closeGaps(tree, pages, used, descriptor))) return 'done'
    const until = performance.now() + this.#patience.wipeMs
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

  /** No reader begins with an older transaction meanwhile. */
  #waitForReaders(transaction: number): boolean {
    const until = performance.now() + this.#patience.waitMs
    const sleeper = new Int32Array(new SharedArrayBuffer(4))
    while (hasReaderBefore(transaction, this.#file.root)) {
      if (performance.now() > until) return false
      Atomics.wait(sleeper, 0, 0, lookAgainMs)
    }
    return true
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
  const left = begun.get(records) ?? [
    ...segmentFiles(segments).map((file) => new Wiping(file, ofSegments)),
    new Wiping(recordsFile(records), ofRecords),
  ]
  begun.set(records, left)
  // While somebody reads one of them, others are wiped.
  const first = left.shift()!
  if (first.step() !== 'done') left.push(first)
  if (left.length > 0) return true
  begun.delete(records)
  noteWipe(records, false)
  return false
}

const noteKey = Buffer.from('wipe')

/** Notes that something is to be wiped, or is not any more: what a process leaves, the next goes on with. */
export function noteWipe({ root, progress }: RecordsEnvironment, isDue: boolean): void {
  root.transactionSync(() => {
    if (isDue) progress.putSync(noteKey, Buffer.from([1]))
    else progress.removeSync(noteKey)
  })
}

export function isWipeDue({ progress }: Pick<RecordsEnvironment, 'progress'>): boolean {
  return progress.has(noteKey)
}
