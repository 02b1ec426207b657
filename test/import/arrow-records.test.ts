/** Arrow as others write it, as a stream and as a file. */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  DurationMillisecond,
  Field,
  FixedSizeBinary,
  Float16,
  Int32,
  Int64,
  IntervalMonthDayNano,
  List,
  Map_,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Table,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  tableFromArrays,
  Uint64,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { readColumnTypes } from '../../src/import/column-types.ts'
import { recordsOfFile } from '../../src/import/file-format.ts'
import { fileOf, readAll } from '../support/import-records.ts'

/** A table of one column, as a stream and as a file, read in pieces that begin anywhere. */
async function readTable(table: Table, types = '') {
  const stream = RecordBatchStreamWriter.writeAll(table).toUint8Array(true)
  const file = RecordBatchFileWriter.writeAll(table).toUint8Array(true)
  const options = { types: readColumnTypes(types) }
  const whole = await readAll(recordsOfFile(fileOf(stream), 'arrow', options))
  const mark = Buffer.from('ARROW1\0\0')
  const fileAsStream = { ...fileOf(Buffer.concat([mark, stream]), 13), random: undefined }
  for (const source of [fileOf(stream, 13), fileOf(file), fileAsStream]) {
    expect(await readAll(recordsOfFile(source, 'arrow', options))).toEqual(whole)
  }
  return whole
}

function table(data: Data, metadata = new Map<string, string>()): Table {
  const schema = new Schema([new Field('v', data.type, true, metadata)])
  const { length } = data
  const struct = makeData({
    type: new Struct(schema.fields),
    length,
    nullCount: 0,
    children: [data],
  })
  return new Table([new RecordBatch(schema, struct)])
}

async function valuesOf(data: Data, metadata?: Map<string, string>, types?: string) {
  const rows = await readTable(table(data, metadata), types)
  return rows.map(([, what]) => (typeof what === 'string' ? what : (what as { v?: string }).v))
}

/** A column without nulls, of numbers as they are stored. */
function plain(type: DataType, values: unknown, length: number): Data {
  return makeData({ type, length, nullCount: 0, data: values } as never)
}

/** 128 bits of an integer, the lowest first. */
function words(...values: bigint[]): Uint32Array {
  return Uint32Array.from(
    values.flatMap((value) =>
      [0n, 32n, 64n, 96n].map((shift) => Number(BigInt.asUintN(32, value >> shift))),
    ),
  )
}

test.each<[string, Data, (string | undefined)[]]>([
  [
    'integers',
    plain(new Int64(), BigInt64Array.of(9007199254740993n, -(2n ** 63n)), 2),
    ['9007199254740993', '-9223372036854775808'],
  ],
  [
    'integers without a sign',
    plain(new Uint64(), BigUint64Array.of(2n ** 64n - 1n), 1),
    ['18446744073709551615'],
  ],
  [
    'decimals',
    plain(new Decimal(2, 38), words(35n, -7n, -(10n ** 37n)), 3),
    ['0.35', '-0.07', `-1${'0'.repeat(35)}`],
  ],
  [
    'half precision',
    plain(new Float16(), Uint16Array.of(0x3e00, 0x8001), 2),
    ['1.5', '-5.960464477539063e-8'],
  ],
  [
    'microseconds',
    plain(
      new TimestampMicrosecond(),
      BigInt64Array.of(1715942551123456n, -1n, 253402300799999999n),
      3,
    ),
    [
      '"2024-05-17T10:42:31.123456Z"',
      '"1969-12-31T23:59:59.999999Z"',
      '"9999-12-31T23:59:59.999999Z"',
    ],
  ],
  [
    'nanoseconds',
    plain(new TimestampNanosecond('UTC'), BigInt64Array.of(1715942551123456789n, -1n), 2),
    ['"2024-05-17T10:42:31.123456789Z"', '"1969-12-31T23:59:59.999999999Z"'],
  ],
  ['days', plain(new DateDay(), Int32Array.of(19782, -1), 2), ['"2024-02-29"', '"1969-12-31"']],
  [
    'times of day',
    plain(new TimeMicrosecond(), BigInt64Array.of(38551123456n, 0n), 2),
    ['"10:42:31.123456"', '"00:00:00"'],
  ],
  [
    'durations',
    plain(new DurationMillisecond(), BigInt64Array.of(90061001n, -1500n), 2),
    ['"PT25H1M1.001S"', '"PT-1.500S"'],
  ],
  [
    'intervals',
    plain(new IntervalMonthDayNano(), Int32Array.of(14, 3, 5, 0, 0, -1, -1, -1), 2),
    ['"P1Y2M3DT0.000000005S"', '"P-1DT-0.000000001S"'],
  ],
  [
    'bytes of a length',
    plain(new FixedSizeBinary(2), Uint8Array.of(0xff, 0, 0x61, 0x62), 2),
    ['"/wA="', '"YWI="'],
  ],
  [
    'texts',
    vectorFromArray(['{"a":1}', null, 'é', ''], new Utf8()).data[0]!,
    ['"{\\"a\\":1}"', undefined, '"é"', '""'],
  ],
  [
    'bytes',
    vectorFromArray([Uint8Array.of(0xff, 0), null], new Binary()).data[0]!,
    ['"/wA="', undefined],
  ],
  [
    'truths',
    vectorFromArray([true, null, false], new Bool()).data[0]!,
    ['true', undefined, 'false'],
  ],
  [
    'codes of a dictionary',
    vectorFromArray(['b', null, 'a', 'b'], new Dictionary(new Utf8(), new Int32())).data[0]!,
    ['"b"', undefined, '"a"', '"b"'],
  ],
  [
    'lists',
    vectorFromArray([['x', null], [], null], new List(new Field('item', new Utf8()))).data[0]!,
    ['["x",null]', '[]', undefined],
  ],
  [
    'structures, with names that are data',
    vectorFromArray(
      [JSON.parse('{"__proto__": "x", "constructor": null}'), null],
      new Struct([new Field('__proto__', new Utf8()), new Field('constructor', new Utf8())]),
    ).data[0]!,
    ['{"__proto__":"x","constructor":null}', undefined],
  ],
  [
    'maps',
    vectorFromArray(
      [
        new Map([
          ['a', 1n],
          ['b', null],
        ]),
        null,
      ],
      new Map_(
        new Field(
          'entries',
          new Struct([new Field('key', new Utf8(), false), new Field('value', new Int64())]),
          false,
        ) as never,
      ),
    ).data[0]!,
    ['{"a":1,"b":null}', undefined],
  ],
])('%s', async (_, data, expected) => {
  expect(await valuesOf(data)).toEqual(expected)
})

