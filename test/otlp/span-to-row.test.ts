import { describe, expect, test } from 'vitest'
import { readSpans } from '../../src/otlp/span.ts'
import { keyValues, rowOf, spanId, traceId } from '../support/otlp-span.ts'

test('ids, times and the parent', () => {
  const row = rowOf(
    {},
    {
      parentSpanId: '00f067aa0ba902b7',
      startTimeUnixNano: '1700000000123456789',
      endTimeUnixNano: '1700000001000000000',
      kind: 3,
    },
  )
  expect(row).toEqual({
    id: spanId,
    span_id: spanId,
    root_span_id: traceId,
    span_parents: ['00f067aa0ba902b7'],
    created: '2023-11-14T22:13:20.123456Z',
    span_attributes: { name: 's', type: 'task' },
    metrics: { start: Number('1700000000.123456789'), end: 1700000001 },
    context: { span_kind: 'client' },
    _is_merge: true,
  })
})

describe('braintrust.*', () => {
  test('wins over other conventions and leaves the metadata', () => {
    const row = rowOf({
      'braintrust.input_json': '{"q":1}',
      'braintrust.output': 'plain text',
      'braintrust.expected': '[1]',
      'braintrust.scores': '{"exact":1}',
      'braintrust.metrics.cached': 1,
      'braintrust.metadata': '{"model":"mine"}',
      'braintrust.tags': ['a', 'b'],
      'braintrust.span_attributes': '{"type":"score","purpose":"scorer"}',
      'braintrust.parent': 'project_name:p',
      'gen_ai.prompt': 'other input',
      'gen_ai.request.model': 'other model',
      'http.method': 'GET',
    })
    expect(row).toMatchObject({
      input: { q: 1 },
      output: 'plain text',
      expected: [1],
      scores: { exact: 1 },
      metrics: { cached: 1 },
      tags: ['a', 'b'],
      span_attributes: { type: 'score', purpose: 'scorer', name: 's' },
    })
    expect(row.metadata).toEqual({
      model: 'mine',
      'braintrust.parent': 'project_name:p',
      'http.method': 'GET',
    })
  })

  test.each<[attribute: string, text: string, row: object]>([
    ['output_json', '"a"', { output: 'a' }],
    ['output_json', '12', { output: 12 }],
    ['input_json', 'true', { input: true }],
    ['input_json', '12345678901234567890', { input: 12345678901234567890n }],
    ['expected_json', '[1]', { expected: [1] }],
    ['expected_json', 'no JSON', { expected: 'no JSON' }],
    ['expected', '"a"', { expected: 'a' }],
    ['expected', '4', { expected: 4 }],
    ['expected', 'no JSON', { expected: 'no JSON' }],
    [
      'origin',
      '{"object_type":"dataset","id":"a"}',
      { origin: { object_type: 'dataset', id: 'a' } },
    ],
    ['origin', 'elsewhere', { metadata: { 'braintrust.origin': 'elsewhere' } }],
    ['error_json', '{"code":5}', { error: { code: 5 } }],
    ['metadata_json', '{"k":"v"}', { metadata: { k: 'v' } }],
    ['metrics_json', '{"m":1}', { metrics: { m: 1 } }],
    ['scores_json', '{"s":0.5}', { scores: { s: 0.5 } }],
    ['tags_json', '["a"]', { tags: ['a'] }],
    ['tags_json', '"a"', { tags: ['a'] }],
    ['context_json', '{"c":1}', { context: { c: 1 } }],
    ['span_attributes_json', '{"type":"score"}', { span_attributes: { type: 'score' } }],
    ['output', '"a"', { output: '"a"' }],
    ['metrics', 'fast', { metadata: { 'braintrust.metrics': 'fast' } }],
  ])('%s as %s', (attribute, text, row) => {
    expect(rowOf({ [`braintrust.${attribute}`]: text })).toMatchObject(row)
  })

  test('null in JSON is no output', () => {
    expect(rowOf({ 'braintrust.output_json': 'null' })).not.toHaveProperty('output')
  })

  test('a score that is no number is kept as metadata', () => {
    const row = rowOf({ 'braintrust.scores': '{"a":0.5,"b":"high"}' })
    expect(row.scores).toEqual({ a: 0.5 })
    expect(row.metadata).toEqual({ 'braintrust.scores.b': 'high' })
  })
})

