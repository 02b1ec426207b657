/** What of a request can be stored is stored, and what cannot is told by name. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  deepJson,
  deepMessage,
  field,
  spanMessage,
  tracesMessage,
  varint,
} from '../support/otlp-message.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('batches')
})
afterAll(() => service.stop())

const traceId = '0af7651916cd43dd8448eb211c80319c'

let made = 0
const newId = () => (++made).toString(16).padStart(16, 'a')

async function send(body: string | Uint8Array, signal = 'traces') {
  const type = typeof body === 'string' ? 'application/json' : 'application/x-protobuf'
  const headers = { 'content-type': type, 'x-bt-parent': `project_id:${project}` }
  return await service.request(`/v1/${signal}`, { headers, body })
}

async function fieldsOf(spanId: string, select = '*') {
  const from = `project_logs('${project}')`
  const query = `select: ${select} | from: ${from} | filter: span_id = '${spanId}'`
  return (await service.query(query)).json.data
}

/** A request in JSON that has these spans, each as its text. */
function withSpans(...spans: readonly string[]): string {
  return `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans.join(',')}]}]}]}`
}

function span(spanId: string, more = ''): string {
  return `{"traceId":"${traceId}","spanId":"${spanId}","name":"s"${more}}`
}

function attribute(key: string, value: string): string {
  return `,"attributes":[{"key":"${key}","value":${value}}]`
}

const text = (value: string) => JSON.stringify({ stringValue: value })

