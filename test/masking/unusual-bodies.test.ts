/** Bodies that are refused are refused as without masking, and none takes long. */
import { expect, test } from 'vitest'
import { builtInPatterns, type MaskingRule } from '../../src/masking/rule.ts'
import { prepareTogether } from '../../src/storage/prepare/prepare.ts'

const object = { type: 'project_logs', id: 'x' } as const
const rules = builtInPatterns.map((type): MaskingRule => {
  return { pattern: { type }, action: { type: 'replace' } }
})
const masking = {
  version: '1',
  sets: [{ rules, key: Buffer.from('k') }],
  setOf: { 'project_logs:x': 0 },
}

function prepared(text: string, isMasked = true) {
  const options = { form: 'events', object, nowMs: 0, ...(isMasked && { masking }) } as const
  return prepareTogether([{ body: Buffer.from(text), options }])
}

test.each([
  '{"events":[{"input":"a@b.de}]}',
  '{"events":[{"input" "a@b.de"}]}',
  '{"events":[{"input":"a@b.de",}]}',
  '{"events":[{"input":tru"a@b.de"}]}',
  '{"events":[{"input":[1 "a@b.de"]}]}',
  '{"events":[{"input":"a@b.de"}',
  '{"events":["a@b.de"]}',
  '{"events":[{"input":{"a":01,"b":"a@b.de"}}]}',
  '{"events":[{"input":"\\x a@b.de"}]}',
  `{"events":[{"input":${'['.repeat(1500)}"a@b.de"${']'.repeat(1500)}}]}`,
])('%.60s', (text) => {
  const [error] = prepared(text).errors
  expect(error?.code).toBe(prepared(text, false).errors[0]?.code)
  expect(error).toBeDefined()
})

test.each(['{"\\u0065vents":[{"input":"a@b.de"}]}', '\ufeff{"events":[{"input":"a@b.de"}]}'])(
  'what is taken is masked: %s',
  (text) => {
    const { rows, errors } = prepared(text)
    expect(errors).toEqual([undefined])
    expect(Buffer.from(rows.bytes).includes('a@b.de')).toBe(false)
  },
)

test.each([
  'x ',
  '4',
  '4111 ',
  '@',
  'a@',
  'sk-',
  'eyJ',
  '-eyJ',
  'AB12 3456 ',
  '+1 ',
  '\\u0040a',
  '012 ',
])('a long text of "%s" is looked through in time linear in its length', (part) => {
  const started = performance.now()
  expect(prepared(`{"events":[{"input":"${part.repeat(50_000)}"}]}`).errors).toEqual([undefined])
  // A quadratic search takes minutes.
  expect(performance.now() - started).toBeLessThan(10_000)
})
