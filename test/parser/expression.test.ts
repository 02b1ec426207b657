import { describe, expect, test } from 'vitest'
import { parseExpression } from '../../src/parser/parse.ts'
import { tree } from './tree.ts'

function expectTrees(cases: readonly (readonly [text: string, expected: string])[]): void {
  test.each(cases)('%s', (text, expected) => {
    expect(tree(parseExpression(text))).toBe(expected)
  })
}

describe('literals', () => {
  expectTrees([
    ['true', 'literal true'],
    ['FALSE', 'literal false'],
    ['Null', 'literal null'],
    ['0', 'literal 0'],
    ['007', 'literal 7'],
    ['.25', 'literal 0.25'],
    ['1.50', 'literal 1.5'],
    ['2e3', 'literal 2000'],
    ['1E-7', 'literal 1e-7'],
    ['-3', 'literal -3'],
    ['- 3', 'literal -3'],
    ['+3', 'literal 3'],
    ['-0', 'literal -0'],
    ['-(3)', 'negate[literal 3]'],
    ['9007199254740992', 'literal 9007199254740992'],
    ['9007199254740993', 'literal 9007199254740993'],
    ['-12345678901234567890', 'literal -12345678901234567890'],
    ['1e20', 'literal 1e+20'],
    ["'a'", "literal 'a'"],
    ['"a"', "literal 'a'"],
    [`"it's"`, "literal 'it''s'"],
    ['[]', 'array'],
    ["[1, 'b', [null],]", "array[literal 1, literal 'b', array[literal null]]"],
    ['{}', 'object'],
    [
      `{a: 1, 'b c': 2, "d": {limit: x},}`,
      'object[key "a"[literal 1], key "b c"[literal 2], key "d"[object[key "limit"[path x]]]]',
    ],
    ['{__proto__: 1}', 'object[key "__proto__"[literal 1]]'],
    ['interval 7 day', 'interval 7 day'],
    ['INTERVAL 3600 Seconds', 'interval 3600 second'],
    ['interval -2 weeks', 'interval -2 week'],
    ['interval 1 year', 'interval 1 year'],
    ['interval 1 month', 'interval 1 month'],
    ['interval 1 hour', 'interval 1 hour'],
    ['interval 1 minute', 'interval 1 minute'],
    ['interval 1 millisecond', 'interval 1 millisecond'],
    ['interval 1 microsecond', 'interval 1 microsecond'],
    ['interval 3', 'interval 3 day'],
    [
      'a > now() - interval 3 and b',
      'and[comparison gt[path a, arithmetic sub[call now, interval 3 day]], path b]',
    ],
    ["interval '7 days'", 'interval 7 day'],
    ['interval "-1 week"', 'interval -1 week'],
    ["interval '7' hour", 'interval 7 hour'],
    ["interval '7'", 'interval 7 day'],
    [
      "interval ' 1 DAY  2 hours 3 minutes'",
      'arithmetic add[arithmetic add[interval 1 day, interval 2 hour], interval 3 minute]',
    ],
  ])

  test('exact integers', () => {
    expect(parseExpression('9007199254740992')).toMatchObject({ value: 9007199254740992 })
    expect(parseExpression('9007199254740993')).toMatchObject({ value: 9007199254740993n })
    expect(parseExpression('-9007199254740993')).toMatchObject({ value: -9007199254740993n })
    expect(parseExpression('0000000000000000000001')).toMatchObject({ value: 1 })
  })
})

