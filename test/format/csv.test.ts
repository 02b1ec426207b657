/** Fields of CSV are written from JSON without decoding it: what a reader gets is the value. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvHead, writeCsvField } from '../../src/format/csv.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { unescapeFormula } from '../../src/type/formula-text.ts'
import { randomSeed as seed } from '../support/random-seed.ts'

function fieldOf(json: string, isMixed = false, escapesFormulas = false): string {
  const out = new ByteWriter(1)
  out.text('before')
  const bytes = Buffer.from(`[${json}]`)
  writeCsvField(bytes, 1, bytes.length - 1, out, { isMixed, escapesFormulas })
  expect(out.view(0, 6).toString()).toBe('before')
  return out.view(6).toString()
}

/** As RFC 4180 says. */
function read(field: string): string {
  if (!field.startsWith('"')) {
    expect(field).not.toMatch(/[",\r\n]|^[ \t\v\f]|[ \t\v\f]$/)
    expect(field).not.toBe('')
    return field
  }
  expect(field).toMatch(/^"(?:[^"]|"")*"$/)
  return field.slice(1, -1).replaceAll('""', '"')
}

/** JSON writes some characters in several ways. */
const written = fc.constantFrom(
  (text: string) => JSON.stringify(text),
  (text: string) => JSON.stringify(text).replaceAll('/', '\\/'),
  (text: string) => JSON.stringify(text).replaceAll('é', '\\u00e9').replaceAll(',', '\\u002c'),
)

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(
        'a',
        'é',
        '漢',
        '😀',
        '\ud83d',
        ',',
        '"',
        '\\',
        '/',
        ' ',
        '\n',
        '\r',
        '\t',
        '\b',
        '\f',
        '\u00a0',
      ),
    )
    .map((parts) => parts.join('')),
)

it('gives texts as they are', () => {
  fc.assert(
    fc.property(texts, written, (text, write) => {
      expect(read(fieldOf(write(text)))).toBe(Buffer.from(text).toString())
    }),
    { seed, numRuns: 2000 },
  )
})

it('gives objects and arrays as their JSON, and nothing for null', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(texts, fc.jsonValue())),
      (value) => {
        expect(read(fieldOf(JSON.stringify(value)))).toBe(JSON.stringify(value))
      },
    ),
    { seed },
  )
  for (const number of ['1', '-1.5e300', 'true']) expect(fieldOf(number)).toBe(number)
  expect(fieldOf('null')).toBe('')
  expect(fieldOf('""')).toBe('""')
})

it('tells texts from numbers and truths by quotes, where a column may have both', () => {
  for (const value of ['12', '-0.5', '1e5', 'true', 'false']) {
    expect(fieldOf(value, true)).toBe(value)
    expect(fieldOf(`"${value}"`, true)).toBe(`"${value}"`)
    expect(fieldOf(`"${value}"`)).toBe(value)
  }
  for (const text of ['007', '+1', 'truth', 'falsehood', '1 2', '-', 'null']) {
    expect(fieldOf(`"${text}"`, true)).toBe(text)
  }
})

it.each([
  ['"=1+2"', "'=1+2"],
  ['"\\u003d1"', "'=1"],
  ['"+1"', "'+1"],
  ['"-5"', "'-5"],
  ['"@SUM(A1)"', "'@SUM(A1)"],
  ['"\\t=1"', "'\t=1"],
  ['"\\r=1"', '"\'\r=1"'],
  ['"=\\"a\\",1"', '"\'=""a"",1"'],
  ['"\'=1"', "''=1"],
  ['"\'tis"', "'tis"],
  ['"a=1"', 'a=1'],
  ['""', '""'],
  ['-5', '-5'],
  ['-1e9', '-1e9'],
  ['["=1"]', '"[""=1""]"'],
  ['null', ''],
])('escapes the formula %s as %s', (json, field) => {
  expect(fieldOf(json, false, true)).toBe(field)
  expect(fieldOf(json, true, true)).toBe(field)
})

it('escapes names of columns', () => {
  expect(csvHead(['=a', 'b'], true).toString()).toBe("'=a,b\r\n")
})

it('gives back each text where formulas were escaped', () => {
  const texts = fc.stringMatching(/^[-'=+@\t\r\n a,"]*$/)
  fc.assert(
    fc.property(texts, (text) => {
      const field = read(fieldOf(JSON.stringify(text), false, true))
      expect(field).not.toMatch(/^[=+\-@\t\r\n]/)
      expect(unescapeFormula(field)).toBe(text)
    }),
    { seed },
  )
})
