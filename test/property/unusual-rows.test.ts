/** Rows of any kind, as they are prepared and as the oracle prepares them, which knows neither kernels nor usual rows. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { type PrepareOptions, prepareRows } from '../../src/storage/prepare/prepare.ts'
import { ObjectFields } from '../../src/storage/row/field-shapes.ts'
import { rowBytes } from '../../src/storage/row/prepared-blocks.ts'
import { RowView } from '../../src/storage/row/row.ts'
import { rowsByOracle } from '../support/oracle-preparer.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const numRuns = isSlow ? 50_000 : 1000
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const objects = [
  { type: 'project_logs', id: 'P' },
  { type: 'experiment', id: 'E' },
  { type: 'dataset', id: 'D' },
  undefined,
] as const

const space = fc.constantFrom('', '', '', ' ', '\n\t', ' \r\n  ')

/** A text, with any of its characters escaped in any way that JSON has. */
function spelled(text: string): fc.Arbitrary<string> {
  const escaped = (character: string) => {
    const code = character.charCodeAt(0)
    const digits = code.toString(16).padStart(4, '0')
    const own = JSON.stringify(character).slice(1, -1)
    const ways = [own, own, own, own, `\\u${digits}`, `\\u${digits.toUpperCase()}`]
    return fc.constantFrom(...ways, ...(character === '/' ? ['\\/'] : []))
  }
  if (text.length > 300) return fc.constant(JSON.stringify(text))
  return fc.tuple(...text.split('').map(escaped)).map((parts) => `"${parts.join('')}"`)
}

/** Mostly as `JSON.stringify` has it. */
function named(text: string): fc.Arbitrary<string> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(JSON.stringify(text)) }, spelled(text))
}

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'é', '\u0000\b\f\n\r\t"\\/', '😀', '\ud800', 'x\udc00y', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('braintrust_attachment', 'x'.repeat(5000)),
)

const numbers = fc.oneof(
  fc.constantFrom('-0', '0', '1e400', '-1E+2', '0.1e-7', '1e-400', '-0.0', '9007199254740993'),
  fc.bigInt({ max: 10n ** 60n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
)

const innerNames = fc.constantFrom('a', 'b', '', '__proto__', 'constructor', 'é', 'a\nb', '\ud83e')

const { value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', 'false', '{}', '[]', ' { } '),
    numbers,
    texts.chain(spelled),
    tie('object'),
    tie('list'),
    { weight: 1, arbitrary: fc.integer({ min: 50, max: 1000 }).map(nested) },
  ),
  object: fc
    .array(fc.tuple(space, innerNames.chain(named), space, tie('value')), { maxLength: 5 })
    .map((members) => `{${members.map(([a, name, b, of]) => `${a}${name}${b}:${of}`).join()}}`),
  list: fc
    .array(fc.tuple(space, tie('value')), { maxLength: 4 })
    .map((all) => `[${all.map(([a, of]) => a + of).join()} ]`),
}))

function nested(depth: number): string {
  const opens = Array.from({ length: depth }, (_, i) => (i % 3 === 0 ? '{"a":' : '['))
  const closes = opens.map((open) => (open === '[' ? ']' : '}')).reverse()
  return `${opens.join('')}1${closes.join('')}`
}

const times = [
  '2024-02-29T07:08:09.120Z',
  '2024-05-06T07:08:09.000Z',
  '2024-05-06T07:08:09.123456Z',
  '1969-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59.999999Z',
  '2024-05-06T07:08:09.12Z',
  '2024-05-06 07:08:09',
  '2024-05-06T07:08:09+02:00',
]

const objectText = fc.constantFrom(
  '{}',
  '{"a":1,"a":{"b":2}}',
  '{"a" : {"\\u0062":{"c":1}} }',
  'null',
)
const strings = fc.constantFrom('[]', '["a", "\\u0062"]', 'null', '[ ]')