test('texts that are marked as JSON are JSON, digit for digit', async () => {
  const { data } = vectorFromArray(['{"n":1e400}', '12', '"12"', 'true'], new Utf8())
  const expected = ['{"n":1e400}', '12', '"12"', 'true']
  expect(await valuesOf(data[0]!, new Map([['assay:type', 'json']]))).toEqual(expected)
  expect(await valuesOf(data[0]!, new Map([['ARROW:extension:name', 'arrow.json']]))).toEqual(
    expected,
  )
  expect(await valuesOf(data[0]!, undefined, 'v=json')).toEqual(expected)
})

test('bytes are a UUID where they are marked, and a text where one says so', async () => {
  const { data } = vectorFromArray([Uint8Array.from({ length: 16 }, (_, i) => i)], new Binary())
  const uuid = '"00010203-0405-0607-0809-0a0b0c0d0e0f"'
  expect(await valuesOf(data[0]!, new Map([['ARROW:extension:name', 'arrow.uuid']]))).toEqual([
    uuid,
  ])
  const text = vectorFromArray([Buffer.from('é')], new Binary()).data[0]!
  expect(await valuesOf(text, undefined, 'v=text')).toEqual(['"é"'])
})

test('what JSON cannot say is told with its column and row', async () => {
  const rows = await readTable(tableFromArrays({ v: Float64Array.of(1, Number.NaN, 2) }))
  expect(rows).toEqual([
    [1, { v: '1' }],
    [2, 'its "v" is NaN, which JSON cannot say'],
    [3, { v: '2' }],
  ])
})

test('several batches, each with a dictionary of its own', async () => {
  const batches = [
    ['a', 'b'],
    ['c', 'a'],
  ].map((texts) => {
    return table(vectorFromArray(texts, new Dictionary(new Utf8(), new Int32(), 1)).data[0]!)
      .batches[0]!
  })
  const writer = new RecordBatchStreamWriter()
  for (const batch of batches) writer.write(batch)
  const bytes = writer.finish().toUint8Array(true)
  const rows = await readAll(recordsOfFile(fileOf(bytes), 'arrow'))
  expect(rows.map(([, what]) => (what as { v: string }).v)).toEqual(['"a"', '"b"', '"c"', '"a"'])
})

test('what is no Arrow is told', async () => {
  const read = (text: string) => readAll(recordsOfFile(fileOf(Buffer.from(text)), 'arrow'))
  await expect(read('{"a":1}\n{"b":2}\n')).rejects.toThrow()
})

describe('a damaged file is told to be so, and soon', () => {
  const lists = new Table({
    v: vectorFromArray([[1], [2, 3]], new List(new Field('i', new Int32(), true))),
  })
  const read = (bytes: Uint8Array) => readAll(recordsOfFile(fileOf(bytes), 'arrow'))

  test.each([
    ['a stream of nothing', Buffer.from('ARR')],
    ['zeros', Buffer.alloc(64)],
    [
      'a file whose end is cut off',
      RecordBatchFileWriter.writeAll(lists).toUint8Array(true).slice(0, -30),
    ],
  ])('%s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow('the file cannot be read as Arrow')
  })

  test('a list that goes beyond its items', async () => {
    const bytes = Buffer.from(RecordBatchStreamWriter.writeAll(lists).toUint8Array(true))
    const offsets = Buffer.from(Int32Array.of(0, 1, 3).buffer)
    const at = bytes.indexOf(offsets)
    bytes.writeInt32LE(2 ** 31 - 1, at + 8)
    expect(await read(bytes)).toEqual([
      [1, { v: '[1]' }],
      [2, 'its "v" is a list that goes beyond its items'],
    ])
  })

  test('fewer values than rows', async () => {
    const data = makeData({ type: new Int32(), length: 3, data: Int32Array.of(1, 2, 3) })
    const bytes = Buffer.from(RecordBatchStreamWriter.writeAll(table(data)).toUint8Array(true))
    // The rows of the column, and of the batch.
    for (let at = bytes.indexOf(Buffer.from([3, 0, 0, 0, 0, 0, 0, 0])); at >= 0; ) {
      bytes.writeInt32LE(2 ** 30, at)
      at = bytes.indexOf(Buffer.from([3, 0, 0, 0, 0, 0, 0, 0]), at + 8)
    }
    await expect(read(bytes)).rejects.toThrow(/the column "v": 1073741824 rows, of which it has/)
  })
})
