import { describe, expect, test } from 'vitest'
import { clauseNames } from '../../src/parser/clause.ts'
import { parseQuery, parseSearch } from '../../src/parser/parse.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'
import { printAst } from '../../src/parser/print-ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'

function canonical(text: string): string {
  return printQuery(parseQuery(text))
}

function inCanonicalOrder(text: string): string {
  const clauses = text.split(' | ')
  const rankOf = (clause: string): number =>
    clauseNames.findIndex((name) => clause.startsWith(`${name}:`))
  return clauses.sort((a, b) => rankOf(a) - rankOf(b)).join('\n')
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
      from: {
        kind: 'table',
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
    expect(query.from).toMatchObject({
      ids: [{ value: "it's" }, { value: 'a"b\n' }, { value: 'ü|:' }],
    })
  })
})

describe('every clause', () => {
  test.each([
    ['select: distinct a, b', 'select: distinct a, b'],
    ['select: DISTINCT *', 'select: distinct *'],
    ['select: distinct, a', 'select: `distinct`, a'],
    ['select: distinct * 2', 'select: `distinct` * 2'],
    ['select: distinct (- -a)', 'select: distinct (- -a)'],
    [
      'select: * REPLACE (round(scores.F, 2) as scores, null as input,), a',
      'select: * replace (round(scores.F, 2) as scores, null as input), a',
    ],
    [
      'select: a, count(1) as n | dimensions: 1, b | sort: n',
      'select: a, count(1) as n\ndimensions: 1, b\nsort: n',
    ],
    ['measures: avg(a) as m, count(1) | dimensions: b | pivot: m', undefined],
    ['measures: avg(a) as m | pivot: m, count(1) as n for b.c', undefined],
    ['select: * | unpivot: scores as (name, value), tags as tag', undefined],
    ['select: * | unpivot: scores as (_, value)', 'select: *\nunpivot: scores as value'],
    ['infer: *', 'infer: *'],
    ['infer: metadata, scores.F | inference_budget: 100', undefined],
    ['select: * | sample: 25%', 'select: *\nsample: 25%'],
    ['select: * | sample: 2.5 percent seed 7', 'select: *\nsample: 2.5% seed 7'],
    ['select: * | sample: 100 rows', 'select: *\nsample: 100'],
    ['select: * | comparison_key: [input.query, metadata.category]', undefined],
    ['select: * | weighted_scores: (a + b) / 2 as ab | custom_columns: a.b as c', undefined],
    ['select: * | preview_length: -1', 'select: *\npreview_length: -1'],
    ['select: * | preview_length: 0', 'select: *\npreview_length: 0'],
    ['select: * | span_filter: a | trace_filter: b | final_filter: c > 1', undefined],
    ['measures: count(1) as n | final_dimensions: n | final_measures: count(1)', undefined],
    ['select: * | offset: "abc"', "select: *\ncursor: 'abc'"],
    ['select: * | cursor: null | limit: 1', 'select: *\nlimit: 1'],
  ])('%s', (text, expected) => {
    const printed = canonical(text)
    expect(printed).toBe(expected ?? inCanonicalOrder(text))
    expect(canonical(printed)).toBe(printed)
  })
})

describe('a source', () => {
  test.each([
    ["experiment('a', shape => 'traces')", "experiment('a') traces"],
    ["experiment('a', 'b', SHAPE => Summary,)", "experiment('a', 'b') summary"],
    [
      "(select: a, count(1) as n | dimensions: 1 | from: dataset('d') | filter: b)",
      "(select: a, count(1) as n | dimensions: 1 | from: dataset('d') | filter: b)",
    ],
    [
      `(
        | select: a,
        from: (
          select: *
          filter: b and
            c
          from: dataset('d') spans
        )
        limit: 5 -- the newest
      )`,
      "(select: a | from: (select: * | from: dataset('d') spans | filter: b and c) | limit: 5)",
    ],
  ])('%s', (text, expected) => {
    expect(canonical(`select: *\nfrom: ${text}\nlimit: 1`)).toBe(
      `select: *\nfrom: ${expected}\nlimit: 1`,
    )
  })
})

describe('a request', () => {
  const rows = "select: *\nfrom: dataset('d')"

  test.each([
    ["select: * | from: dataset('d')", undefined, rows],
    ['a = 1', "dataset('d')", `${rows}\nfilter: a = 1`],
    ['select: *', "dataset('d')", rows],
    ['measures: count(1)', "dataset('d') traces", "measures: count(1)\nfrom: dataset('d') traces"],
    [
      'a',
      "(select: * | from: dataset('d'))",
      "select: *\nfrom: (select: * | from: dataset('d'))\nfilter: a",
    ],
  ])('%j from %j', (text, from, expected) => {
    expect(printQuery(parseRequest(text, from))).toBe(expected)
  })

  test.each([
    ['select: *', undefined, 'PARSE_MISSING_CLAUSE: the query has no clause "from"'],
    [
      "select: * | from: dataset('d')",
      "dataset('d')",
      'REQUEST_INVALID: the query has a from clause of its own',
    ],
    ['a', "dataset('d') | limit: 1", 'REQUEST_INVALID: from: expected a source only, found "|"'],
    ['a', '(select: *)', 'REQUEST_INVALID: from: the query has no clause "from"'],
    ['a', 'dataset(d)', 'REQUEST_INVALID: from: expected an id in quotes, found "d"'],
  ])('%j from %j is refused', (text, from, expected) => {
    expect(() => parseRequest(text, from)).toThrow(
      expect.objectContaining({
        code: expected.slice(0, expected.indexOf(':')),
        message: expected.slice(expected.indexOf(':') + 2),
      }),
    )
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

test('the tree of a query shows every clause', () => {
  const text = `select: distinct * replace (a as b), count(*) filter (where c) as n
    dimensions: f(d)[0].e
    pivot: n for g
    from: (infer: * | from: dataset('d') | inference_budget: 5)
    unpivot: h as (i, j), k as l
    sample: 25% seed 7
    final_filter: m
    preview_length: -1`
  expect(printAst(parseQuery(text))).toBe(
    `query
  select distinct
    star replace
      as "b"
        path a
    as "n"
      call count
        star
        filter
          path c
  dimensions
    access [0].e
      call f
        path d
  pivot
    path n
    for
      path g
  from
    query
      infer
        star
      from dataset('d')
      inference_budget 5
  unpivot as i, j
    path h
  unpivot as l
    path k
  sample 25% seed 7
  final_filter
    path m
  preview_length -1`,
  )
})
