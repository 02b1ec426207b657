import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { locate, renderError } from '../../src/parser/error-location.ts'
import { parseExpression, parseSearch } from '../../src/parser/parse.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'

function failureOf(parse: (text: string) => unknown, text: string): string {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof AssayError) return renderError(text, error)
    throw error
  }
  return 'no error'
}

/** Records of a text, a line of four dashes and the error, with an empty line between two records. */
function recordsOf(name: string): (readonly [text: string, expected: string])[] {
  const file = new URL(`./errors/${name}.txt`, import.meta.url)
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n\n')
    .map((record) => {
      const [text = '', expected = ''] = record.split('\n----\n')
      return [text, expected]
    })
}

const parseQuery = (text: string): unknown => parseRequest(text, undefined)

describe('an expression', () => {
  test.each(recordsOf('expression'))('%s', (text, expected) => {
    expect(failureOf(parseExpression, text)).toBe(expected)
    expect(failureOf(parseSearch, text)).not.toBe('no error')
  })

  test.each(['', '  ', '-- only a comment'])('%j is none', (text) => {
    expect(failureOf(parseExpression, text)).toBe(
      [
        'PARSE_UNEXPECTED_TOKEN: expected a value, found the end of the text',
        `  at line 1, column ${text.length + 1}`,
        `  1 | ${text}`.trimEnd(),
        `    | ${' '.repeat(text.length)}^`,
      ].join('\n'),
    )
  })
})

describe('a query', () => {
  test.each([
    ...recordsOf('query'),
    ...recordsOf('clause'),
    ...recordsOf('source'),
    ...recordsOf('together'),
    ...recordsOf('several'),
  ])('%s', (text, expected) => {
    expect(failureOf(parseQuery, text)).toBe(expected)
  })

  test('at most eleven faults are reported', () => {
    const text = Array.from({ length: 20 }, (_, i) => `limit${i}: 1`).join(' | ')
    expect(failureOf(parseQuery, text).match(/^PARSE_UNKNOWN_CLAUSE/gm)).toHaveLength(11)
  })

  test('without any clause', () => {
    expect(failureOf(parseQuery, '')).toBe(
      `PARSE_MISSING_CLAUSE: the query has none of the clauses "select", "dimensions", "measures" and "infer"
  at line 1, column 1
  1 |
    | ^
  hint: add "select: *" to get whole records`,
    )
  })
})

describe('the place of an error', () => {
  test('lines end with a line feed, a carriage return or both', () => {
    const text = 'a\nb\r\nc\rd'
    expect([0, 1, 2, 3, 5, 6, 7, 8, 99].map((offset) => locate(text, offset))).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 2 },
      { line: 3, column: 1 },
      { line: 3, column: 2 },
      { line: 4, column: 1 },
      { line: 4, column: 2 },
      { line: 4, column: 2 },
    ])
  })

  test('columns count characters, not code units', () => {
    expect(locate('"😀😀" x', 7)).toEqual({ line: 1, column: 6 })
    expect(failureOf(parseExpression, '"😀" 1')).toBe(
      `PARSE_UNEXPECTED_TOKEN: expected an operator or the end of the text, found the number 1
  at line 1, column 5
  1 | "😀" 1
    |     ^`,
    )
  })

  test('a tab is shown as a space, so that the carets fit', () => {
    expect(failureOf(parseExpression, 'a\n\t=\t= 1')).toBe(
      `PARSE_UNEXPECTED_TOKEN: expected a value, found "="
  at line 2, column 4
  2 |  = = 1
    |    ^`,
    )
  })

  test('a fault over several lines is marked on its first', () => {
    expect(failureOf(parseExpression, "a = 1 'x\n\ny'")).toBe(
      `PARSE_UNEXPECTED_TOKEN: expected an operator or the end of the text, found the string "x\\n\\ny"
  at line 1, column 7
  1 | a = 1 'x
    |       ^^`,
    )
  })

  test('a long line is cut around the fault', () => {
    const before = `${'a = 1 and '.repeat(30)}'0123456789' = `
    expect(failureOf(parseExpression, `${before}or ${'b or '.repeat(30)}c`)).toBe(
      `PARSE_UNEXPECTED_TOKEN: expected a value, found "or"
  at line 1, column 316
  1 | …= 1 and a = 1 and '0123456789' = or b or b or b or b or b or b or b or b or b or b or b or b or b or…
    |                                   ^^
  hint: for a field of this name write \`or\``,
    )
    expect(failureOf(parseExpression, `${'a'.repeat(300)} ${'b'.repeat(300)}`)).toBe(
      `PARSE_UNEXPECTED_TOKEN: expected an operator or the end of the text, found "${'b'.repeat(40)}…"
  at line 1, column 302
  1 | …${'a'.repeat(32)} ${'b'.repeat(67)}…
    |  ${' '.repeat(33)}${'^'.repeat(67)}`,
    )
  })

  test('an error without a place has its message and hint alone', () => {
    const error = new AssayError('REQUEST_INVALID', 'no query', { hint: 'add one' })
    expect(renderError('', error)).toBe('REQUEST_INVALID: no query\n  hint: add one')
  })
})
