/** Row versions as a cluster would lend them: see `storage/row/lent-rows.ts`. */
import { writeBody } from '../../src/clickhouse/row-encoder.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import type { StoredVersion } from '../../src/storage/row/stored-rows.ts'
import type { RowKey } from '../../src/type/transaction.ts'

export function lentOf(object: number, versions: readonly StoredVersion[]): SharedArrayBuffer[] {
  const rows = versions.map(({ key, view }) => {
    const body = new ByteWriter()
    writeBody(view, body)
    const head = Buffer.alloc(45)
    head.writeUInt32LE(object, 0)
    head.writeBigUInt64LE(numberOf(view.paginationKey), 4)
    head.writeBigUInt64LE(numberOf(key), 12)
    head.writeBigUInt64LE(BigInt(view.transaction), 20)
    head[28] = view.flags
    head.writeBigUInt64LE(view.previous ? numberOf(view.previous) : 0n, 29)
    head.writeBigInt64LE(BigInt(Math.round(view.createdMs * 1000)), 37)
    return Buffer.concat([head, lengthOf(body.length), body.view()])
  })
  const all = Buffer.concat(rows)
  const memory = new SharedArrayBuffer(all.length)
  all.copy(Buffer.from(memory))
  return [memory]
}

function numberOf({ transaction, index }: RowKey): bigint {
  return BigInt(transaction) * 65_536n + BigInt(index)
}

function lengthOf(length: number): Buffer {
  const bytes: number[] = []
  for (let rest = length; ; rest = Math.floor(rest / 0x80)) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}
