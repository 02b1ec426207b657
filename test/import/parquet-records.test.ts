/** Parquet as others write it: every value exactly, or an error that names its column and row. */
import { expect, test } from 'vitest'
import { readColumnTypes } from '../../src/import/column-types.ts'
import { recordsOfFile } from '../../src/import/file-format.ts'
import { fileOf, readAll } from '../support/import-records.ts'
import { parquetOf } from '../support/parquet-by-duckdb.ts'

async function read(bytes: Uint8Array, types = '') {
  return await readAll(recordsOfFile(fileOf(bytes), 'parquet', { types: readColumnTypes(types) }))
}

/** The value of a column `v` in each row. */
async function valuesOf(select: string, types = '') {
  const rows = await read(await parquetOf(select), types)
  return rows.map(([, what]) => (typeof what === 'string' ? what : (what as { v?: string }).v))
}

const value = async (expression: string, types = '') =>
  (await valuesOf(`SELECT ${expression} AS v`, types))[0]

test.each([
  // Numbers.
  ['0.35::DECIMAL(4,2)', '0.35'],
  ['(-0.07)::DECIMAL(4,2)', '-0.07'],
  ['19.99::DECIMAL(9,2)', '19.99'],
  ['5::DECIMAL(9,2)', '5'],
  ['123456789012345.678::DECIMAL(18,3)', '123456789012345.678'],
  [
    "'-12345678901234567890123456789012345678'::DECIMAL(38,0)",
    '-12345678901234567890123456789012345678',
  ],
  [
    "'0.12345678901234567890123456789012345678'::DECIMAL(38,38)",
    '0.12345678901234567890123456789012345678',
  ],
  ['9007199254740993::BIGINT', '9007199254740993'],
  ['(-9223372036854775808)::BIGINT', '-9223372036854775808'],
  ['18446744073709551615::UBIGINT', '18446744073709551615'],
  ['4294967295::UINTEGER', '4294967295'],
  ['255::UTINYINT', '255'],
  ['65535::USMALLINT', '65535'],
  ['(-128)::TINYINT', '-128'],
  ['0.5::FLOAT', '0.5'],
  ['1e300::DOUBLE', '1e+300'],
  ['true', 'true'],
  // Times.
  ["DATE '2024-02-29'", '"2024-02-29"'],
  ["DATE '1969-12-31'", '"1969-12-31"'],
  ["TIMESTAMP '2024-05-17 10:42:31.123456'", '"2024-05-17T10:42:31.123456Z"'],
  ["TIMESTAMP '1969-12-31 23:59:59.999999'", '"1969-12-31T23:59:59.999999Z"'],
  ["TIMESTAMP '9999-12-31 23:59:59.999999'", '"9999-12-31T23:59:59.999999Z"'],
  ["TIMESTAMP '0001-01-01 00:00:00.000001'", '"0001-01-01T00:00:00.000001Z"'],
  ["TIMESTAMPTZ '2024-05-17 10:42:31.5+02'", '"2024-05-17T08:42:31.500Z"'],
  ["TIMESTAMP_MS '2024-05-17 10:42:31.12'", '"2024-05-17T10:42:31.120Z"'],
  ["TIMESTAMP_S '2024-05-17 10:42:31'", '"2024-05-17T10:42:31Z"'],
  ["TIMESTAMP_NS '1969-12-31 23:59:59.123456789'", '"1969-12-31T23:59:59.123456789Z"'],
  ["TIME '10:42:31.123456'", '"10:42:31.123456"'],
  ["TIME '00:00:00'", '"00:00:00"'],
  ["INTERVAL '1 year 2 months 3 days 4 hours 5 minutes 6.007 seconds'", '"P1Y2M3DT4H5M6.007S"'],
  // Texts and bytes.
  ['\'{"a": 1}\'', '"{\\"a\\": 1}"'],
  ['\'"quoted"\'', '"\\"quoted\\""'],
  ["''", '""'],
  [
    '\'{"n":9007199254740993,"e":1e400,"d":0.10}\'::JSON',
    '{"n":9007199254740993,"e":1e400,"d":0.10}',
  ],
  ['\'"x"\'::JSON', '"x"'],
  ["'\\xFF\\x00'::BLOB", '"/wA="'],
  ["'abc'::BLOB", '"YWJj"'],
  ["'8f3d2c1b-0a99-4877-a655-443322110fed'::UUID", '"8f3d2c1b-0a99-4877-a655-443322110fed"'],
  ["'b'::ENUM('a', 'b')", '"b"'],
  // Values in values.
  ["['a', NULL, 'b']", '["a",null,"b"]'],
  ['[]::INTEGER[]', '[]'],
  ['[[1, 2], [], NULL, [NULL]]', '[[1,2],[],null,[null]]'],
  [
    "{'a': 0.3::DECIMAL(4,1), 'b': NULL::INTEGER, 'c': [{'d': 1::UBIGINT}]}",
    '{"a":0.3,"b":null,"c":[{"d":1}]}',
  ],
  ["{'__proto__': 1, 'constructor': 2, 'a.b': 3}", '{"__proto__":1,"constructor":2,"a.b":3}'],
  ["MAP {'a': 1, '__proto__': 2}", '{"a":1,"__proto__":2}'],
  ["MAP {1: 'x', 2: NULL}", '{"1":"x","2":null}'],
  ['MAP {}::MAP(VARCHAR, INTEGER)', '{}'],
  ["[MAP {'a': [1.5::DECIMAL(3,1)]}, NULL]", '[{"a":[1.5]},null]'],
  ["MAP {'k': MAP {'l': TIMESTAMP '2000-01-01'}}", '{"k":{"l":"2000-01-01T00:00:00Z"}}'],
  ['NULL::MAP(VARCHAR, INTEGER)', undefined],
  ['NULL::STRUCT(a INTEGER)', undefined],
  ['NULL::INTEGER[]', undefined],
])('%s is %s', async (expression, expected) => {
  expect(await value(expression)).toBe(expected)
})

