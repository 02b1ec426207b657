/** The editor cuts queries into the tokens that the language has, and says what each of them is. */
import { readdirSync, readFileSync } from 'node:fs'
import { StringStream } from '@codemirror/language'
import { describe, expect, test } from 'vitest'
import { printTokens } from '../../src/parser/print-tokens.ts'
import { offsetOf } from '../../src/ui/editor/text-place.ts'
import { readToken, startState, type TokenRole } from '../../src/ui/editor/tokens.ts'
import { parseSlt } from '../support/slt.ts'

interface Cut {
  readonly start: number
  end: number
  readonly kind: string
  readonly role: TokenRole
}

/** As CodeMirror reads a text: line by line, each token at the place of its stream. */
function cut(text: string): Cut[] {
  const state = startState()
  const tokens: Cut[] = []
  let offset = 0
  for (const line of text.split('\n')) {
    const stream = new StringStream(line, 2, 2)
    while (!stream.eol()) {
      const start = offset + stream.pos
      const isOpen = state.quote !== ''
      const { kind, role, end } = readToken(line, stream.pos, state)
      expect(end).toBeGreaterThan(stream.pos)
      stream.pos = end
      const last = tokens.at(-1)
      if (isOpen && last) last.end = offset + end
      else if (kind !== 'blank' && kind !== 'comment') {
        tokens.push({ start, end: offset + end, kind, role })
      }
    }
    offset += line.length + 1
  }
  return tokens
}

function printed(text: string): string {
  return cut(text)
    .map(({ start, end, kind }) => `${start}..${end} ${kind}`)
    .join('\n')
}

/** What the lexer says, without the texts of tokens. */
function expected(text: string): string {
  return printTokens(text)
    .split('\n')
    .map((line) => line.split(' ').slice(0, 2).join(' '))
    .join('\n')
}

function* goldenQueries(folder: URL): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.name.endsWith('.slt')) continue
    const text = readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')
    for (const { kind, body } of parseSlt(text)) {
      if (kind === 'query' || kind === 'explain' || kind === 'error') yield body.join('\n')
    }
  }
}

describe('the tokens of the editor', () => {
  test('are those of the lexer in every golden query that has tokens', () => {
    let compared = 0
    for (const text of goldenQueries(new URL('../golden/', import.meta.url))) {
      let tokens: string
      try {
        tokens = expected(text)
      } catch {
        // No tokens: an error that its golden file shows.
        continue
      }
      expect(printed(text), text).toBe(tokens)
      compared++
    }
    expect(compared).toBeGreaterThan(700)
  })

  test.each([
    ["'a''b' 'c\\'d' \"e\" `f g`"],
    ["'over\nlines -- no comment\n' x"],
    ['metadata.2024 + 1.5e-3.x[0].5'],
    ['a.b..5 x.5 1.e (a).5'],
    ['größe = 名前 and $ref <!=> _x'],
    ['a -- comment \' with "quotes\nb'],
    ['x\u00a0= 50% | y !~* z ->> w :: int'],
  ])('are those of the lexer in %j', (text) => {
    expect(printed(text)).toBe(expected(text))
  })

  test('never stop, whatever is written', () => {
    for (const text of ['"open', "'open\\", '5abc', '“curly”', '#&!', '\u{1F600}', '`', 'a\\b']) {
      const tokens = cut(text)
      expect(tokens.at(-1)?.end, text).toBe(text.length)
    }
  })
})

describe('what the tokens are', () => {
  const roles = (text: string) =>
    cut(text).map(({ start, end, role }) => `${text.slice(start, end)} ${role}`)

  test('in clauses', () => {
    expect(
      roles("select: count(1) as n | filter: metadata.from is not null and tags = 'a'"),
    ).toEqual([
      ...['select clause', ': operator', 'count function', '( bracket', '1 number', ') bracket'],
      ...['as keyword', 'n field', '| operator', 'filter clause', ': operator', 'metadata field'],
      ...['. operator', 'from field', 'is keyword', 'not keyword', 'null constant'],
      ...['and keyword', 'tags field', '= operator', "'a' string"],
    ])
  })

  test('in SQL', () => {
    const found = roles('SELECT a FROM logs(\'x\') WHERE metadata."b c" > 1 ORDER BY a DESC')
    expect(found).toContain('SELECT clause')
    expect(found).toContain('FROM clause')
    expect(found).toContain('logs function')
    expect(found).toContain('"b c" name')
    expect(found).toContain('BY clause')
    expect(found).toContain('DESC keyword')
  })

  test('that are none', () => {
    expect(roles('a # 5abc')).toEqual(['a field', '# invalid', '5abc invalid'])
  })
})

test('places of the service are found again in the text', () => {
  const text = 'select: *\nfilter: "😀" = x'
  expect(offsetOf(text, 1, 1)).toBe(0)
  expect(offsetOf(text, 2, 1)).toBe(10)
  // Columns count characters, of which some take two places.
  expect(text.slice(offsetOf(text, 2, 15))).toBe('x')
  expect(offsetOf(text, 2, 99)).toBe(text.length)
  expect(offsetOf(text, 9, 1)).toBe(text.length)
})