describe('a span that cannot be stored is told, and those beside it are stored', () => {
  const bad: [what: string, span: string, reason: RegExp][] = [
    ['nests too deep', span(newId(), attribute('k', deepJson(1100))), /nests deeper than 1000/],
    ['nests far too deep', span(newId(), attribute('k', deepJson(50_000))), /nests deeper/],
    [
      'has no trace',
      `{"spanId":"${newId()}","name":"s"}`,
      /span "?[0-9a-f]+ "s": has no valid trace id/,
    ],
    ['has an id of another length', '{"traceId":"ab","spanId":"cd","name":"short"}', /"short"/],
    ['is no object', '12', /a span.* has no valid trace id/],
    ['is null', 'null', /has no valid trace id/],
  ]
  test.each(bad)('it %s', async (_, one, reason) => {
    const good = newId()
    const answer = await send(withSpans(span(newId()), one, span(good)))
    expect([answer.status, answer.json.partialSuccess?.rejectedSpans]).toEqual([200, '1'])
    expect(answer.json.partialSuccess?.errorMessage).toMatch(reason)
    expect(await fieldsOf(good, 'span_id')).toEqual([{ span_id: good }])
  })

  test('all of them are looked at, and each reason is told once', async () => {
    const good = newId()
    const deep = () => span(newId(), attribute('k', deepJson(1100)))
    const answer = await send(withSpans(deep(), deep(), span(good), deep()))
    expect(answer.json.partialSuccess?.rejectedSpans).toBe('3')
    expect(answer.json.partialSuccess?.errorMessage).toMatch(/^span [0-9a-f]{16} "s" and 2 more: /)
    expect(await fieldsOf(good, 'span_id')).toHaveLength(1)
  })

  test('a record of a log, too', async () => {
    const log = (body: string) => `{"traceId":"${traceId}","eventName":"e","body":${body}}`
    const records = [log(deepJson(1200)), log(text('fine'))].join(',')
    const answer = await send(
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records}]}]}]}`,
      'logs',
    )
    expect(answer.json.partialSuccess?.rejectedLogRecords).toBe('1')
    expect(answer.json.partialSuccess?.errorMessage).toMatch(/^log record "e".*nests deeper/)
  })

  test('in a protocol buffer, too', async () => {
    const [good, damaged, deep] = [newId(), newId(), newId()]
    const cut = spanMessage({ traceId, spanId: damaged, attributes: { k: field(1, 'x') } })
    const answer = await send(
      tracesMessage(
        cut.subarray(0, cut.length - 1),
        spanMessage({ traceId, spanId: deep, attributes: { k: deepMessage(2000) } }),
        spanMessage({ traceId, spanId: good }),
      ),
    )
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('nests deeper than 1000 levels')
    expect(await fieldsOf(good, 'span_id')).toHaveLength(1)
    expect(await fieldsOf(deep)).toHaveLength(0)
  })
})

describe('what is odd in a span does not make it fail', () => {
  const kept: [what: string, more: string, select: string, value: unknown][] = [
    [
      'metrics that are a text',
      attribute('braintrust.metrics', text('fast')),
      'metadata',
      { 'braintrust.metrics': 'fast' },
    ],
    ['tags that are numbers', attribute('braintrust.tags_json', text('["a",1]')), 'tags', ['a']],
    [
      'a score that is a text',
      attribute('braintrust.scores', text('{"s":"high"}')),
      'metadata',
      { 'braintrust.scores.s': 'high' },
    ],
    [
      'span_attributes that are a list',
      attribute('braintrust.span_attributes', text('[1]')),
      'span_attributes.name',
      's',
    ],
    [
      'attributes that are an object',
      ',"attributes":{"a":1,"b":{"stringValue":"x"}}',
      'metadata',
      { a: 1, b: 'x' },
    ],
    ['attributes that are a text', ',"attributes":"x"', 'metadata', null],
    [
      'a key that is a number',
      ',"attributes":[{"key":1,"value":{"intValue":"2"}},null,{}]',
      'metadata',
      { 1: 2 },
    ],
    ['a number where a text belongs', attribute('k', '{"stringValue":12}'), 'metadata', { k: 12 }],
    [
      'a value without its kind',
      attribute('k', '[1,{"a":null}]'),
      'metadata',
      { k: [1, { a: null }] },
    ],
    ['NaN', attribute('k', '{"doubleValue":"NaN"}'), 'metadata', { k: 'NaN' }],
    [
      'names in the case of the protocol',
      attribute(
        'k',
        '{"kvlist_value":{"values":[{"key":"constructor","value":{"array_value":{}}}]}}',
      ),
      'metadata',
      { k: { constructor: [] } },
    ],
    [
      'half of a surrogate pair',
      attribute('k', '{"stringValue":"\\ud83e"}'),
      'metadata',
      { k: '\ud83e' },
    ],
    [
      'a name that is a number, times that are none',
      ',"name":7,"startTimeUnixNano":"soon"',
      'span_attributes.name',
      '7',
    ],
    [
      'nulls everywhere',
      ',"kind":null,"status":null,"events":[null],"links":null',
      'span_attributes.name',
      's',
    ],
  ]
  test.each(kept)('%s', async (_, more, select, value) => {
    const id = newId()
    const answer = await send(withSpans(span(id, more)))
    expect(answer.status).toBe(200)
    expect(answer.json.partialSuccess?.rejectedSpans ?? '0').toBe('0')
    const [row] = (await fieldsOf(id, `${select} as value`)) as unknown as { value: unknown }[]
    expect(row?.value).toEqual(value)
  })

  test('integers beyond 64 bits keep their digits', async () => {
    const id = newId()
    await send(withSpans(span(id, attribute('k', '{"intValue":"123456789012345678901234567890"}'))))
    const query = `select: metadata | from: project_logs('${project}') | filter: span_id = '${id}'`
    expect((await service.query(query)).text).toContain('123456789012345678901234567890')
  })

  test('numbers of attributes that are JSON keep their texts', async () => {
    const id = newId()
    const numbers = '{"n":9007199254740993,"e":1e400,"d":[1.10]}'
    const keys = ['braintrust.metadata_json', 'braintrust.output_json', 'input.value']
    const attributes = [
      ...keys.map((key) => [key, numbers]),
      ['braintrust.metrics_json', '{"m":1.50}'],
    ]
    const list = attributes.map(([key, value]) => `{"key":"${key}","value":${text(value!)}}`)
    await send(withSpans(span(id, `,"attributes":[${list.join(',')}]`)))
    const select = 'select: input, output, metadata, metrics'
    const query = `${select} | from: project_logs('${project}') | filter: span_id = '${id}'`
    const answer = (await service.query(query)).text.replaceAll(' ', '')
    for (const field of ['input', 'output', 'metadata'])
      expect(answer).toContain(`"${field}":${numbers}`)
    expect(answer).toContain('{"m":1.50}')
  })

  test('a request in the case of the protocol', async () => {
    const id = newId()
    const one = `{"trace_id":"${traceId}","span_id":"${id}","start_time_unix_nano":1700000000123456789}`
    expect((await send(`{"resource_spans":[{"scope_spans":[{"spans":[${one}]}]}]}`)).json).toEqual(
      {},
    )
    const created = '2023-11-14T22:13:20.123456Z'
    expect(await fieldsOf(id, 'created')).toEqual([{ created }])
  })

  test('bytes that are no UTF-8 are replaced, and that is told', async () => {
    const id = newId()
    const attributes = { k: field(1, Buffer.from([0x61, 0xff])) }
    const answer = await send(tracesMessage(spanMessage({ traceId, spanId: id, attributes })))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('attribute "k" is not UTF-8')
    expect(await fieldsOf(id, 'metadata')).toEqual([{ metadata: { k: 'a\ufffd' } }])
  })
})

describe('values that nest deep', () => {
  test('are kept up to what is stored', async () => {
    const [json, message] = [newId(), newId()]
    await send(withSpans(span(json, attribute('k', deepJson(990)))))
    const attributes = { k: deepMessage(990) }
    await send(tracesMessage(spanMessage({ traceId, spanId: message, attributes })))
    for (const id of [json, message]) {
      expect(JSON.stringify(await fieldsOf(id, 'metadata.k'))).toContain(`${'['.repeat(990)}"deep"`)
    }
  })

  test('and are a text that is longer than that stay a text, which is told', async () => {
    const id = newId()
    const deep = '['.repeat(1000) + ']'.repeat(1000)
    const answer = await send(withSpans(span(id, attribute('input.value', text(deep)))))
    expect(answer.json.partialSuccess).toEqual({
      rejectedSpans: '0',
      errorMessage: expect.stringMatching(
        /^span \w+ "s": attribute "input.value" is JSON that nests/,
      ),
    })
    expect(await fieldsOf(id, 'input')).toEqual([{ input: deep }])
  })
})

describe('what is no request as a whole', () => {
  test.each([
    ['broken JSON', '{"resourceSpans":['],
    ['no object', '[]'],
    ['nothing', ''],
  ])('%s is refused', async (_, body) => {
    expect((await send(body)).status).toBe(400)
  })

  test.each([
    ['no spans', '{"resourceSpans":[]}'],
    ['members of no meaning', '{"resourceSpans":{"a":1},"more":[1,2]}'],
    ['nulls', '{"resourceSpans":[null,{"scopeSpans":null},{"scopeSpans":[{"spans":null}]}]}'],
  ])('a request with %s is taken', async (_, body) => {
    const { status, json } = await send(body)
    expect([status, json]).toEqual([200, {}])
  })

  test('is told in the encoding that it came in', async () => {
    const answer = await send(Buffer.from([0x0a, 0xff]))
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
    // `google.rpc.Status`: the code INVALID_ARGUMENT, then the message.
    expect(answer.text.slice(0, 3)).toBe('\x08\x03\x12')
    expect(answer.text).toContain('the body is no OTLP export of traces')
    const headers = { 'content-type': 'application/x-protobuf' }
    const unknown = await service.request('/v1/traces', { headers, body: '', key: 'sk-unknown' })
    expect([unknown.status, unknown.text.slice(0, 2)]).toEqual([401, '\x08\x10'])
  })

  test('an empty protocol buffer is a request without spans', async () => {
    expect((await send(new Uint8Array())).status).toBe(200)
  })
})

describe('whatever comes beside it, a good span is stored', () => {
  const runs = isSlow ? 2000 : 60

  const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 2 }),
      fc.record({ stringValue: fc.string({ unit: 'binary' }) }),
      fc.record({ intValue: fc.oneof(fc.bigInt().map(String), fc.double(), fc.string()) }),
      fc.record({ doubleValue: fc.constantFrom('NaN', '-Infinity', 1e308, 'x', null) }),
      fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
      fc.record({
        kvlistValue: fc.record({
          values: fc.array(fc.record({ key: fc.string(), value: tie('value') }), { maxLength: 3 }),
        }),
      }),
    ),
  })).value

  const keys = fc.oneof(
    fc.constantFrom(
      ...[
        'input',
        'output_json',
        'metadata',
        'metrics',
        'scores',
        'tags',
        'span_attributes',
        'context_json',
        'error',
        'parent',
      ].map((name) => `braintrust.${name}`),
      ...[
        'gen_ai.usage.input_tokens',
        'gen_ai.prompt.0.role',
        'gen_ai.input.messages',
        'llm.input_messages.0.message',
        'llm.token_count.prompt',
        'ai.operationId',
        'ai.usage.cachedInputTokens',
        'metadata',
        'tag.tags',
        'langfuse.observation.usage_details',
        'gen_ai.evaluation.name',
        'exception.message',
        '__proto__',
        'constructor',
      ],
    ),
    fc.string(),
  )
  const ids = fc.constantFrom(traceId, 'ffffffffffffffff', '', 'zz', 12, null)
  const oddSpan = fc.record(
    {
      traceId: fc.oneof(fc.constant(traceId), ids),
      spanId: fc.oneof(fc.constant('cccccccccccccccc'), ids),
      parentSpanId: ids,
      name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      kind: fc.jsonValue(),
      startTimeUnixNano: fc.oneof(fc.bigInt().map(String), fc.jsonValue()),
      endTimeUnixNano: fc.jsonValue(),
      attributes: fc.oneof(
        fc.array(fc.record({ key: keys, value: anyValue }), { maxLength: 6 }),
        fc.jsonValue(),
      ),
      events: fc.array(
        fc.record({
          name: fc.constantFrom('exception', 'gen_ai.choice', 'x'),
          attributes: fc.array(fc.record({ key: keys, value: anyValue }), { maxLength: 3 }),
        }),
        { maxLength: 2 },
      ),
      links: fc.jsonValue(),
      status: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )

  test('in JSON', { timeout: 120_000 }, async () => {
    const odd = fc.oneof(
      { weight: 4, arbitrary: oddSpan },
      { weight: 1, arbitrary: fc.jsonValue() },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 4 }), async (others) => {
        const good = newId()
        const answer = await send(
          withSpans(...others.map((other) => JSON.stringify(other)), span(good)),
        )
        expect(answer.status).toBe(200)
        expect(await fieldsOf(good, 'span_id')).toHaveLength(1)
      }),
      { seed, numRuns: runs },
    )
  })

  test('in JSON, of log records', { timeout: 120_000 }, async () => {
    const oddRecord = fc.record(
      {
        traceId: fc.oneof(fc.constant(traceId), ids),
        spanId: fc.oneof(fc.constant('eeeeeeeeeeeeeeee'), ids),
        eventName: fc.oneof(
          fc.constantFrom('gen_ai.choice', 'gen_ai.user.message'),
          fc.jsonValue(),
        ),
        timeUnixNano: fc.jsonValue(),
        severityNumber: fc.jsonValue(),
        severityText: fc.jsonValue(),
        body: anyValue,
        attributes: fc.oneof(
          fc.array(fc.record({ key: keys, value: anyValue }), { maxLength: 4 }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    )
    const odd = fc.oneof(
      { weight: 4, arbitrary: oddRecord },
      { weight: 1, arbitrary: fc.jsonValue() },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 4 }), async (others) => {
        const body = newId()
        const logRecords = [...others, { traceId, body: { stringValue: body } }]
        const answer = await send(
          JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
          'logs',
        )
        expect(answer.status).toBe(200)
        const query = `select: output | from: project_logs('${project}') | filter: output = '${body}'`
        expect((await service.query(query)).json.data).toHaveLength(1)
      }),
      { seed, numRuns: runs },
    )
  })

  test('in protocol buffers', { timeout: 120_000 }, async () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    const fields = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 16 }), bytes), { maxLength: 5 })
      .map((parts) => Buffer.concat(parts.map(([number, content]) => field(number, content))))
    const attributes = fc.dictionary(fc.string(), fc.oneof(bytes, fields))
    const whole = attributes.map((given) => {
      return spanMessage({ traceId, spanId: 'dddddddddddddddd', attributes: given })
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(bytes, fields, whole), { maxLength: 4 }),
        async (others) => {
          const good = newId()
          const answer = await send(
            tracesMessage(...others, spanMessage({ traceId, spanId: good })),
          )
          expect(answer.status).toBe(200)
          expect(await fieldsOf(good, 'span_id')).toHaveLength(1)
        },
      ),
      { seed, numRuns: runs },
    )
  })

  test('no bytes at all are answered with 500', { timeout: 120_000 }, async () => {
    const cut = Buffer.concat([tracesMessage(spanMessage({ traceId, spanId: newId() })), varint(7)])
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(cut.length), async (bytes, at) => {
        const mixed = Buffer.concat([cut.subarray(0, at), bytes])
        for (const signal of ['traces', 'logs']) {
          expect((await send(mixed, signal)).status).toBeLessThan(500)
          expect((await send(mixed.toString('latin1'), signal)).status).toBeLessThan(500)
        }
      }),
      { seed, numRuns: runs },
    )
  })
})

describe('one span id in two traces', () => {
  const other = '4bf92f3577b34da6a3ce929d0e0e4736'
  const inTrace = (trace: string, id: string, name: string) =>
    JSON.stringify({ traceId: trace, spanId: id, name })
  const names = async (id: string) => {
    const rows = await fieldsOf(id, 'id, root_span_id, span_attributes.name | sort: name')
    return rows as unknown as { id: string; root_span_id: string; name: string }[]
  }
  const two = (id: string) => [
    { id, root_span_id: traceId, name: 'a' },
    { id: `${other}-${id}`, root_span_id: other, name: 'b' },
  ]

  test('is two records, however they come and how often', async () => {
    const [apart, together] = [newId(), newId()]
    for (let time = 0; time < 2; time++) {
      await send(withSpans(inTrace(traceId, apart, 'a')))
      await send(withSpans(inTrace(other, apart, 'b')))
      await send(withSpans(inTrace(traceId, together, 'a'), inTrace(other, together, 'b')))
    }
    expect(await names(apart)).toEqual(two(apart))
    expect(await names(together)).toEqual(two(together))
  })

  test('is two records where both come at the same time', async () => {
    const id = newId()
    await Promise.all([
      send(withSpans(inTrace(traceId, id, 'a'))),
      send(withSpans(inTrace(other, id, 'b'))),
    ])
    expect((await names(id)).map(({ name }) => name)).toEqual(['a', 'b'])
  })

  test('has the feedback that came before it', async () => {
    const id = newId()
    const feedback = { feedback: [{ id, scores: { liked: 1 } }] }
    await service.request(`/v1/project_logs/${project}/feedback`, { body: feedback })
    await send(withSpans(inTrace(traceId, id, 'a'), inTrace(other, id, 'b')))
    const rows = await fieldsOf(id, 'scores.liked, span_attributes.name | sort: name')
    expect(rows).toEqual([
      { liked: 1, name: 'a' },
      { liked: null, name: 'b' },
    ])
  })

  test('gets the events of its own trace', async () => {
    const id = newId()
    await send(withSpans(inTrace(traceId, id, 'a'), inTrace(other, id, 'b')))
    const event = (trace: string, content: string) => ({
      traceId: trace,
      spanId: id,
      eventName: 'gen_ai.user.message',
      body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: content } }] } },
    })
    const logRecords = [event(other, 'of b'), event(traceId, 'of a')]
    await send(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }), 'logs')
    const rows = await fieldsOf(id, 'input[0].content, span_attributes.name | sort: name')
    expect(rows).toEqual([
      { content: 'of a', name: 'a' },
      { content: 'of b', name: 'b' },
    ])
  })
})