test('nulls between values of every shape', async () => {
  const select = `SELECT unnest([{'a': [1]}, NULL, {'a': NULL}, {'a': []}, {'a': [NULL, 2]}]) AS v`
  expect(await valuesOf(select)).toEqual([
    '{"a":[1]}',
    undefined,
    '{"a":null}',
    '{"a":[]}',
    '{"a":[null,2]}',
  ])
  const maps = `SELECT unnest([MAP {'a': 1}, NULL, MAP {}, MAP {'b': NULL}]) AS v`
  expect(await valuesOf(maps)).toEqual(['{"a":1}', undefined, '{}', '{"b":null}'])
})

test('what JSON cannot say is told with its column and row, and spoils no other row', async () => {
  expect(await read(await parquetOf("SELECT unnest([1.5, 'nan'::DOUBLE, 2]) AS v"))).toEqual([
    [1, { v: '1.5' }],
    [2, 'its "v" is NaN, which JSON cannot say'],
    [3, { v: '2' }],
  ])
  const infinite = "SELECT unnest([TIMESTAMP 'infinity', TIMESTAMP '2000-01-01']) AS v"
  expect(await read(await parquetOf(infinite))).toEqual([
    [1, 'its "v" is a time beyond the calendar'],
    [2, { v: '"2000-01-01T00:00:00Z"' }],
  ])
})

test('values of a form that is not read are told', async () => {
  expect(await value('\'{"a": 1}\'::JSON::VARIANT')).toBe(
    'its "v" is a VARIANT, which is not read; JSON is',
  )
})

test('a column of which a part is damaged is named, and the rows of other groups are taken', async () => {
  const bytes = await parquetOf(
    'SELECT i AS id, md5(i::VARCHAR) AS v FROM range(6000) AS t(i)',
    ', COMPRESSION gzip, ROW_GROUP_SIZE 2048',
  )
  // In the first group, whose texts take most of it.
  bytes.fill(0xff, 20_000, 20_100)
  const rows = await read(bytes)
  expect(rows.length).toBe(6000)
  expect(rows[0]).toEqual([1, expect.stringMatching(/^its "v" cannot be read: /)])
  expect(rows[5999]).toEqual([6000, { id: '5999', v: expect.stringMatching(/^"[0-9a-f]{32}"$/) }])
})

test('texts and bytes are what one says', async () => {
  expect(await value("'abc'::BLOB", 'v=text')).toBe('"abc"')
  expect(await value("'\\xFF'::BLOB", 'v=text')).toContain('its "v" is not UTF-8 text')
  expect(await value('\'{"a": 1e400}\'', 'v=json')).toBe('{"a": 1e400}')
  expect(await value("'12'", 'v=number')).toBe('12')
})

test('many rows, of several groups and compressions', async () => {
  const select =
    "SELECT i AS id, 'text ' || (i % 7) AS v, [i, i + 1] AS l FROM range(50000) AS t(i)"
  for (const compression of ['snappy', 'gzip', 'zstd', 'brotli', 'lz4', 'uncompressed']) {
    const options = `, COMPRESSION ${compression}, ROW_GROUP_SIZE 20000`
    const rows = await read(await parquetOf(select, options))
    expect(rows.length).toBe(50_000)
    for (const row of [0, 19_999, 20_000, 49_999]) {
      const expected = { id: String(row), v: `"text ${row % 7}"`, l: `[${row},${row + 1}]` }
      expect(rows[row]).toEqual([row + 1, expected])
    }
  }
})

test.each([
  ['what describes it', (bytes: Buffer) => bytes.fill(0, bytes.length - 200, bytes.length - 8)],
  ['how long that is', (bytes: Buffer) => bytes.writeUInt32LE(7, bytes.length - 8)],
  ['its end', (bytes: Buffer) => bytes.fill(0, bytes.length - 8)],
])('a file that has lost %s is told to be none', async (_, damage) => {
  const bytes = Buffer.from(await parquetOf('SELECT i AS id FROM range(5) AS t(i)'))
  damage(bytes)
  await expect(read(bytes)).rejects.toThrow('the file cannot be read as Parquet')
})