describe('percentages', () => {
  expectTrees([
    ['50%', 'literal 0.5'],
    ['12.5%', 'literal 0.125'],
    ['14.5%', 'literal 0.145'],
    ['1e1%', 'literal 0.1'],
    ['-5%', 'literal -0.05'],
    ['x > 50% and y', 'and[comparison gt[path x, literal 0.5], path y]'],
    ['50% is null', 'is_null[literal 0.5]'],
    ['[50%, 1%]', 'array[literal 0.5, literal 0.01]'],
    ['50% - 3', 'arithmetic sub[literal 0.5, literal 3]'],
    ['50% 3', 'arithmetic mod[literal 50, literal 3]'],
    ['50%3', 'arithmetic mod[literal 50, literal 3]'],
    ['50%-3', 'arithmetic mod[literal 50, literal -3]'],
    ['50%x', 'arithmetic mod[literal 50, path x]'],
    ['50%(x)', 'arithmetic mod[literal 50, path x]'],
    ['50 % 3', 'arithmetic mod[literal 50, literal 3]'],
    ['c ? 50% : 1', 'conditional[when[path c], then[literal 0.5], else[literal 1]]'],
  ])
})

describe('paths', () => {
  expectTrees([
    ['metadata', 'path metadata'],
    ['metadata.model', 'path metadata.model'],
    ['metadata."field name"', 'path metadata."field name"'],
    ['metadata."a""b"', 'path metadata."a""b"'],
    ['"a"."b".c', 'path a.b.c'],
    ['"field name".x', 'path "field name".x'],
    ['`field name`', 'path `field name`'],
    ['`and`', 'path `and`'],
    ["scores['Decision quality']", 'path scores."Decision quality"'],
    ['scores["x"]', 'path scores.x'],
    ['tags[0]', 'path tags[0]'],
    ['tags[-1].name', 'path tags[-1].name'],
    ['tags[-0]', 'path tags[0]'],
    ['classifications.Task[0].metadata.distance', 'path classifications.Task[0].metadata.distance'],
    ['metadata.select.and.null', 'path metadata.select.and.null'],
    ['metadata.2024', 'path metadata."2024"'],
    ['metrics.end', 'path metrics.end'],
    ['from', 'path `from`'],
    ['limit > sort', 'comparison gt[path `limit`, path `sort`]'],
    ['case', 'path `case`'],
    ['interval - 7', 'arithmetic sub[path `interval`, literal 7]'],
    ['neg - 1', 'arithmetic sub[path `neg`, literal 1]'],
    ['match', 'path `match`'],
    ['includes = 1', 'comparison eq[path `includes`, literal 1]'],
    ['select = 1', 'comparison eq[path `select`, literal 1]'],
    ['_xact_id', 'path _xact_id'],
    ['metadata.Größe', 'path metadata.Größe'],
  ])
})

describe('steps into values', () => {
  expectTrees([
    ["json_extract(input, 'a')[0].b", "access [0].b[call json_extract[path input, literal 'a']]"],
    ['f(x).2024', 'access ."2024"[call f[path x]]'],
    ['(a + b).c', 'access .c[arithmetic add[path a, path b]]'],
    ['(a.b).c[0]', 'path a.b.c[0]'],
    ['((f(x).a).b)', 'access .a.b[call f[path x]]'],
    ['[1, 2][-1]', 'access [-1][array[literal 1, literal 2]]'],
    ['{a: 1}.a', 'access .a[object[key "a"[literal 1]]]'],
    [
      'case when a then b end.c',
      'access .c[conditional[when[path a], then[path b], else[literal null]]]',
    ],
    ['-f(x).a', 'negate[access .a[call f[path x]]]'],
    ["metadata->'a'->0", 'path metadata.a[0]'],
    ['metadata->-1', 'path metadata[-1]'],
    ['"metadata"->"a"', 'path metadata.a'],
    ["metadata->>'turn_id'", 'call to_string[path metadata.turn_id]'],
    ["a->>'b'->'c'", 'access .c[call to_string[path a.b]]'],
    [`'{"a":1}'->'a'`, `access .a[literal '{"a":1}']`],
    ["(metrics->>'cost')::float", 'call to_number[call to_string[path metrics.cost]]'],
    [
      "metrics->>'cost'::float > 1",
      'comparison gt[call to_number[call to_string[path metrics.cost]], literal 1]',
    ],
    [
      'a::int + b::double precision',
      'arithmetic add[call to_integer[path a], call to_number[path b]]',
    ],
    ["'2024-01-01'::date", "call to_date[literal '2024-01-01']"],
    ['"2024-01-01"::date', "call to_date[literal '2024-01-01']"],
    ['-5::text', 'negate[call to_string[literal 5]]'],
    ['a ? b::int : c', 'conditional[when[path a], then[call to_integer[path b]], else[path c]]'],
  ])
})

