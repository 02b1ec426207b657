import { describe, expect, test } from 'vitest'
import { writeBody } from '../../src/clickhouse/row-encoder.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { buildJsonRow } from '../../src/storage/row/json-row.ts'
import { LentRows } from '../../src/storage/row/lent-rows.ts'
import { RowView } from '../../src/storage/row/row.ts'
import { RowBuilder } from '../../src/storage/row/row-builder.ts'
import { versionedRow } from '../support/versioned-row.ts'

function bodyOf(view: RowView): string {
  const out = new ByteWriter()
  writeBody(view, out)
  return out.view().toString()
}

/** A merge writes a field into the row before it is found to be null, and takes it out again. */
function withTakenOut(members: readonly (readonly [name: string, text: string])[]): RowView {
  const builder = new RowBuilder(new ByteWriter())
  builder.begin()
  for (const [name, text] of members) builder.text(name, text)
  const key = { transaction: 1000, index: 0 }
  builder.finish({
    flags: 0,
    createdMs: 0,
    paginationKey: key,
    transaction: 1000,
    previous: undefined,
  })
  return new RowView(builder.out.view())
}

describe('the body of a row version', () => {
  test.each([
    [
      ['id', '"a"'],
      ['output', 'null'],
      ['input', '1'],
    ],
    [
      ['output', 'null'],
      ['id', '"a"'],
      ['input', '1'],
    ],
    [
      ['id', '"a"'],
      ['input', '1'],
      ['output', 'null'],
    ],
  ] as const)('is JSON without what was taken out: %s %s %s', (...members) => {
    const view = withTakenOut(members)
    expect(bodyOf(view)).toBe('{"id":"a","input":1}')
  })

  test('makes the row again', () => {
    const { row } = versionedRow(
      '{"id":"a","created":"2024-01-01T00:00:00Z","n":1e400,"o":{"é":[]}}',
    )
    const builder = new RowBuilder(new ByteWriter())
    const { createdMs, flags, paginationKey, transaction, previous } = row
    const header = { createdMs: 0, flags, paginationKey, transaction, previous }
    buildJsonRow(Buffer.from(bodyOf(row)), header, builder)
    const again = new RowView(builder.out.view())
    expect(again.createdMs).toBe(createdMs)
    expect(bodyOf(again)).toBe(bodyOf(row))
    expect(again.paginationKey).toEqual(paginationKey)
  })
})

describe('lent rows', () => {
  test('are found by their keys, and gone through by their objects', () => {
    const bodies = ['{"id":"a"}', `{"id":"${'b'.repeat(300)}"}`, '{"id":"c"}']
    const bytes = Buffer.concat(bodies.map((body, i) => lentRow(1 + (i % 2), i, body)))
    const memory = new SharedArrayBuffer(bytes.length)
    bytes.copy(Buffer.from(memory))
    const rows = LentRows.of([memory])
    expect(bodyOf(rows.find(2, { transaction: 70_000, index: 1 })!)).toBe(bodies[1])
    expect(rows.find(1, { transaction: 70_000, index: 1 })).toBeUndefined()
    const versions = Array.from(rows.versionsOf(1), ({ key, view }) => [key.index, bodyOf(view)])
    expect(versions).toEqual([
      [0, bodies[0]],
      [2, bodies[2]],
    ])
    const [first] = rows.versionsOf(1)
    expect(first!.view.previous).toEqual({ transaction: 69_999, index: 3 })
    expect(first!.view.createdMs).toBe(1.5)
  })
})

/** As ClickHouse writes it in the format RowBinary. */
function lentRow(object: number, index: number, body: string): Buffer {
  const head = Buffer.alloc(45)
  const key = (transaction: number, index: number) => BigInt(transaction) * 65_536n + BigInt(index)
  head.writeUInt32LE(object, 0)
  head.writeBigUInt64LE(key(70_000, index), 4)
  head.writeBigUInt64LE(key(70_000, index), 12)
  head.writeBigUInt64LE(70_000n, 20)
  head[28] = 2
  head.writeBigUInt64LE(key(69_999, 3), 29)
  head.writeBigInt64LE(1500n, 37)
  const { length } = body
  const prefix = length < 128 ? [length] : [(length & 127) | 128, length >> 7]
  return Buffer.concat([head, Buffer.from(prefix), Buffer.from(body)])
}
