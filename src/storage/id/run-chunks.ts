/**
 * Parts of runs of ids (`id-run.ts`) in memory, and where all parts begin: a run never changes once it counts,
 * so most ids are found without LMDB, and others by one read of each run, where LMDB would take a cursor, a
 * search and a read.
 */
import type { ReadTransaction, RecordDatabase } from '../environment.ts'
import type { CurrentVersion } from '../record-key.ts'
import { fullHashBytes, type HashNumbers, mostChunkBytes } from './id-chunk.ts'
import { findInChunk, runRange } from './id-run.ts'
import type { IdRun } from './id-run-list.ts'

/** Runs with more entries are searched by LMDB: to read the beginnings of so many takes some 25 ms. */
const mostEntries = 4_000_000

const runBytes = 4
const objectBytes = 4
const keyBytes = runBytes + fullHashBytes
/** Of a hash, behind its object: as many as a number holds. */
const highBytes = 6

interface ChunkStarts {
  /** The number of its first part among all that were ever read. */
  readonly number: number
  /** The keys of the parts, one after the other. */
  readonly keys: Buffer
  readonly objects: Uint32Array
  readonly highs: Float64Array
}

export class RunChunks {
  readonly #starts = new Map<number, ChunkStarts>()
  readonly #kept: KeptChunks
  #runs: readonly IdRun[] = []
  #nextNumber = 0

  /** @param bytes what parts may take together */
  constructor(bytes: number) {
    this.#kept = new KeptChunks(Math.floor(bytes / mostChunkBytes))
  }

  /** Forgets runs that count no more. */
  keep(runs: readonly IdRun[]): void {
    if (runs === this.#runs) return
    const listed = new Set(runs.map(({ id }) => id))
    for (const id of this.#starts.keys()) if (!listed.has(id)) this.#starts.delete(id)
    this.#runs = runs
  }

  /** What a run knows of an id; `unknown` when only LMDB can tell. */
  find(
    idRuns: RecordDatabase,
    { id, entries }: IdRun,
    wanted: HashNumbers,
    transaction: ReadTransaction | undefined,
  ): CurrentVersion | undefined | 'unknown' {
    if (entries > mostEntries) return 'unknown'
    let starts = this.#starts.get(id)
    if (!starts) {
      starts = readStarts(idRuns, id, this.#nextNumber, transaction)
      this.#nextNumber += starts.objects.length
      this.#starts.set(id, starts)
    }
    const { keys, objects, highs } = starts
    let low = 0
    let end = objects.length
    while (low < end) {
      const middle = (low + end) >> 1
      const order = objects[middle]! - wanted.object || highs[middle]! - wanted.high
      if (order === 0) return 'unknown'
      if (order < 0) low = middle + 1
      else end = middle
    }
    if (low === 0) return undefined
    const chunk = low - 1
    const found = this.#kept.find(starts.number + chunk, wanted)
    if (found !== 'unknown') return found
    const key = keys.subarray(chunk * keyBytes, (chunk + 1) * keyBytes)
    // Read where LMDB puts it, and done with before the next value: a copy in memory of its own costs 5 µs.
    const value = idRuns.getBinaryFast(key, transaction ? { transaction } : undefined)
    if (!value) return undefined
    this.#kept.set(starts.number + chunk, value)
    return findInChunk(value, 0, value.length, wanted)
  }
}

/**
 * Parts in places of one piece of memory. A part has one place by its number, in which others take turns: that of
 * runs that are no larger than the memory are all different, and what is not there costs little more than to read it.
 */
class KeptChunks {
  readonly #numbers: Float64Array
  readonly #lengths: Uint16Array
  #bytes: Buffer | undefined

  constructor(count: number) {
    this.#numbers = new Float64Array(count).fill(-1)
    this.#lengths = new Uint16Array(count)
  }

  find(number: number, wanted: HashNumbers): CurrentVersion | undefined | 'unknown' {
    const place = number % this.#numbers.length
    if (this.#numbers[place] !== number) return 'unknown'
    return findInChunk(this.#bytes!, place * mostChunkBytes, this.#lengths[place]!, wanted)
  }

  set(number: number, { buffer, byteOffset, length }: Buffer): void {
    const count = this.#numbers.length
    if (count === 0 || length > mostChunkBytes) return
    // What is never written to is not taken from the system.
    this.#bytes ??= Buffer.allocUnsafeSlow(count * mostChunkBytes)
    const place = number % count
    this.#bytes.set(new Uint8Array(buffer, byteOffset, length), place * mostChunkBytes)
    this.#numbers[place] = number
    this.#lengths[place] = length
  }
}

function readStarts(
  idRuns: RecordDatabase,
  run: number,
  number: number,
  transaction: ReadTransaction | undefined,
): ChunkStarts {
  const options = { ...runRange(run), ...(transaction && { transaction }) }
  const keys = Buffer.concat(Array.from(idRuns.getKeys(options)))
  const count = keys.length / keyBytes
  const starts = { number, keys, objects: new Uint32Array(count), highs: new Float64Array(count) }
  for (let i = 0; i < count; i++) {
    const at = i * keyBytes + runBytes
    starts.objects[i] = keys.readUInt32BE(at)
    starts.highs[i] = keys.readUIntBE(at + objectBytes, highBytes)
  }
  return starts
}