describe('operators', () => {
  expectTrees([
    ['a = 1', 'comparison eq[path a, literal 1]'],
    ['a == 1', 'comparison eq[path a, literal 1]'],
    ['a EQ 1', 'comparison eq[path a, literal 1]'],
    ['a != 1', 'comparison ne[path a, literal 1]'],
    ['a <> 1', 'comparison ne[path a, literal 1]'],
    ['a ne 1', 'comparison ne[path a, literal 1]'],
    ['a < 1', 'comparison lt[path a, literal 1]'],
    ['a lt 1', 'comparison lt[path a, literal 1]'],
    ['a <= 1', 'comparison le[path a, literal 1]'],
    ['a le 1', 'comparison le[path a, literal 1]'],
    ['a > 1', 'comparison gt[path a, literal 1]'],
    ['a gt 1', 'comparison gt[path a, literal 1]'],
    ['a >= 1', 'comparison ge[path a, literal 1]'],
    ['a ge 1', 'comparison ge[path a, literal 1]'],
    ['a <=> 1', 'comparison is_same[path a, literal 1]'],
    ['a <!=> 1', 'comparison is_different[path a, literal 1]'],
    ['a<-1', 'comparison lt[path a, literal -1]'],
    ['a + b', 'arithmetic add[path a, path b]'],
    ['a add b', 'arithmetic add[path a, path b]'],
    ['a - b', 'arithmetic sub[path a, path b]'],
    ['a sub b', 'arithmetic sub[path a, path b]'],
    ['a * b', 'arithmetic mul[path a, path b]'],
    ['a mul b', 'arithmetic mul[path a, path b]'],
    ['a / b', 'arithmetic div[path a, path b]'],
    ['a div b', 'arithmetic div[path a, path b]'],
    ['a % b', 'arithmetic mod[path a, path b]'],
    ['a mod b', 'arithmetic mod[path a, path b]'],
    ['-a', 'negate[path a]'],
    ['- -a', 'negate[negate[path a]]'],
    ['neg a', 'negate[path a]'],
    ['neg(a + 1)', 'negate[arithmetic add[path a, literal 1]]'],
    ['+a', 'path a'],
    ['a in [1, 2]', 'in[path a, array[literal 1, literal 2]]'],
    ['a IN (1, 2,)', 'in[path a, array[literal 1, literal 2]]'],
    ['a in (1)', 'in[path a, array[literal 1]]'],
    ['a in ()', 'in[path a, array]'],
    ['a not in ["x"]', "not in[path a, array[literal 'x']]"],
    ['a in b', 'in[path a, path b]'],
    ["a like 'x%'", "like[path a, literal 'x%']"],
    ["a NOT LIKE 'x%'", "not like[path a, literal 'x%']"],
    ["a ilike 'x%'", "ilike[path a, literal 'x%']"],
    ["a not ilike 'x%'", "not ilike[path a, literal 'x%']"],
    [String.raw`a like '50\%'`, String.raw`like[path a, literal '50\%']`],
    ["a includes 'x'", "includes[path a, literal 'x']"],
    ["a contains 'x'", "includes[path a, literal 'x']"],
    ["a not includes ['x']", "not includes[path a, array[literal 'x']]"],
    ["a not contains 'x'", "not includes[path a, literal 'x']"],
    ["a match 'x'", "match[path a, literal 'x']"],
    ["a not match 'x'", "not match[path a, literal 'x']"],
    ['a is null', 'is_null[path a]'],
    ['a IS NOT NULL', 'not is_null[path a]'],
    ['a isnull', 'is_null[path a]'],
    ['a isnotnull', 'not is_null[path a]'],
    ['isnull a', 'is_null[path a]'],
    ['isnotnull(a) and b', 'and[not is_null[path a], path b]'],
    ['a between 1 and 2 and b', 'and[between[path a, literal 1, literal 2], path b]'],
    ['a not between 1 and 2', 'not between[path a, literal 1, literal 2]'],
    ['a and b or c', 'or[and[path a, path b], path c]'],
    ['not a', 'not[path a]'],
    ["a ~ 'x'", "call regexp_match[path a, literal 'x']"],
    ["a ~* 'x'", "call regexp_match[path a, literal 'x', literal 'i']"],
    ["a !~ 'x'", "not[call regexp_match[path a, literal 'x']]"],
    [
      "a !~* concat(b, '$')",
      "not[call regexp_match[path a, call concat[path b, literal '$'], literal 'i']]",
    ],
    ["not a ~ 'x' and b", "and[not[call regexp_match[path a, literal 'x']], path b]"],
    ['a is true', 'comparison is_same[path a, literal true]'],
    ['a IS FALSE', 'comparison is_same[path a, literal false]'],
    ['a is not true', 'comparison is_different[path a, literal true]'],
    [
      'a is distinct from b + 1',
      'comparison is_different[path a, arithmetic add[path b, literal 1]]',
    ],
    ['a is not distinct from b', 'comparison is_same[path a, path b]'],
  ])
})

