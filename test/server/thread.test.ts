/** The one function that the service runs itself: a trace as a conversation. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let count = 0

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

/** The thread of a trace whose spans are these, a second after each other, in any order. */
async function thread(spans: readonly object[]) {
  const trace = `trace-${++count}`
  const events = spans.map((span, index) => ({
    id: `${trace}-${index}`,
    span_id: index === 0 ? trace : `${trace}-${index}`,
    root_span_id: trace,
    ...(index > 0 && { span_parents: [trace] }),
    metrics: { start: 100 + index },
    ...span,
  }))
  await service.insert('project_logs', project, events.toReversed())
  return invoke(trace)
}

async function invoke(root_span_id: string, more: object = {}) {
  const trace_ref = { object_type: 'project_logs', object_id: project, root_span_id }
  const { status, json } = await service.request('/function/invoke', {
    body: {
      global_function: 'project_default',
      function_type: 'preprocessor',
      input: { trace_ref },
      mode: 'json',
      ...more,
    },
  })
  return status === 200 ? json : status
}

const llm = { type: 'llm' }

test('messages come once, though each call repeats those before it', async () => {
  const first = [{ role: 'system', content: 's' }, user('a')]
  const second = [...first, assistant('b'), user('a')]
  const calls = [
    { span_attributes: { type: 'task' }, input: 'not a message' },
    { span_attributes: llm, input: first, output: [{ message: assistant('b') }] },
    { span_attributes: llm, input: second, output: assistant('c') },
    {
      span_attributes: { ...llm, purpose: 'scorer' },
      input: [user('is it right?')],
      output: 'yes',
    },
  ]
  expect(await thread(calls)).toEqual([...second, assistant('c')])
})

test('messages of all the forms that calls are recorded in', async () => {
  const calls: [input: unknown, output: unknown, expected: object[]][] = [
    ['text', 'answer', [user('text'), assistant('answer')]],
    [
      { messages: [user('m')] },
      { choices: [{ message: assistant('n') }] },
      [user('m'), assistant('n')],
    ],
    [
      user('one'),
      { content: [{ type: 'text', text: 't' }] },
      [user('one'), assistant([{ type: 'text', text: 't' }])],
    ],
    [{ prompt: 'p' }, null, [user('{"prompt":"p"}')]],
  ]
  for (const [input, output, expected] of calls) {
    expect(await thread([{ span_attributes: llm, input, output }])).toEqual(expected)
  }
})

test('a trace without calls is what went in and came out', async () => {
  const spans = [{ input: 'in', output: 'out' }, { input: 'within' }]
  expect(await thread(spans)).toEqual([user('in'), assistant('out')])
  expect(await thread([{ output: null }])).toEqual([])
  expect(await invoke(`it's "nothing"`)).toEqual([])
})

test('other functions, and those of a stream, are not run; what may not be read is refused', async () => {
  expect(await invoke('t', { global_function: 'other' })).toBe(501)
  expect(await invoke('t', { function_type: 'scorer' })).toBe(501)
  expect(await invoke('t', { stream: true })).toBe(501)
  expect(await invoke('t', { input: { trace_ref: { object_type: 'project_logs' } } })).toBe(501)
  const trace_ref = { object_type: 'experiment', object_id: project, root_span_id: 't' }
  expect(await invoke('t', { input: { trace_ref } })).toBe(403)
})

test('numbers keep their texts', async () => {
  const span = '"id":"n","span_id":"n","root_span_id":"n","span_attributes":{"type":"llm"}'
  const body = `{"events":[{${span},"input":{"seed":9007199254740993,"x":1.10},"output":1e400}]}`
  await service.request(`/v1/project_logs/${project}/insert`, { body })
  const trace_ref = { object_type: 'project_logs', object_id: project, root_span_id: 'n' }
  const { text } = await service.request('/function/invoke', {
    body: {
      global_function: 'project_default',
      function_type: 'preprocessor',
      input: { trace_ref },
      mode: 'json',
    },
  })
  expect(text).toContain('{\\"seed\\":9007199254740993,\\"x\\":1.10}')
  expect(text).toContain('"content":1e400')
})

test('a call that is too long to be parsed is refused, and says what reads it', async () => {
  const span = '"id":"long","span_id":"long","root_span_id":"long","span_attributes":{"type":"llm"}'
  const body = `{"events":[{${span},"input":"${'x'.repeat(17 * 2 ** 20)}"}]}`
  await service.request(`/v1/project_logs/${project}/insert`, { body })
  const trace_ref = { object_type: 'project_logs', object_id: project, root_span_id: 'long' }
  const { status, text } = await service.request('/function/invoke', {
    body: {
      global_function: 'project_default',
      function_type: 'preprocessor',
      input: { trace_ref },
      mode: 'json',
    },
  })
  expect({ status, text }).toMatchObject({
    status: 400,
    text: expect.stringContaining('a row is longer than 16 MiB'),
  })
  expect(text).toContain('/btql')
})
