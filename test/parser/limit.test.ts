import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import type { Expression } from '../../src/parser/ast.ts'
import { renderError } from '../../src/parser/error-location.ts'
import { keywords } from '../../src/parser/keyword.ts'
import { parseExpression, parseQuery, parseSearch } from '../../src/parser/parse.ts'
import { printExpression } from '../../src/parser/print.ts'
import { printAst } from '../../src/parser/print-ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printTokens } from '../../src/parser/print-tokens.ts'

function messageOf(text: string): string {
  try {
    parseExpression(text)
  } catch (error) {
    if (error instanceof AssayError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no error'
}

const nested = 'PARSE_TOO_DEEP: the query is nested too deeply: at most 200 levels are taken'
const chained =
  'PARSE_TOO_DEEP: the expression is too deep: at most 500 operators may follow on each other'

describe('depth', () => {
  test.each([
    ['parentheses', `${'('.repeat(10_000)}a${')'.repeat(10_000)}`],
    ['nots', `${'not '.repeat(10_000)}a`],
    ['signs', `${'- '.repeat(10_000)}a`],
    ['words that negate', `${'neg '.repeat(10_000)}a`],
    ['arrays', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects', '{a:'.repeat(10_000)],
    ['calls', 'f('.repeat(10_000)],
    ['lists', 'a in ('.repeat(10_000)],
    ['ternaries in the middle', 'a ? '.repeat(10_000)],
    ['cases', 'case when '.repeat(10_000)],
    ['casts', 'cast('.repeat(10_000)],
  ])('10,000 nested %s are refused', (_, text) => {
    expect(messageOf(text)).toBe(nested)
  })

  test('200 levels are taken, and not one more', () => {
    expect(messageOf(`${'('.repeat(200)}a${')'.repeat(200)}`)).toBe('no error')
    expect(messageOf(`${'('.repeat(201)}a${')'.repeat(201)}`)).toBe(nested)
  })

  test('10,000 ands, ors and ternaries in a row are one flat node each', () => {
    const and = parseExpression(`${'a and '.repeat(10_000)}a`)
    const or = parseExpression(`${'a or '.repeat(10_000)}a`)
    const ternary = parseExpression(`${'a ? b : '.repeat(10_000)}c`)
    expect(and.kind === 'and' && and.operands.length).toBe(10_001)
    expect(or.kind === 'or' && or.operands.length).toBe(10_001)
    expect(ternary.kind === 'conditional' && ternary.branches.length).toBe(10_000)
    for (const expression of [and, or, ternary]) {
      expect(printExpression(parseExpression(printExpression(expression)))).toBe(
        printExpression(expression),
      )
    }
  })

  test('500 arithmetic operators in a row are taken, and not one more', () => {
    const longest = parseExpression(`${'a + '.repeat(500)}a`)
    expect(depthOf(longest)).toBe(501)
    expect(printExpression(longest)).toBe(`${'a + '.repeat(500)}a`)
    expect(printAst(longest).split('\n').length).toBe(1001)
    expect(messageOf(`${'a + '.repeat(501)}a`)).toBe(chained)
    expect(messageOf(`${'a * '.repeat(10_000)}a`)).toBe(chained)
    expect(messageOf(`(${'a + '.repeat(400)}a)${' - a'.repeat(200)}`)).toBe(chained)
  })

  test.each([
    [500, 'casts', '::text'],
    // The first step makes a longer path, each other one a step from a text.
    [250, 'steps to a text', "->>'b'"],
    [250, 'casts and steps', '::text.b'],
  ])('%i %s in a row are taken, and not one more', (most, _, step) => {
    expect(messageOf(`a${step.repeat(most)}`)).toBe('no error')
    expect(messageOf(`a${step.repeat(most + 1)}`)).toBe(chained)
  })

  test('10,000 nested queries are refused', () => {
    expect(() => parseQuery('from: (select: * | '.repeat(10_000))).toThrow(
      expect.objectContaining({ code: 'PARSE_TOO_DEEP' }),
    )
  })

  test('an operand that is compared often may not be a large tree', () => {
    const often = (operand: string): string =>
      `case ${operand} when 1 then 2 when 3 then 4 when 5 then 6 end`
    let text = 'x'
    for (let i = 0; i < 6; i++) text = often(text)
    expect(messageOf(text)).toBe('no error')
    for (let i = 0; i < 40; i++) text = often(text)
    expect(messageOf(text)).toBe('PARSE_TOO_DEEP: the expression means its parts too often')
  })

  test('the number of operators beside each other does not matter', () => {
    expect(messageOf(`${'a + 1 > 2 and '.repeat(10_000)}a`)).toBe('no error')
  })

  test('1,000 parts of a path are taken, and not one more', () => {
    expect(messageOf(`a${'.a'.repeat(999)}`)).toBe('no error')
    expect(messageOf(`a${'.a'.repeat(1000)}`)).toBe(
      'PARSE_TOO_DEEP: the path is too long: at most 1000 parts are taken',
    )
  })
})

describe('length', () => {
  test('1 MiB of text is taken, and not one byte more', () => {
    const full = `'${'x'.repeat(2 ** 20 - 2)}'`
    const message = 'PARSE_TOO_LONG: the query is too long: at most 1048576 bytes of text are taken'
    expect(messageOf(full)).toBe('no error')
    expect(messageOf(`${full} `)).toBe(message)
    expect(messageOf(`'${'é'.repeat(2 ** 19)}'`)).toBe(message)
  })

  test('10 MB of text are refused', () => {
    expect(messageOf('('.repeat(10_000_000))).toMatch(/^PARSE_TOO_LONG/)
  })

  test('an integer of up to 4,096 digits is exact', () => {
    expect(parseExpression('9'.repeat(4096))).toMatchObject({ value: 10n ** 4096n - 1n })
    expect(messageOf('9'.repeat(4097))).toBe(
      'PARSE_INVALID_LITERAL: an integer of 4097 digits is too long',
    )
  })
})

describe('a text full of faults', () => {
  test.each([
    ['unknown clauses', 'x: 1 | '],
    ['unexpected characters', '& '],
    ['loose quotes', "'\\'\n"],
    ['quotes of two kinds', '\' " '],
    ['clauses without a value', 'limit: | '],
    ['open brackets', 'filter: ( [ {\n'],
    ['numbers that are none', 'select: 1x\n'],
    ['nested queries', 'from: (\nselect: a b\n'],
  ])('1 MiB of %s is refused in linear time', (_, piece) => {
    const text = piece.repeat(Math.floor(2 ** 20 / piece.length))
    const start = performance.now()
    expect(() => parseQuery(`select: a b | ${text}`.slice(0, 2 ** 20))).toThrow(AssayError)
    // A loaded machine takes some 200 ms; what grows with the square takes minutes.
    expect(performance.now() - start).toBeLessThan(5_000)
  })
})

describe('any input', () => {
  const soup = fc
    .array(
      fc.oneof(
        fc.constantFrom(...keywords),
        fc.constantFrom(...'()[]{},.:?|*+-/%<>=!"\'`\\;&_$'),
        fc.constantFrom('<=>', '<!=>', '--', '\n', ' ', "'a'", '"b"', '`c`', '1', '2.5', '50%'),
        fc.constantFrom('a', 'a.b', 'f(', 'select:', '| from:', "dataset('d')", '\nfilter:', '😀'),
      ),
      { maxLength: 25 },
    )
    .chain((pieces) => fc.constantFrom(pieces.join(' '), pieces.join('')))

  const damaged = fc
    .tuple(
      fc.constantFrom(
        "select: *, a.b[0] as c | from: dataset('d') spans | filter: x in [1] | sort: c desc",
        "dimensions: day(created) as d\nmeasures: count(distinct a), avg(b ? 1 : 0)\nfrom: project('p')\nlimit: 5",
        'case when a like "x%" then interval 7 day else {k: [-1, 50%]} end is not null',
      ),
      fc.nat(100),
      fc.nat(5),
      fc.string({ maxLength: 2 }),
    )
    .map(([text, at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut))

  test.each([
    ['characters', fc.string({ unit: 'binary', maxLength: 40 })],
    ['tokens', soup],
    ['damaged queries', damaged],
  ])('random %s give a tree or an error with a place', (_, arbitrary) => {
    let accepted = 0
    fc.assert(
      fc.property(arbitrary, (text) => {
        for (const parse of [parseQuery, parseExpression, printTokens, canonical]) {
          try {
            const result = parse(text)
            if (parse !== canonical) continue
            accepted++
            expect(canonical(String(result))).toBe(result)
          } catch (error) {
            if (!(error instanceof AssayError)) throw error
            expect(error.family).toBe('user')
            const { start, end } = error.span!
            expect(0 <= start && start <= end && end <= text.length).toBe(true)
            expect(renderError(text, error)).toContain('^')
          }
        }
      }),
      { numRuns: 7_000 },
    )
    expect(accepted).toBeGreaterThan(0)
  })
})

function canonical(text: string): string {
  const search = parseSearch(text)
  return search.kind === 'query' ? printQuery(search.query) : printExpression(search.expression)
}

function depthOf(root: Expression): number {
  let depth = 1
  for (let node = root; node.kind === 'arithmetic'; node = node.left) depth++
  return depth
}
