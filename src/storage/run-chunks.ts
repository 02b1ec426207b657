/**
 * Where the parts of runs of ids begin (`id-run.ts`), in memory: a run never changes once it counts, so an id
 * is found by one read of each, where LMDB would take a cursor, a search and a read.
 */
import type { BinaryDatabase, ReadTransaction } from './environment.ts'
import { fullHashBytes } from './id-chunk.ts'
import { type IdHash, runRange } from './id-run.ts'
import type { IdRun } from './id-run-list.ts'

/** Runs with more entries are searched by LMDB: to read the beginnings of so many takes some 25 ms. */
const mostEntries = 4_000_000

const runBytes = 4
const objectBytes = 4
const keyBytes = runBytes + fullHashBytes
/** Of a hash, behind its object: as many as a number holds. */
const highBytes = 6

interface ChunkStarts {
  /** The keys of the parts, one after the other. */
  readonly keys: Buffer
  readonly objects: Uint32Array
  readonly highs: Float64Array
}

/** What hashes are ordered by. */
interface HashPlace {
  readonly object: number
  readonly high: number
}

export function placeOfHash(hash: IdHash): HashPlace {
  return { object: numberIn(hash, 0, objectBytes), high: numberIn(hash, objectBytes, highBytes) }
}

export class RunChunks {
  readonly #starts = new Map<number, ChunkStarts>()
  #runs: readonly IdRun[] = []

  /** Forgets runs that count no more. */
  keep(runs: readonly IdRun[]): void {
    if (runs === this.#runs) return
    const listed = new Set(runs.map(({ id }) => id))
    for (const id of this.#starts.keys()) if (!listed.has(id)) this.#starts.delete(id)
    this.#runs = runs
  }

  /**
   * The key of the only part that may have the hash; undefined when none has, `unknown` when only LMDB
   * can tell.
   */
  keyOf(
    idRuns: BinaryDatabase,
    { id, entries }: IdRun,
    { object, high }: HashPlace,
    transaction: ReadTransaction | undefined,
  ): Buffer | undefined | 'unknown' {
    if (entries > mostEntries) return 'unknown'
    let starts = this.#starts.get(id)
    if (!starts) {
      starts = readStarts(idRuns, id, transaction)
      this.#starts.set(id, starts)
    }
    const { keys, objects, highs } = starts
    let low = 0
    let end = objects.length
    while (low < end) {
      const middle = (low + end) >> 1
      const order = objects[middle]! - object || highs[middle]! - high
      if (order === 0) return 'unknown'
      if (order < 0) low = middle + 1
      else end = middle
    }
    return low === 0 ? undefined : keys.subarray((low - 1) * keyBytes, low * keyBytes)
  }
}

function readStarts(
  idRuns: BinaryDatabase,
  run: number,
  transaction: ReadTransaction | undefined,
): ChunkStarts {
  const options = { ...runRange(run), ...(transaction && { transaction }) }
  const keys = Buffer.concat(Array.from(idRuns.getKeys(options)))
  const count = keys.length / keyBytes
  const starts = { keys, objects: new Uint32Array(count), highs: new Float64Array(count) }
  for (let i = 0; i < count; i++) {
    const at = i * keyBytes + runBytes
    starts.objects[i] = keys.readUInt32BE(at)
    starts.highs[i] = keys.readUIntBE(at + objectBytes, highBytes)
  }
  return starts
}

/** Of the characters of a hash, each of which is a byte. */
function numberIn(hash: IdHash, start: number, length: number): number {
  let number = 0
  for (let i = start; i < start + length; i++) number = number * 0x100 + hash.charCodeAt(i)
  return number
}
