/** Random rows and rules: what becomes of a row is what the oracle says, and nothing else changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { JsonScanner } from '../../src/json/scan.ts'
import { Edits } from '../../src/masking/edits.ts'
import { Masker } from '../../src/masking/masker.ts'
import type { MaskingRule } from '../../src/masking/rule.ts'
import { maskByOracle, type OracleRule } from '../support/oracle-masker.ts'
import { isSlow } from '../support/random-seed.ts'

const numRuns = isSlow ? 50_000 : 3000
const key = Buffer.from('a key of the test')

const secrets = [
  'anna.berg+x@mail.example.com',
  'o_k@b.de',
  '+49 30 123456-78',
  '+15551234567',
  '4111 1111 1111 1111',
  '4111111111111111',
  '378282246310005',
  'DE89 3704 0044 0532 0130 00',
  'GB82WEST12345698765432',
  'sk-proj-abcdefghijklmnop0123',
  'AKIAIOSFODNN7EXAMPLE',
  'ghp_0123456789abcdefghij0123456789abcdef',
  'eyJhbGciOi.eyJzdWIiOi.SflKxw',
  'ID-4711',
]
const harmless = [
  'hello',
  '4111111111111112',
  '2026-11-27T10:20:30.123Z',
  '550e8400-e29b-41d4-a716-446655440000',
  'a@b',
  'task-force-one-two-three',
  'quote " and \\ back',
  'line\nbreak\ttab',
  'Größe 中文 😀',
  'DE00 3704 0044 0532 0130 00',
  '1700000000.123456',
  '',
]

/** A text in JSON, some of whose characters are spelled as escapes. */
const text = fc
  .tuple(
    fc.array(fc.oneof(fc.constantFrom(...secrets), fc.constantFrom(...harmless)), { maxLength: 4 }),
    fc.constantFrom(' ', ', ', '; ', ' "', '\n'),
    fc.infiniteStream(fc.nat({ max: 9 })),
    fc.boolean(),
  )
  .map(([parts, between, choices, isPlain]) => {
    const spelled = Array.from(parts.join(between).split(''), (unit) => {
      const plain = JSON.stringify(unit).slice(1, -1)
      if (isPlain || choices.next().value !== 0) return isHalf(unit) ? unit : plain
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
    return `"${joinHalves(spelled)}"`
  })

function isHalf(unit: string): boolean {
  return /[\ud800-\udfff]/.test(unit)
}

/** Half a pair that is spelled out has its other half beside it in the same spelling. */
function joinHalves(units: readonly string[]): string {
  return units
    .join('')
    .replace(/([\ud800-\udbff])\\u[d-d][c-f][0-9a-f]{2}|\\ud8[0-9a-f]{2}([\udc00-\udfff])/g, '😀')
}

const fieldNames = ['input', 'output', 'metadata', 'expected', 'tags', 'user', 'content', 'email']
const secretNames = ['password', 'API-Key', 'apiKey', 'Authorization', 'o_k@b.de', 'in\\u0070ut']
const name = fc.constantFrom(...fieldNames, ...secretNames)
const number = fc.constantFrom(
  '0',
  '-1.5e10',
  '9007199254740993',
  '123456789012345678901234567890',
  '4111111111111111',
  '1.10',
)

const { value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.constantFrom('null', 'true', '{}', '[]'),
    tie('object'),
    tie('list'),
  ),
  object: objectOf(tie('value')),
  list: fc.tuple(fc.array(tie('value'), { maxLength: 3 }), space()).map(([parts, gap]) => {
    return `[${gap}${parts.join(`${gap},${gap}`)}${gap}]`
  }),
}))

function space(): fc.Arbitrary<string> {
  return fc.constantFrom('', '', ' ', '\n  ')
}

function objectOf(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(fc.array(fc.tuple(name, member), { maxLength: 4 }), space()).map(([all, gap]) => {
    const members = all.map(([called, text]) => `"${called}"${gap}:${gap}${text}`)
    return `{${gap}${members.join(`${gap},${gap}`)}${gap}}`
  })
}

const row = fc
  .tuple(fc.array(fc.tuple(name, value), { maxLength: 6 }), fc.boolean(), space())
  .map(([all, hasId, gap]) => {
    const members = all.map(([called, text]) => `"${called}":${gap}${text}`)
    if (hasId) members.push('"id": "o_k@b.de"', '"span_parents": ["o_k@b.de"]')
    return `{${gap}${members.join(`${gap},`)}${gap}}`
  })

const step = fc.constantFrom<string | number>(...fieldNames, '*', '[*]', 0, 1)

const rule: fc.Arbitrary<OracleRule> = fc
  .record({
    path: fc.option(
      fc
        .tuple(
          fc.constantFrom('input', 'output', 'metadata', 'expected'),
          fc.array(step, { maxLength: 3 }),
        )
        .map(([first, more]) => [first, ...more]),
      { nil: undefined },
    ),
    fields: fc.option(fc.constantFrom(['password', 'api_key'], ['authorization'], ['email']), {
      nil: undefined,
      freq: 3,
    }),
    pattern: fc.option(
      fc.oneof(
        fc.constantFrom('email', 'phone', 'card', 'iban', 'key', 'jwt').map((type) => ({ type })),
        fc
          .constantFrom('ID-[0-9]+', '[a-z]+o\\b', '(hello|task)', 'berg.*')
          .map((expression) => ({ type: 'expression', expression })),
      ),
      { nil: undefined, freq: 6 },
    ),
    action: fc.constantFrom(
      { type: 'drop' },
      { type: 'hash' },
      { type: 'replace' },
      { type: 'replace', text: '<"é">' },
      { type: 'keep_last_four' },
    ),
  })
  .filter(({ path, fields, pattern }) => (path ?? fields ?? pattern) !== undefined)
  .map((made) => made as OracleRule)

/** A rule of the oracle as the service takes it. */
function ruleOf({ path, ...rest }: OracleRule): MaskingRule {
  const steps = path?.map((one, i) => {
    if (typeof one === 'number') return `[${one}]`
    return one === '[*]' ? one : `${i === 0 ? '' : '.'}${one}`
  })
  return { ...(steps && { path: steps.join('') }), ...rest } as MaskingRule
}

function masked(text: string, rules: readonly MaskingRule[]): string {
  const bytes = Buffer.from(text)
  const masker = new Masker({ rules, key })
  const edits = new Edits()
  masker.begin(bytes, edits)
  expect(masker.row(0, false)).toBe(bytes.length)
  return edits.apply(bytes, 0, bytes.length).toString()
}

function compact(text: string): string {
  const out = new ByteWriter()
  new JsonScanner(Buffer.from(text)).value(out)
  return out.view().toString()
}

test('a masked row is what the oracle makes of it', () => {
  fc.assert(
    fc.property(row, fc.array(rule, { minLength: 1, maxLength: 4 }), (given, rules) => {
      const result = masked(given, rules.map(ruleOf))
      expect(compact(result)).toBe(maskByOracle(given, rules, key))
    }),
    { numRuns },
  )
})

test('a row in which nothing is to be masked stays as it is, to the byte', () => {
  const rules = [{ path: 'scores.none', action: { type: 'hash' } }] as const
  fc.assert(
    fc.property(row, (given) => {
      expect(masked(given, rules)).toBe(given)
    }),
    { numRuns },
  )
})
