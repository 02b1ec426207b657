/** CSV as people have it: any delimiter, line end and encoding, and with lines that are wrong. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readColumnTypes } from '../../src/import/column-types.ts'
import { csvRecords } from '../../src/import/csv-records.ts'
import { toUtf8 } from '../../src/import/encoding.ts'
import { inChunks, readAll } from '../support/import-records.ts'

interface Options {
  readonly delimiter?: string
  readonly encoding?: string
  readonly types?: string
  readonly chunk?: number
  readonly hasEscapedFormulas?: boolean
}

function read(content: string | Uint8Array, options: Options = {}) {
  const { delimiter, encoding, types, chunk, hasEscapedFormulas } = options
  const bytes = toUtf8(inChunks(content, chunk), encoding)
  return readAll(
    csvRecords(bytes, { delimiter, types: readColumnTypes(types), hasEscapedFormulas }),
  )
}

describe('the delimiter', () => {
  test.each([
    ['commas', ','],
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['bars', '|'],
  ])('is found: %s', async (_, delimiter) => {
    const text = `id${delimiter}input\n1${delimiter}"a, b; c | d\te"\n2${delimiter}1,5\n`
    expect(await read(delimiter === ',' ? text.replace('1,5', 'x') : text)).toEqual([
      [2, { id: '"1"', input: '"a, b; c | d\\te"' }],
      [3, { id: '"2"', input: delimiter === ',' ? '"x"' : '"1,5"' }],
    ])
  })

  test('is not one that stands in the texts of another', async () => {
    const text = 'id;question, or so\n1;"one, two"\n2;"three, four, five"\n3;six\n'
    expect(await read(text)).toEqual([
      [2, { id: '"1"', 'question, or so': '"one, two"' }],
      [3, { id: '"2"', 'question, or so': '"three, four, five"' }],
      [4, { id: '"3"', 'question, or so': '"six"' }],
    ])
    expect(await read('"a;b","c;d"\n1,2\n')).toEqual([[2, { 'a;b': '"1"', 'c;d': '"2"' }]])
  })

  test('is what one says, and what spreadsheets say in a line before the names', async () => {
    expect(await read('a^b\n1^2\n', { delimiter: '^' })).toEqual([[2, { a: '"1"', b: '"2"' }]])
    expect(await read('sep=;\r\na;b\r\n1;2,3\r\n')).toEqual([[3, { a: '"1"', b: '"2,3"' }]])
  })

  test('is none where there is one column', async () => {
    expect(await read('input\nhello\n"a, b"\n')).toEqual([
      [2, { input: '"hello"' }],
      [3, { input: '"a, b"' }],
    ])
    expect(await read('input\nhello, you\n')).toEqual([[2, 'it has 2 cells for 1 columns']])
  })
})

describe('lines', () => {
  test.each([
    ['\n', 'line feeds'],
    ['\r\n', 'both'],
    ['\r', 'carriage returns'],
  ])('end with %j', async (end) => {
    const text = ['id,input', '1,"two', 'lines"', '', '2,x', ''].join(end)
    for (const chunk of [1, 2, 3, 1000]) {
      expect(await read(text, { chunk })).toEqual([
        [2, { id: '"1"', input: JSON.stringify(`two${end}lines`) }],
        [5, { id: '"2"', input: '"x"' }],
      ])
    }
  })

  test('need no end at last; those of nothing are passed over', async () => {
    expect(await read('a;b;c\n;;;\n\n1;;\n;;\r\n;2;;;')).toEqual([
      [4, { a: '"1"' }],
      [6, { b: '"2"' }],
    ])
    expect(await read('')).toEqual([])
    expect(await read('a,b\n')).toEqual([])
  })

  test('quotes within a cell that has none around it are its own', async () => {
    expect(await read('id,input\n1,say "hi" now\n2,5" pipe\n')).toEqual([
      [2, { id: '"1"', input: '"say \\"hi\\" now"' }],
      [3, { id: '"2"', input: '"5\\" pipe"' }],
    ])
  })

  test('with wrong quotes are named, and the rest is taken', async () => {
    const text = 'id,input\n1,"a" b\n2,fine\n3,"open\n4,next\n5,"quoted, too"\n6,last\n'
    expect(await read(text)).toEqual([
      [2, 'cell 2 goes on after the quote that closes it'],
      [3, { id: '"2"', input: '"fine"' }],
      [4, 'cell 2 goes on after the quote that closes it'],
      [5, { id: '"4"', input: '"next"' }],
      [6, { id: '"5"', input: '"quoted, too"' }],
      [7, { id: '"6"', input: '"last"' }],
    ])
  })

  test('after a quote that is never closed are taken', async () => {
    expect(await read('id,input\n1,"open\n2,fine\n3,too')).toEqual([
      [2, 'a quote opens in it that is never closed'],
      [3, { id: '"2"', input: '"fine"' }],
      [4, { id: '"3"', input: '"too"' }],
    ])
  })

  test('what is left of a wrong record is not taken for one', async () => {
    const text = 'id,input\n1,"He said "no"\nand left", x\n2,fine\n'
    expect(await read(text)).toEqual([
      [2, 'cell 2 goes on after the quote that closes it'],
      [3, 'it seems to be the rest of the record before it'],
      [4, { id: '"2"', input: '"fine"' }],
    ])
  })

  test('may be short, and may not be long', async () => {
    expect(await read('a,b\n1\n1,2,\n1,2,3\n')).toEqual([
      [2, { a: '"1"' }],
      [3, { a: '"1"', b: '"2"' }],
      [4, 'it has 3 cells for 2 columns'],
    ])
  })
})

describe('names', () => {
  test('that come twice are refused', async () => {
    await expect(read('id,input,id\n1,2,3\n')).rejects.toThrow(
      'the column "id" is there twice, in places 1 and 3 of the first line',
    )
  })

  test('may be anything, such as __proto__ or nothing', async () => {
    const [[, values]] = (await read('__proto__,,constructor\n1,2,3\n')) as [[number, object]]
    expect(Object.entries(values)).toEqual([
      ['__proto__', '"1"'],
      ['column 2', '"2"'],
      ['constructor', '"3"'],
    ])
  })
})

describe('encodings', () => {
  const text = 'id,input\n1,caf\u00e9 \u2013 \u20ac\n'
  const expected = [[2, { id: '"1"', input: '"caf\u00e9 \u2013 \u20ac"' }]]
  const utf16 = Buffer.from(text, 'utf16le')

  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, the high byte first', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', utf16],
  ])('are told: %s', async (_, bytes) => {
    for (const chunk of [1, 5, 1000]) expect(await read(bytes, { chunk })).toEqual(expected)
  })

  test('are what one says', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,input\n1,caf'),
      Buffer.from([0xe9, 0x20, 0x96, 0x20, 0x80, 0x0a]),
    ])
    expect(await read(bytes, { encoding: 'windows-1252' })).toEqual(expected)
    expect(await read(bytes, { encoding: 'latin1' })).toEqual(expected)
    const japanese = Buffer.from([0x61, 0x0a, 0x93, 0xfa, 0x96, 0x7b])
    expect(await read(japanese, { encoding: 'shift_jis', chunk: 3 })).toEqual([
      [2, { a: '"\u65e5\u672c"' }],
    ])
    expect(await read(utf16, { encoding: 'utf16' })).toEqual(expected)
    const marked = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    expect(await read(marked, { encoding: 'windows-1252' })).toEqual(expected)
    await expect(read('a\n1', { encoding: 'none' })).rejects.toThrow('"none" is no encoding')
  })

  test('that are not UTF-8 are told by line and byte', async () => {
    const bytes = Buffer.from('id,input\n1,caf\xe9\n2,tea\n', 'latin1')
    expect(await read(bytes)).toEqual([
      [
        2,
        expect.stringMatching(/^its "input": not UTF-8 text: byte 0xe9 at place 4; .*windows-1252/),
      ],
      [3, { id: '"2"', input: '"tea"' }],
    ])
    await expect(read(Buffer.from('na\xefve\n1\n', 'latin1'))).rejects.toThrow('not UTF-8')
  })
})

describe('cells', () => {
  const line = (cells: string, types?: string) =>
    read(`a,b,c\n${cells}\n`, { ...(types !== undefined && { types }) }).then(([row]) => row![1])

  test('are texts, or JSON that cannot be meant otherwise', async () => {
    expect(await line('007,12,true')).toEqual({ a: '"007"', b: '"12"', c: '"true"' })
    expect(await line('"{""n"":9007199254740993}",[1.10],"""x"""')).toEqual({
      a: '{"n":9007199254740993}',
      b: '[1.10]',
      c: '"x"',
    })
    expect(await line('{not json},[,"{"')).toEqual({ a: '"{not json}"', b: '"["', c: '"{"' })
  })

  test('that are empty are nothing, and empty texts in quotes', async () => {
    expect(await line(',"",x')).toEqual({ b: '""', c: '"x"' })
  })

  test('are numbers and truths where one wants them, but in quotes', async () => {
    expect(await line('12,-1.50e3,true', 'auto')).toEqual({ a: '12', b: '-1.50e3', c: 'true' })
    expect(await line('007,"12","true"', 'auto')).toEqual({ a: '"007"', b: '"12"', c: '"true"' })
    expect(await line('12345678901234567890.10,+1,NaN', 'auto')).toEqual({
      a: '12345678901234567890.10',
      b: '"+1"',
      c: '"NaN"',
    })
  })

  test('are told by their quotes in whole records, as this service exports them', async () => {
    const text = '_xact_id,id,input\n1000,7,12\n1001,8,"12"\n'
    expect(await read(text)).toEqual([
      [2, { _xact_id: '1000', id: '7', input: '12' }],
      [3, { _xact_id: '1001', id: '8', input: '"12"' }],
    ])
    expect((await read(text, { types: 'text' }))[0]).toEqual([
      2,
      { _xact_id: '"1000"', id: '"7"', input: '"12"' },
    ])
  })

  test('are what one says of their column', async () => {
    expect(await line('12,12,TRUE', 'auto,b=text,c=boolean')).toEqual({
      a: '12',
      b: '"12"',
      c: 'true',
    })
    expect(await line('[1],1,2', 'text,c=number')).toEqual({ a: '"[1]"', b: '"1"', c: '2' })
    expect(await line('x,1,2', 'a=number')).toBe('its "a": not a number: x')
    expect(await line('x,1,2', 'a=json')).toBe('its "a": not JSON: x')
    expect(() => readColumnTypes('a=zip')).toThrow('"a=zip" is no type; give one of usual, text')
  })
})

test('takes the apostrophes of escaped formulas away, where it is told that there are some', async () => {
  const text = "'=id,input\n'=1+2,''=3\n'-5,-5\n'tis,\"'@a,b\"\n"
  const values = async (hasEscapedFormulas: boolean) => {
    const records = await read(text, { hasEscapedFormulas, types: 'auto' })
    return records.map(([, values]) => values)
  }
  expect(await values(true)).toEqual([
    { '=id': '"=1+2"', input: '"\'=3"' },
    { '=id': '"-5"', input: '-5' },
    { '=id': '"\'tis"', input: '"@a,b"' },
  ])
  expect((await values(false))[0]).toEqual({ "'=id": '"\'=1+2"', input: '"\'\'=3"' })
})

test('reads what another reader reads, however it is cut', async () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', ',', ';', '"', '\n', '\r\n', ' ', 'é', '\t'),
  })
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (rows, chunk) => {
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
      const lines = [['x', 'y', 'z'], ...rows.map((row) => row.map(quoted))]
      const text = lines.map((line) => line.join(',')).join('\n')
      const expected = (parse(text) as string[][])
        .slice(1)
        .filter((row) => row.some((each) => each !== ''))
      const found = await read(text, { chunk, types: 'text' })
      const cells = found.map(([, values]) =>
        ['x', 'y', 'z'].map((name) => JSON.parse((values as Record<string, string>)[name] ?? '""')),
      )
      expect(cells).toEqual(expected)
    }),
  )
})