describe('gen_ai.*', () => {
  test('a chat', () => {
    const row = rowOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.response.model': 'gpt-4o-2024-08-06',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.choice.count': 2,
      'gen_ai.system_instructions': '[{"type":"text","content":"be brief"}]',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[]}]',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.conversation.id': 'c1',
    })
    expect(row).toMatchObject({
      span_attributes: { type: 'llm' },
      input: [
        { role: 'system', parts: [{ type: 'text', content: 'be brief' }] },
        { role: 'user', parts: [{ type: 'text', content: 'hi' }] },
      ],
      output: [{ role: 'assistant', parts: [] }],
      metrics: {
        prompt_tokens: 5,
        completion_tokens: 7,
        tokens: 12,
        prompt_cached_tokens: 3,
        time_to_first_token: 0.25,
      },
      metadata: {
        model: 'gpt-4o',
        response_model: 'gpt-4o-2024-08-06',
        provider: 'openai',
        temperature: 0.5,
        choice_count: 2,
        finish_reasons: ['stop'],
        conversation_id: 'c1',
        operation_name: 'chat',
      },
    })
  })

  test.each([
    ['execute_tool', 'tool'],
    ['invoke_agent', 'task'],
    ['embeddings', 'function'],
    ['something new', 'task'],
  ])('the operation %s is a span of type %s', (operation, type) => {
    expect(rowOf({ 'gen_ai.operation.name': operation })).toMatchObject({
      span_attributes: { type },
    })
  })

  test('a tool is called with arguments and gives a result', () => {
    const row = rowOf({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.arguments': '{"q":"x"}',
      'gen_ai.tool.call.result': '["r"]',
    })
    expect(row).toMatchObject({
      input: { q: 'x' },
      output: ['r'],
      metadata: { tool_name: 'search' },
    })
  })

  test('names that were in use before', () => {
    const row = rowOf({
      'gen_ai.system': 'anthropic',
      'gen_ai.usage.prompt_tokens': 2,
      'gen_ai.usage.completion_tokens': 3,
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'hi',
      'gen_ai.prompt.1.role': 'assistant',
      'gen_ai.completion.0.content': 'hello',
      'gen_ai.completion.0.tool_calls.0.name': 'f',
    })
    expect(row).toMatchObject({
      input: [{ role: 'user', content: 'hi' }, { role: 'assistant' }],
      output: [{ content: 'hello', tool_calls: [{ name: 'f' }] }],
      metadata: { provider: 'anthropic' },
      metrics: { prompt_tokens: 2, completion_tokens: 3, tokens: 5 },
    })
  })

  test('messages and evaluations that come as events', () => {
    const row = rowOf(
      {},
      {
        events: [
          { name: 'gen_ai.user.message', attributes: keyValues({ content: 'hi' }) },
          {
            name: 'gen_ai.choice',
            attributes: keyValues({ index: 0, message: '{"content":"yo"}' }),
          },
          {
            name: 'gen_ai.evaluation.result',
            attributes: keyValues({
              'gen_ai.evaluation.name': 'tone',
              'gen_ai.evaluation.score.value': 0.75,
              'gen_ai.evaluation.explanation': 'kind',
            }),
          },
          { name: 'retry', timeUnixNano: '1700000000000000000', attributes: [] },
        ],
      },
    )
    expect(row).toMatchObject({
      input: [{ role: 'user', content: 'hi' }],
      output: [{ index: 0, message: { content: 'yo' } }],
      scores: { tone: 0.75 },
      metadata: { tone_explanation: 'kind' },
      context: { events: [{ name: 'retry', time: '2023-11-14T22:13:20Z', attributes: {} }] },
    })
  })
})