describe('precedence', () => {
  expectTrees([
    [
      'a or b and not c = d + e * -f',
      [
        'or[path a, and[path b, not[comparison eq[path c,',
        'arithmetic add[path d, arithmetic mul[path e, negate[path f]]]]]]]',
      ].join(' '),
    ],
    ['a - b - c', 'arithmetic sub[arithmetic sub[path a, path b], path c]'],
    ['a - (b - c)', 'arithmetic sub[path a, arithmetic sub[path b, path c]]'],
    ['a * b / c', 'arithmetic div[arithmetic mul[path a, path b], path c]'],
    ['a and b and c', 'and[path a, path b, path c]'],
    ['a and (b and c)', 'and[path a, and[path b, path c]]'],
    ['not not a', 'not[not[path a]]'],
    ["not a includes 'x' and b", "and[not[includes[path a, literal 'x']], path b]"],
    ['not a or b', 'or[not[path a], path b]'],
    [
      'created > now() - interval 7 day',
      'comparison gt[path created, arithmetic sub[call now, interval 7 day]]',
    ],
    ['(a = b) = c', 'comparison eq[comparison eq[path a, path b], path c]'],
    ['a = (not b)', 'comparison eq[path a, not[path b]]'],
    ['a or b ? c : d', 'conditional[when[or[path a, path b]], then[path c], else[path d]]'],
    [
      'a ? b : c ? d : e',
      'conditional[when[path a], then[path b], when[path c], then[path d], else[path e]]',
    ],
    [
      'a ? b ? c : d : e',
      [
        'conditional[when[path a],',
        'then[conditional[when[path b], then[path c], else[path d]]], else[path e]]',
      ].join(' '),
    ],
    [
      'a ? b : (c ? d : e)',
      [
        'conditional[when[path a], then[path b],',
        'else[conditional[when[path c], then[path d], else[path e]]]]',
      ].join(' '),
    ],
    [
      "t > (m = 'x' ? 1000 : 500)",
      [
        "comparison gt[path t, conditional[when[comparison eq[path m, literal 'x']],",
        'then[literal 1000], else[literal 500]]]',
      ].join(' '),
    ],
    ['a ?\n limit\n : sort', 'conditional[when[path a], then[path `limit`], else[path `sort`]]'],
    ['{a: b ? c : d}', 'object[key "a"[conditional[when[path b], then[path c], else[path d]]]]'],
  ])
})

