/**
 * The log of the records environment: one entry per request, under the last transaction that the
 * request was given.
 *
 *     log   = entry* spill*
 *     entry = transaction u64 → first transaction u48, object*
 *     object = object u32, rows u32, supersessions u32, bytes f64
 *     spill = 0xff, 0 u8, transaction u48 → first transaction u48
 *
 * A request of more rows than one transaction numbers is given as many as it needs, one after the
 * other. Its rows are keyed by all of them, so that keys stay unique, but all show the last as their
 * `_xact_id`. Only transactions that have an entry may be snapshots; between the first and the last
 * of a request there is none, so nobody sees a part of it. A spill marks such a request.
 */
import { transactionKey, transactionOf } from './record-key.ts'

/** What a request did to one object. */
export interface ObjectWrite {
  readonly object: number
  /** Row versions written, deletions among them. */
  readonly rows: number
  /** Row versions that were current before; more than none where that is not known any more. */
  readonly supersessions: number
  readonly bytes: number
}

export interface LogEntry {
  /** The `_xact_id` of the request's rows, and a snapshot that sees them. */
  readonly transaction: number
  /** The first transaction of its rows' keys. */
  readonly first: number
  readonly objects: readonly ObjectWrite[]
}

/** A request whose rows' keys have the transactions from `first` to `last`. */
export interface Spill {
  readonly first: number
  readonly last: number
}

const objectBytes = 20
const firstBytes = 6

/** No key of an entry is as great; those of spills are greater. */
export const endOfLog = Buffer.from([0xff])

/** No key of a spill is as great. */
export const endOfSpills = Buffer.from([0xff, 0xff])

export function encodeLogEntry(entry: LogEntry): { key: Buffer; value: Buffer } {
  const value = Buffer.alloc(firstBytes + entry.objects.length * objectBytes)
  value.writeUIntBE(entry.first, 0, firstBytes)
  let at = firstBytes
  for (const { object, rows, supersessions, bytes } of entry.objects) {
    value.writeUInt32BE(object, at)
    value.writeUInt32BE(rows, at + 4)
    value.writeUInt32BE(supersessions, at + 8)
    value.writeDoubleBE(bytes, at + 12)
    at += objectBytes
  }
  return { key: transactionKey(entry.transaction), value }
}

export function decodeLogEntry(key: Buffer, value: Buffer): LogEntry {
  const objects: ObjectWrite[] = []
  for (let at = firstBytes; at < value.length; at += objectBytes) {
    objects.push({
      object: value.readUInt32BE(at),
      rows: value.readUInt32BE(at + 4),
      supersessions: value.readUInt32BE(at + 8),
      bytes: value.readDoubleBE(at + 12),
    })
  }
  return { transaction: transactionOf(key), first: value.readUIntBE(0, firstBytes), objects }
}

export function encodeSpill({ first, last }: Spill): { key: Buffer; value: Buffer } {
  const key = transactionKey(last)
  key[0] = 0xff
  const value = Buffer.alloc(firstBytes)
  value.writeUIntBE(first, 0, firstBytes)
  return { key, value }
}

export function decodeSpill(key: Buffer, value: Buffer): Spill {
  return { first: value.readUIntBE(0, firstBytes), last: transactionOf(key) }
}