test('OpenInference', () => {
  const row = rowOf({
    'openinference.span.kind': 'LLM',
    'input.value': '{"raw":true}',
    'input.mime_type': 'application/json',
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.content': 'hi',
    'output.value': 'yo',
    'output.mime_type': 'text/plain',
    'llm.model_name': 'm1',
    'llm.invocation_parameters': '{"temperature":0.1}',
    'llm.token_count.prompt': 1,
    'llm.token_count.completion': 2,
    'llm.token_count.total': 3,
    'llm.cost.total': 0.5,
    'session.id': 's1',
    metadata: '{"k":"v"}',
    'tag.tags': ['t'],
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'llm' },
    input: [{ role: 'user', content: 'hi' }],
    output: 'yo',
    tags: ['t'],
    metrics: { prompt_tokens: 1, completion_tokens: 2, tokens: 3, estimated_cost: 0.5 },
    metadata: { model: 'm1', temperature: 0.1, k: 'v', 'session.id': 's1' },
  })
})

test('messages of several parts and calls of OpenInference', () => {
  const message = 'llm.output_messages.0.message'
  const row = rowOf({
    'llm.input_messages.0.message.role': 'user',
    'llm.input_messages.0.message.contents.0.message_content.type': 'text',
    'llm.input_messages.0.message.contents.0.message_content.text': 'what is it?',
    'llm.input_messages.0.message.contents.1.message_content.type': 'image',
    'llm.input_messages.0.message.contents.1.message_content.image.image.url': 'https://a.b/c.png',
    [`${message}.role`]: 'assistant',
    [`${message}.contents.0.message_content.type`]: 'text',
    [`${message}.contents.0.message_content.text`]: 'let me see',
    [`${message}.contents.1.message_content.type`]: 'tool_use',
    [`${message}.contents.1.tool_call.id`]: 'c1',
    [`${message}.tool_calls.0.tool_call.id`]: 'c1',
    [`${message}.tool_calls.0.tool_call.function.name`]: 'look',
    [`${message}.tool_calls.0.tool_call.function.arguments`]: '{"at":1}',
  })
  expect(row).toMatchObject({
    input: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what is it?' },
          { type: 'image', image: { image: { url: 'https://a.b/c.png' } } },
        ],
      },
    ],
    output: [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'let me see' }],
        tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"at":1}' } }],
      },
    ],
  })
})

test('OpenLLMetry', () => {
  const row = rowOf({
    'traceloop.span.kind': 'workflow',
    'traceloop.entity.name': 'joke',
    'traceloop.entity.input': '{"a":1}',
    'traceloop.entity.output': '"text"',
    'traceloop.association.properties.user': 'u1',
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'task' },
    input: { a: 1 },
    output: '"text"',
    metadata: { entity_name: 'joke', user: 'u1' },
  })
})

describe('the AI SDK of Vercel', () => {
  const usage = { 'ai.usage.promptTokens': 4, 'ai.usage.completionTokens': 6 }

  test('a call of a model', () => {
    const row = rowOf({
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.prompt.messages': '[{"role":"user","content":"hi"}]',
      'ai.response.text': 'yo',
      'ai.model.id': 'm1',
      'ai.model.provider': 'openai.chat',
      'ai.settings.maxRetries': 2,
      'ai.telemetry.metadata.user': 'u1',
      ...usage,
    })
    expect(row).toMatchObject({
      span_attributes: { type: 'llm' },
      input: [{ role: 'user', content: 'hi' }],
      output: 'yo',
      metrics: { prompt_tokens: 4, completion_tokens: 6, tokens: 10 },
      metadata: { model: 'm1', provider: 'openai.chat', maxRetries: 2, user: 'u1' },
    })
  })

  test('the span around the calls has their tokens, and is no call itself', () => {
    const row = rowOf({ 'ai.operationId': 'ai.generateText', 'ai.model.id': 'm1', ...usage })
    expect(row).toMatchObject({
      span_attributes: { type: 'task' },
      metrics: { prompt_tokens: 4, completion_tokens: 6, tokens: 10 },
      metadata: { model: 'm1' },
    })
  })
})

