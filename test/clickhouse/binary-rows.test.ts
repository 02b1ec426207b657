import { describe, expect, test } from 'vitest'
import { BinaryRows } from '../../src/clickhouse/binary-rows.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'

const values: readonly (readonly [name: string, write: (rows: BinaryRows) => void, hex: string])[] =
  [
    ['byte', (rows) => rows.byte(7), '07'],
    ['flag', (rows) => rows.flag(true), '01'],
    ['uint32', (rows) => rows.uint32(0x01020304), '04030201'],
    ['uint64', (rows) => rows.uint64(2 ** 47), '0000000000800000'],
    ['rowKey', (rows) => rows.rowKey({ transaction: 258, index: 3 }), '0300020100000000'],
    ['greatestUint64', (rows) => rows.greatestUint64(), 'ffffffffffffffff'],
    ['int64', (rows) => rows.int64(-2n), 'feffffffffffffff'],
    ['count', (rows) => rows.count(300), 'ac02'],
    ['text', (rows) => rows.text('é'), '02c3a9'],
    ['bytes', (rows) => rows.bytes(Buffer.from('abc'), 1, 3), '026263'],
    ['dynamicNumber', (rows) => rows.dynamicNumber(1), '0e000000000000f03f'],
    ['dynamicBoolean', (rows) => rows.dynamicBoolean(true), '2d01'],
    ['dynamicText', (rows) => rows.dynamicText(), '15'],
  ]

describe('rows in the form of RowBinary', () => {
  test.each(values)('have %s as it is, wherever the memory has to grow', (_, write, hex) => {
    for (let before = 0; before <= 16; before++) {
      const rows = new BinaryRows(new ByteWriter(16))
      for (let i = 0; i < before; i++) rows.byte(0)
      write(rows)
      expect(rows.out.view(before).toString('hex'), `after ${before} bytes`).toBe(hex)
    }
  })
})