describe('calls', () => {
  expectTrees([
    ['NOW()', 'call now'],
    ['current_date', 'call current_date'],
    ['current_date()', 'call current_date'],
    ['Current_Timestamp', 'call current_timestamp'],
    ['current_date.x', 'path "current_date".x'],
    ['count(*)', 'call count[star]'],
    ['count(1)', 'call count[literal 1]'],
    ['count()', 'call count'],
    ['COUNT(DISTINCT a)', 'call count distinct[path a]'],
    ['count(distinct (a))', 'call count distinct[path a]'],
    ['count(distinct not a)', 'call count distinct[not[path a]]'],
    ['count(distinct)', 'call count[path `distinct`]'],
    ['count(distinct.a)', 'call count[path "distinct".a]'],
    ['concat(a, "b",)', "call concat[path a, literal 'b']"],
    ['coalesce(a, b) != c', 'comparison ne[call coalesce[path a, path b], path c]'],
    ["contains(tags, 'x')", "call contains[path tags, literal 'x']"],
    ['avg(a ? 1 : 0)', 'call avg[conditional[when[path a], then[literal 1], else[literal 0]]]'],
    ['any_span(a and any_span(b))', 'call any_span[and[path a, call any_span[path b]]]'],
    ['cast(a as varchar)', 'call to_string[path a]'],
    ['CAST(a AS Int)', 'call to_integer[path a]'],
    ['cast(a as double)', 'call to_number[path a]'],
    ['cast(a as bool)', 'call to_boolean[path a]'],
    ['cast(a as date)', 'call to_date[path a]'],
    ['cast(a as timestamp)', 'call to_datetime[path a]'],
    ['cast(a as interval)', 'call to_interval[path a]'],
    [
      'case when a then 1 WHEN b then 2 else 3 end',
      'conditional[when[path a], then[literal 1], when[path b], then[literal 2], else[literal 3]]',
    ],
    ['CASE WHEN a THEN b END', 'conditional[when[path a], then[path b], else[literal null]]'],
    [
      "case a when 'x' then 1 when b + 1 then 2 else 3 end",
      [
        "conditional[when[comparison eq[path a, literal 'x']], then[literal 1],",
        'when[comparison eq[path a, arithmetic add[path b, literal 1]]], then[literal 2],',
        'else[literal 3]]',
      ].join(' '),
    ],
    [
      'case (a) when true then b end',
      'conditional[when[comparison eq[path a, literal true]], then[path b], else[literal null]]',
    ],
    [
      "count(*) FILTER (WHERE a = 'x')",
      "call count[star, filter[comparison eq[path a, literal 'x']]]",
    ],
    [
      'count(a) filter (where b) / 2',
      'arithmetic div[call count[path a, filter[path b]], literal 2]',
    ],
    ["MATCH(input) AGAINST ('q')", "match[path input, literal 'q']"],
    [
      "match(input, output) against 'q' and a",
      "and[or[match[path input, literal 'q'], match[path output, literal 'q']], path a]",
    ],
    ["not match(a) against ('q')", "not[match[path a, literal 'q']]"],
    ['match(a, b)', 'call match[path a, path b]'],
    ['case when a then end end', 'conditional[when[path a], then[path `end`], else[literal null]]'],
  ])
})

test('every node has the span of its text, parentheses at its edges included', () => {
  expect(parseExpression('(a) + -b.c >= f(x)')).toEqual({
    kind: 'comparison',
    operator: 'ge',
    left: {
      kind: 'arithmetic',
      operator: 'add',
      left: { kind: 'path', parts: ['a'], span: { start: 1, end: 2 } },
      right: {
        kind: 'negate',
        operand: { kind: 'path', parts: ['b', 'c'], span: { start: 7, end: 10 } },
        span: { start: 6, end: 10 },
      },
      span: { start: 0, end: 10 },
    },
    right: {
      kind: 'call',
      name: 'f',
      nameSpan: { start: 14, end: 15 },
      arguments: [{ kind: 'path', parts: ['x'], span: { start: 16, end: 17 } }],
      distinct: false,
      filter: undefined,
      span: { start: 14, end: 18 },
    },
    span: { start: 0, end: 18 },
  })
})

test('comments and line breaks may stand between any two tokens', () => {
  const text = '-- first\na -- the field\n=\n-- the value\n1 -- done'
  expect(tree(parseExpression(text))).toBe('comparison eq[path a, literal 1]')
})