describe('errors', () => {
  const exception = {
    name: 'exception',
    attributes: keyValues({ 'exception.type': 'Oops', 'exception.message': 'it broke' }),
  }

  const escaped = (flag: string) => ({
    ...exception,
    attributes: [...exception.attributes, ...keyValues({ 'exception.escaped': flag === 'true' })],
  })

  test.each([
    [
      'an exception',
      { events: [exception], status: { code: 2, message: 'bad' } },
      'Oops: it broke',
    ],
    ['a status', { status: { code: 2, message: 'bad' } }, 'bad'],
    ['a status by name', { status: { code: 'STATUS_CODE_ERROR' } }, 'error'],
    ['success', { status: { code: 1, message: 'fine' } }, undefined],
    ['success after an exception', { events: [exception], status: { code: 1 } }, undefined],
    ['an exception without a status', { events: [exception] }, 'Oops: it broke'],
    ['an exception that did not leave the span', { events: [escaped('false')] }, undefined],
    ['one that did, by a flag', { events: [escaped('true')] }, 'Oops: it broke'],
    [
      'the last of several',
      { events: [exception, { ...exception, attributes: [] }], status: { code: 2 } },
      'exception',
    ],
  ])('%s', (_, more, error) => {
    expect(rowOf({}, more).error).toBe(error)
  })

  test('a status without a message says the kind of error', () => {
    const row = rowOf({ 'error.type': 'not_found_error' }, { status: { code: 2 } })
    expect(row).toMatchObject({
      error: 'not_found_error',
      metadata: { 'error.type': 'not_found_error' },
    })
    expect(rowOf({ 'error.type': 'gone' }, { status: { code: 1 } }).error).toBeUndefined()
  })
})

test('an exception that is no error is among the events', () => {
  const events = [{ name: 'exception', attributes: keyValues({ 'exception.type': 'Retried' }) }]
  expect(rowOf({}, { events, status: { code: 1 } }).context).toEqual({
    events: [{ name: 'exception', attributes: { 'exception.type': 'Retried' } }],
  })
})

test('times keep their order', () => {
  const times = ['1700000000123456001', '1700000000123456999', '1700000000123457000']
  const rows = times.map((startTimeUnixNano) => rowOf({}, { startTimeUnixNano }))
  expect(rows.map(({ created }) => created)).toEqual([
    '2023-11-14T22:13:20.123456Z',
    '2023-11-14T22:13:20.123456Z',
    '2023-11-14T22:13:20.123457Z',
  ])
  const starts = rows.map(({ metrics }) => (metrics as { start: number }).start)
  expect(starts).toEqual(times.map((time) => Number(time.replace(/(\d{9})$/, '.$1'))))
  expect(starts[0]).toBeLessThan(starts[1]!)
})

test('values of every kind keep what they are', () => {
  const big = { key: 'big', value: { intValue: '9007199254740993' } }
  const bytes = { key: 'bytes', value: { bytesValue: 'AQI=' } }
  const row = rowOf({}, { attributes: [big, bytes, ...keyValues({ o: { a: [1.5, true] } })] })
  expect(row.metadata).toEqual({ big: 9007199254740993n, bytes: 'AQI=', o: { a: [1.5, true] } })
})

test('spans without a valid id are told from the others', () => {
  const spans = [
    { traceId, spanId: '0000000000000000', name: 'first' },
    { traceId: 'zz', spanId },
    { traceId, spanId },
  ]
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
  const read = [...readSpans(Buffer.from(body), 'json')]
  expect(read).toMatchObject([
    { called: 'span "first"', problem: 'has no valid span id' },
    { called: `span ${spanId}`, problem: 'has no valid trace id' },
    { spanId },
  ])
})

test('what nests deep is kept', () => {
  let value: object = { stringValue: 'deep' }
  for (let i = 0; i < 900; i++) value = { arrayValue: { values: [value] } }
  const row = rowOf({}, { attributes: [{ key: 'k', value }] })
  expect(JSON.stringify(row.metadata)).toMatch(/^\{"k":\[{900}"deep"\]{900}\}$/)
})
