import { describe, expect, test } from 'vitest'
import { parseQuery, parseSearch } from '../../src/parser/parse.ts'
import { printAst } from '../../src/parser/print-ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'

function canonical(text: string): string {
  return printQuery(parseQuery(text))
}

describe('clauses', () => {
  test('all of them, with their spans', () => {
    const text = "select: a as b | from: dataset('x') spans | sort: b desc | limit: 5 | offset: 2"
    expect(parseQuery(`${text} | cursor: "c" | filter: true`)).toEqual({
      kind: 'query',
      select: [
        {
          expression: { kind: 'path', parts: ['a'], span: { start: 8, end: 9 } },
          alias: 'b',
          span: { start: 8, end: 14 },
        },
      ],
      dimensions: undefined,
      measures: undefined,
      from: {
        table: 'dataset',
        tableSpan: { start: 23, end: 30 },
        ids: [{ value: 'x', span: { start: 31, end: 34 } }],
        shape: 'spans',
        shapeSpan: { start: 36, end: 41 },
        span: { start: 23, end: 41 },
      },
      filter: { kind: 'literal', value: true, span: { start: 104, end: 108 } },
      sort: [
        {
          expression: { kind: 'path', parts: ['b'], span: { start: 50, end: 51 } },
          direction: 'desc',
          span: { start: 50, end: 56 },
        },
      ],
      limit: { value: 5, span: { start: 66, end: 67 } },
      offset: { value: 2, span: { start: 78, end: 79 } },
      cursor: { value: 'c', span: { start: 90, end: 93 } },
      span: { start: 0, end: 108 },
    })
  })

  const expected = [
    'select: metadata.model, scores.Factuality as score',
    "from: experiment('a', 'b')",
    'filter: score > 0.5 and is_root',
    'sort: score desc, created',
    'limit: 10',
  ].join('\n')

  test.each([
    [
      'a line each',
      `select: metadata.model, scores.Factuality as score
       from: experiment('a', 'b')
       filter: score > 0.5 and is_root
       sort: score desc, created asc
       limit: 10`,
    ],
    [
      'on one line with pipes, without spaces after colons',
      `select:metadata.model,scores.Factuality as score|from:experiment('a',"b",)|filter:score>50% and is_root|sort:score desc,created|limit:10`,
    ],
    [
      'any order, leading pipes, values on the next lines, comments, capitals, trailing commas',
      `-- the newest
       LIMIT: 10
       | From:
           Experiment(
             'a', -- first
             'b',
           )
       | filter:
           -- good ones
           score > 0.5 AND
           is_root

       | select:
           metadata.model,
           scores.Factuality AS "score",
       | sort:
           score DESC,
           created ASC,
      `,
    ],
    ['carriage returns', expected.replaceAll('\n', '\r\n')],
    ['a leading and a trailing pipe', `| ${expected.replaceAll('\n', ' | ')} |`],
  ])('%s', (_, text) => {
    expect(canonical(text)).toBe(expected)
  })

  test('groups', () => {
    const text = `from: project_logs('p') SUMMARY
      dimensions: day(created) as date, metadata.model
      measures: count(1) as total, count(error) / count(*) as 'error rate', avg(scores.x)
      sort: total desc`
    expect(canonical(text)).toBe(
      [
        'dimensions: day(created) as date, metadata.model',
        'measures: count(1) as total, count(error) / count(*) as "error rate", avg(scores.x)',
        "from: project_logs('p') summary",
        'sort: total desc',
      ].join('\n'),
    )
  })

  test('dimensions alone and measures alone', () => {
    expect(canonical("dimensions: a | from: dataset('d')")).toBe(
      "dimensions: a\nfrom: dataset('d')",
    )
    expect(canonical("measures: sum(a) | from: dataset('d')")).toBe(
      "measures: sum(a)\nfrom: dataset('d')",
    )
  })

  test('a shape on the line after its source', () => {
    expect(canonical("select: *\nfrom: project_logs('p')\nspans\nlimit: 1")).toBe(
      "select: *\nfrom: project_logs('p') spans\nlimit: 1",
    )
  })

  test('a star beside other columns', () => {
    expect(canonical("select: *, a + 1 as b | from: dataset('d')")).toBe(
      "select: *, a + 1 as b\nfrom: dataset('d')",
    )
  })

  test('colons of ternaries and objects are not clauses', () => {
    const text = `select:
        (a > 0.9 ? "high" :
         a > 0.5 ? "fair" : "low") as rating,
        b ?
          limit
          : sort
      from: dataset('d')
      filter: metadata includes {
        limit: 10,
        from: 'x'
      }`
    expect(canonical(text)).toBe(
      [
        "select: a > 0.9 ? 'high' : a > 0.5 ? 'fair' : 'low' as rating, b ? `limit` : `sort`",
        "from: dataset('d')",
        `filter: metadata includes {limit: 10, from: 'x'}`,
      ].join('\n'),
    )
  })

  test('a percentage before the next clause is no modulo', () => {
    expect(canonical("select: *\nfrom: dataset('d')\nfilter: a > 50%\nsort: b")).toBe(
      "select: *\nfrom: dataset('d')\nfilter: a > 0.5\nsort: b",
    )
  })

  test('names of clauses and directions are names of columns as well', () => {
    expect(
      canonical("select: limit, a as from, b as desc | from: dataset('d') | sort: desc desc"),
    ).toBe("select: `limit`, a as from, b as desc\nfrom: dataset('d')\nsort: `desc` desc")
  })

  test('ids of any characters', () => {
    const query = parseQuery(String.raw`select: * | from: experiment('it''s', "a""b\n", 'ü|:')`)
    expect(query.from.ids.map(({ value }) => value)).toEqual(["it's", 'a"b\n', 'ü|:'])
  })
})

describe('a search text', () => {
  test.each([
    ['a = 1', 'expression'],
    ['limit ? 1 : 2', 'expression'],
    ['-- note\n a', 'expression'],
    ["select: * | from: dataset('d')", 'query'],
    ["| from: dataset('d') | select: *", 'query'],
    ["-- note\n\n FROM : dataset('d')\nselect: *", 'query'],
  ])('%j is a text of kind %s', (text, kind) => {
    expect(parseSearch(text).kind).toBe(kind)
  })
})

test('the tree of a query prints one node a line', () => {
  const text = `select: *, a ? {k: [1]} : f(distinct b) as c
    from: experiment('x') traces
    filter: d not in (1) and e.f is not null
    sort: c desc, g
    limit: 1
    offset: 2
    cursor: 'z'`
  expect(printAst(parseQuery(text))).toBe(
    `query
  select
    star
    as "c"
      conditional
        when
          path a
        then
          object
            key "k"
              array
                literal 1
        else
          call f distinct
            path b
  from experiment('x') traces
  filter
    and
      not in
        path d
        array
          literal 1
      not is_null
        path e.f
  sort
    desc
      path c
    asc
      path g
  limit 1
  offset 2
  cursor 'z'`,
  )
  expect(printAst(parseQuery("dimensions: a | measures: b | from: dataset('d')"))).toBe(
    "query\n  dimensions\n    path a\n  measures\n    path b\n  from dataset('d')",
  )
})