/** Values that suit a member, by its name; of others any do. */
const suited: Readonly<Record<string, fc.Arbitrary<string>>> = {
  id: fc.oneof(texts.chain(spelled), fc.constant('null')),
  created: fc.oneof(fc.constantFrom(...times).chain(spelled), fc.constant('null')),
  span_id: fc.oneof(texts.chain(spelled), fc.constant('null')),
  root_span_id: fc.oneof(texts.chain(spelled), fc.constant('null')),
  span_parents: strings,
  tags: strings,
  metadata: objectText,
  metrics: objectText,
  span_attributes: objectText,
  scores: fc.constantFrom('{}', '{"a":1,"b":null, "\\u0063" : true}', 'null'),
  origin: fc.constantFrom('{"id":"x"}', '{"id" : "\\u0078", "n":1}', '{"id":1}', 'null'),
  _is_merge: fc.constantFrom('true', 'true', 'true', 'false', 'null'),
  _object_delete: fc.constantFrom('true', 'false', 'null', 'false', 'null'),
  _merge_paths: fc.constantFrom('[]', '[["input","a"]]', 'null'),
  _array_delete: fc.constantFrom('[]', '[{"path":["tags"],"delete":["a", 1.0]}]', 'null'),
  _parent_id: fc.constantFrom('"p"', 'null'),
  _audit_source: fc.constantFrom('"app"', 'null'),
  _audit_metadata: fc.constantFrom('{"user" : "u"}', '{"n":1e400}', 'null'),
}

/** Members that name the object of a row; not all suit that of the request. */
const naming: Readonly<Record<string, fc.Arbitrary<string>>> = {
  project_id: fc.constantFrom('"P"', '"\\u0050"', 'null', '"Q"'),
  log_id: fc.constantFrom('"g"', '"p"', 'null'),
  experiment_id: fc.constantFrom('"E"', 'null'),
  dataset_id: fc.constantFrom('"D"', 'null'),
}

const freeNames = [
  'input',
  'inputs',
  'output',
  'expected',
  'comment',
  'error',
  '_xact_id',
  'is_root',
]
const strangeNames = ['own', '', '__proto__', 'constructor', 'toString', 'a\nb', '\ud800', 'é']
const manyNames = Array.from({ length: 300 }, (_, i) => `n${i}`)
const names = fc.oneof(
  { weight: 48, arbitrary: fc.constantFrom(...Object.keys(suited)) },
  { weight: 40, arbitrary: fc.constantFrom(...freeNames) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(naming)) },
  { weight: 16, arbitrary: fc.constantFrom(...strangeNames, 'k'.repeat(3000)) },
)

const member = names.chain((name) => {
  const known = { ...suited, ...naming }
  const of = Object.hasOwn(known, name) ? known[name]! : value
  const values = fc.oneof({ weight: 300, arbitrary: of }, value)
  return fc
    .tuple(space, named(name), space, space, values)
    .map(([a, text, b, c, one]) => `${a}${text}${b}:${c}${one}`)
})

const row = fc.oneof(
  { weight: 12, arbitrary: fc.array(member, { maxLength: 9 }) },
  { weight: 2, arbitrary: fc.constant(['"comment":" c"', '"origin":{"id":"x"}']) },
  { weight: 1, arbitrary: fc.constant(['"id":"a"', '"_object_delete":true']) },
  { weight: 1, arbitrary: fc.constant([...manyNames, 'n7'].map((name) => `"${name}":{"a":1}`)) },
)

const ownNaming = fc.constantFrom('"project_id":"P","log_id":"g"', '"dataset_id" : "D"')

/** Bodies, and the object of their rows; without it these name their own. */
const bodies = fc.constantFrom(...objects).chain((object) => {
  const rows = object ? row : fc.tuple(ownNaming, row).map(([own, members]) => [own, ...members])
  const fault = fc.tuple(fc.nat(), fc.nat(150))
  return fc.tuple(fc.array(rows, { minLength: 1, maxLength: 8 }), fault).map(([rows, [at, by]]) => {
    const texts = rows.map((members) => `{${members.join()}}`)
    const body = Buffer.from(`{"events":[ ${texts.join(' ,\n')} ]}`)
    // In one of them a byte is another.
    if (object && by < 15) body[11 + (at % (body.length - 11))] = 0x20 + by * 6
    return { body, object }
  })
})

const generated = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g

