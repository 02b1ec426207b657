import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { printTokens } from '../../src/parser/print-tokens.ts'

function tokensOf(text: string): string {
  return printTokens(text).replaceAll('\n', ', ')
}

function failureOf(text: string): unknown {
  try {
    printTokens(text)
  } catch (error) {
    if (error instanceof AssayError) return error.toWire()
    throw error
  }
  return 'no error'
}

describe('tokens', () => {
  test.each([
    ['', ''],
    [' \t\r\n ', ''],
    ['a B_1 _x $y', '0..1 word a, 2..5 word B_1, 6..8 word _x, 9..11 word $y'],
    ['größe 名前 имя', '0..5 word größe, 6..8 word 名前, 9..12 word имя'],
    ['𝒳1 a', '0..3 word 𝒳1, 4..5 word a'],
    [
      '1 23 4.5 .5 1e3 1.5E-2 2e+1',
      [
        '0..1 number 1, 2..4 number 23, 5..8 number 4.5, 9..11 number .5, 12..15 number 1e3',
        '16..22 number 1.5E-2, 23..27 number 2e+1',
      ].join(', '),
    ],
    ['a.5', '0..1 word a, 1..2 symbol ., 2..3 word 5'],
    ['a.2024_q1', '0..1 word a, 1..2 symbol ., 2..9 word 2024_q1'],
    [
      'a[0].5',
      '0..1 word a, 1..2 symbol [, 2..3 number 0, 3..4 symbol ], 4..5 symbol ., 5..6 word 5',
    ],
    ['a .5', '0..1 word a, 2..4 number .5'],
    ['(.5)', '0..1 symbol (, 1..3 number .5, 3..4 symbol )'],
    [
      '= == != <> < <= > >= <=> <!=>',
      [
        '0..1 symbol =, 2..4 symbol ==, 5..7 symbol !=, 8..10 symbol <>, 11..12 symbol <',
        '13..15 symbol <=, 16..17 symbol >, 18..20 symbol >=, 21..24 symbol <=>, 25..29 symbol <!=>',
      ].join(', '),
    ],
    ['a--b\nc -- d\r-- e', '0..1 word a, 5..6 word c'],
    ['a\u00a0b\ufeffc\u3000d', '0..1 word a, 2..3 word b, 4..5 word c, 6..7 word d'],
  ])('%j', (text, expected) => {
    expect(tokensOf(text)).toBe(expected)
  })
})

describe('quoted tokens', () => {
  test.each([
    [`'it''s'`, `0..7 string "it's"`],
    [`"say ""hi"""`, '0..12 quoted "say \\"hi\\""'],
    ['`a``b`', '0..6 name "a`b"'],
    [`''`, '0..2 string ""'],
    [`''''`, `0..4 string "'"`],
    [`'"'`, '0..3 string "\\""'],
    [String.raw`'\'\"\\\/\n\t\r\b\f'`, String.raw`0..20 string "'\"\\/\n\t\r\b\f"`],
    [String.raw`"\u00e9\u4e2D\ud83d\ude00"`, '0..26 quoted "é中😀"'],
    [String.raw`'50\% of a\_b'`, String.raw`0..14 string "50\\% of a\\_b"`],
    [`'a\nb'`, '0..5 string "a\\nb"'],
    [`'-- no comment'`, '0..15 string "-- no comment"'],
    [`'a' 'b'`, '0..3 string "a", 4..7 string "b"'],
  ])('%s', (text, expected) => {
    expect(tokensOf(text)).toBe(expected)
  })
})

describe('errors', () => {
  test.each([
    [
      `a = 'b`,
      {
        code: 'PARSE_UNTERMINATED_STRING',
        message: "this quote is never closed: expected ' before the end of the text",
        span: { start: 4, end: 5 },
        hint: "write '' for a quote inside a string",
      },
    ],
    [
      '"a\\"',
      {
        code: 'PARSE_UNTERMINATED_STRING',
        message: 'this quote is never closed: expected " before the end of the text',
        span: { start: 0, end: 1 },
        hint: 'write "" for a quote inside a string',
      },
    ],
    [
      String.raw`'C:\data'`,
      {
        code: 'PARSE_INVALID_LITERAL',
        message: String.raw`unknown escape "\d" in a string`,
        span: { start: 3, end: 5 },
        hint: String.raw`write "\\" for a backslash`,
      },
    ],
    [
      "'a\\",
      {
        code: 'PARSE_INVALID_LITERAL',
        message: String.raw`unknown escape "\" in a string`,
        span: { start: 2, end: 3 },
        hint: String.raw`write "\\" for a backslash`,
      },
    ],
    [
      String.raw`'\u12g4'`,
      {
        code: 'PARSE_INVALID_LITERAL',
        message: String.raw`"\u" takes four hexadecimal digits`,
        span: { start: 1, end: 7 },
      },
    ],
    [
      'a = 12abc',
      {
        code: 'PARSE_INVALID_LITERAL',
        message: '"12abc" is not a number',
        span: { start: 4, end: 9 },
        hint: 'put quotes around a string, and around a name that begins with a digit',
      },
    ],
    [
      'a && b',
      {
        code: 'PARSE_UNEXPECTED_CHARACTER',
        message: 'unexpected character "&"',
        span: { start: 2, end: 3 },
        hint: 'write "and" to join conditions',
      },
    ],
    [
      '😀',
      {
        code: 'PARSE_UNEXPECTED_CHARACTER',
        message: 'unexpected character "😀"',
        span: { start: 0, end: 2 },
      },
    ],
    [
      'a\u0000',
      {
        code: 'PARSE_UNEXPECTED_CHARACTER',
        message: 'unexpected character U+0000',
        span: { start: 1, end: 2 },
      },
    ],
    [
      'a\ud800',
      {
        code: 'PARSE_UNEXPECTED_CHARACTER',
        message: 'unexpected character U+D800',
        span: { start: 1, end: 2 },
      },
    ],
  ])('%j', (text, expected) => {
    expect(failureOf(text)).toEqual(expected)
  })
})
