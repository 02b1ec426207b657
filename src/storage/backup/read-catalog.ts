/**
 * Reads the catalog as it is at one moment, in chunks. A chunk ends where a hash of a key says so, so that a change of one
 * entry changes one chunk: whoever has the others need not be sent them again.
 */
import { crc32 } from 'node:zlib'
import { contentHash } from '../content-hash.ts'
import { beginRead, type RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import { RecordReader } from '../read/record-reader.ts'
import { EntryListWriter } from './entry-list.ts'

export interface CatalogChunk {
  /** SHA-256 of its list, hexadecimal. */
  readonly hash: string
  readonly length: number
  /** Undefined when the asker has it, or has been sent enough. */
  readonly list: Buffer | undefined
}

export interface CatalogPiece {
  /** The last that was committed when the catalog was as it is told. */
  readonly transaction: number
  /** In ms since 1970. */
  readonly time: number
  readonly chunks: readonly CatalogChunk[]
  /** How many entries cannot be read, and are left out. */
  readonly damaged: number
}

export interface CatalogQuestion {
  /** Hashes of chunks that the asker has. */
  readonly known: ReadonlySet<string>
  /** About how much of others is sent at a time. */
  readonly bytes: number
  /** What is told of an entry; undefined when it is left out. */
  readonly shown: (key: string, value: Buffer) => Buffer | undefined
}

/** One key in so many ends a chunk, unless it is short. */
const keysPerChunk = 128
const shortChunk = 16 * 1024
const longChunk = 2 ** 20

/** All is read in one transaction, which lasts for as long as reading the catalog takes. */
export function readCatalog(
  records: RecordsEnvironment,
  { known, bytes, shown }: CatalogQuestion,
): CatalogPiece {
  records.root.resetReadTxn()
  const transaction = beginRead(records.root)
  const chunks: CatalogChunk[] = []
  const chunk = new EntryListWriter()
  let sent = 0
  let damaged = 0
  const end = () => {
    const list = chunk.take()
    const hash = contentHash(list)
    const isSent = !known.has(hash) && sent < bytes
    if (isSent) sent += list.length
    chunks.push({ hash, length: list.length, list: isSent ? list : undefined })
    letQueriesPass()
  }
  const noteDamage = () => {
    damaged++
  }
  try {
    const time = Date.now()
    const last = new RecordReader(records).lastTransaction(transaction)
    for (const { key, value } of records.catalog.getReadable({ transaction }, noteDamage)) {
      const told = shown(key.toString(), value)
      if (!told) continue
      chunk.add(key, told)
      if (chunk.length >= longChunk || (chunk.length >= shortChunk && endsChunk(key))) end()
    }
    if (chunk.length > 0) end()
    return { transaction: last, time, chunks, damaged }
  } finally {
    transaction.done()
  }
}

function endsChunk(key: Buffer): boolean {
  return crc32(key) % keysPerChunk === 0
}