/** Without ids that were made: they differ. */
function withoutMade(text: string): string {
  return text.replace(generated, 'made')
}

/** All that is stored of a row, in its order. */
function stored(bytes: Buffer): unknown {
  const view = new RowView(bytes)
  const { flags, createdMs, paginationKey, transaction, previous } = view
  const members = Array.from({ length: view.fieldCount }, (_, i) => ({
    rank: i,
    start: view.memberStart(i),
    text: bytes.subarray(view.memberStart(i), view.valueAt(i).start).toString('latin1'),
    value: bytes.subarray(view.valueAt(i).start, view.valueAt(i).end).toString('latin1'),
  })).sort((a, b) => a.start - b.start)
  return {
    header: { flags, createdMs, paginationKey, transaction, previous },
    members: members.map(({ rank, text, value }) => [rank, text, withoutMade(value)]),
  }
}

function outcome(make: () => unknown): unknown {
  try {
    return make()
  } catch (thrown) {
    if (thrown instanceof AssayError) return `${thrown.code} ${thrown.message} ${thrown.hint}`
    throw thrown
  }
}

function prepared(body: Buffer, options: PrepareOptions): unknown {
  const rows = prepareRows(body, options)
  return {
    rows: rows.ids.map((id, i) => ({
      id: withoutMade(id),
      action: rows.actions[i],
      object: rows.objects[rows.objectOf[i]!],
      control: rows.controls.find(({ row }) => row === i),
      stored: stored(Buffer.from(rowBytes(rows, i))),
    })),
    fields: rows.objects.map(({ type, id }, i) => [
      `${type}:${id}`,
      rows.fieldPaths[i]!.map((path) => JSON.stringify(path)).sort(),
    ]),
  }
}

function expected(body: Buffer, options: PrepareOptions): unknown {
  const rows = rowsByOracle(body, options)
  const fields = new Map<string, ObjectFields>()
  for (const { object, extraFields, shapes } of rows) {
    const name = `${object.type}:${object.id}`
    const known = fields.get(name) ?? new ObjectFields(object.type)
    fields.set(name, known)
    for (const extra of extraFields) known.addExtra(extra)
    for (const shape of shapes) known.addShape(shape)
  }
  return {
    rows: rows.map(({ id, action, object, control, bytes }) => ({
      id: withoutMade(id),
      action,
      object,
      control,
      stored: stored(bytes),
    })),
    fields: Array.from(fields, ([name, known]) => [
      name,
      known
        .paths()
        .map((path) => JSON.stringify(path))
        .sort(),
    ]),
  }
}

function optionsOf(object: (typeof objects)[number]): PrepareOptions {
  return { form: 'events', nowMs, ...(object && { object }) }
}

describe(`rows of any kind, seed ${seed}`, { timeout: isSlow ? 3_600_000 : 60_000 }, () => {
  test('are stored as the oracle stores them, or refused in the same words', () => {
    let refused = 0
    fc.assert(
      fc.property(bodies, ({ body, object }) => {
        const options = optionsOf(object)
        const right = outcome(() => expected(body, options))
        if (typeof right === 'string') refused++
        expect(outcome(() => prepared(body, options))).toEqual(right)
      }),
      { numRuns, seed },
    )
    if (isSlow) console.log(`${refused} of ${numRuns} bodies were refused`)
  })

  test('are also those that have no room in the kernel arena', () => {
    const long = 'l'.repeat(600_000)
    const rows = [
      `{"id":"a\\n","input":"${'x\\n'.repeat(2_000_000)}","own":{"a":{"b":1}}}`,
      `{"id":"b","span_id":"s","${long}":{"a":1},"_is_merge":true,"input":null}`,
      '{"id":"c","span_id":"s","span_parents":["p"]}',
      `{${Array.from({ length: 9000 }, (_, i) => `"${'w'.repeat(i % 90)}${i}":{"a":${i}}`).join()}}`,
    ]
    const body = Buffer.from(`{"events":[${rows.join()}]}`)
    expect(prepared(body, optionsOf(objects[0]))).toEqual(expected(body, optionsOf(objects[0])))
  })
})
