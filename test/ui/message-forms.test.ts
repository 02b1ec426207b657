/** Chats are read from the forms that SDKs and instrumentations write. */
import { describe, expect, test } from 'vitest'
import { conversationOf, lastTextOf, pairedCalls } from '../../src/ui/component/message-forms.ts'

const call = { kind: 'call', name: 'find_order', given: { id: 7 } }
const asked = { role: 'user', parts: [{ kind: 'text', text: 'Where is it?' }] }

const forms: readonly (readonly [string, unknown])[] = [
  [
    'OpenTelemetry',
    [
      { role: 'user', parts: [{ type: 'text', content: 'Where is it?' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: '1', name: 'find_order', arguments: { id: 7 } }],
        finish_reason: 'tool_call',
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response: 'sent' }] },
    ],
  ],
  [
    'OpenAI chats',
    {
      messages: [
        { role: 'user', content: 'Where is it?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ function: { name: 'find_order', arguments: '{"id":7}' } }],
        },
        { role: 'tool', content: 'sent' },
      ],
    },
  ],
  [
    'OpenAI responses',
    [
      { role: 'user', content: [{ type: 'input_text', text: 'Where is it?' }] },
      { type: 'function_call', name: 'find_order', arguments: '{"id":7}', call_id: '1' },
      { type: 'function_call_output', call_id: '1', output: 'sent' },
    ],
  ],
  [
    'Anthropic',
    {
      messages: [
        { role: 'user', content: 'Where is it?' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', name: 'find_order', input: { id: 7 } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool_result', content: [{ type: 'text', text: 'sent' }] }],
        },
      ],
    },
  ],
  [
    'Gemini',
    {
      contents: [
        { role: 'user', parts: [{ text: 'Where is it?' }] },
        { role: 'assistant', parts: [{ functionCall: { name: 'find_order', args: { id: 7 } } }] },
        { role: 'tool', parts: [{ functionResponse: { response: 'sent' } }] },
      ],
    },
  ],
  [
    'Bedrock',
    {
      messages: [
        { role: 'user', content: [{ text: 'Where is it?' }] },
        { role: 'assistant', content: [{ toolUse: { name: 'find_order', input: { id: 7 } } }] },
        { role: 'tool', content: [{ toolResult: { content: [{ text: 'sent' }] } }] },
      ],
    },
  ],
  [
    'LangChain',
    [
      [
        { type: 'human', content: 'Where is it?' },
        { type: 'ai', content: '', tool_calls: [{ name: 'find_order', args: { id: 7 } }] },
        { type: 'tool', content: 'sent' },
      ],
    ],
  ],
  [
    'LangChain, by classes',
    [
      {
        lc: 1,
        type: 'constructor',
        id: ['x', 'HumanMessage'],
        kwargs: { content: 'Where is it?' },
      },
      {
        ...{ lc: 1, type: 'constructor', id: ['x', 'AIMessageChunk'] },
        kwargs: { content: '', tool_calls: [{ name: 'find_order', args: { id: 7 } }] },
      },
      { lc: 1, type: 'constructor', id: ['x', 'ToolMessage'], kwargs: { content: 'sent' } },
    ],
  ],
  [
    'the AI SDK',
    {
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'Where is it?' }] },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolName: 'find_order', input: { id: 7 } }],
        },
        { role: 'tool', content: [{ type: 'tool-result', output: 'sent' }] },
      ],
    },
  ],
]

/** Not all forms tell which call a result is of. */
function withoutIds(messages: ReturnType<typeof conversationOf>) {
  return messages?.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => ('id' in part ? { ...part, id: undefined } : part)),
  }))
}

const pixel = 'iVBORw0KGgo='
const picture = `data:image/png;base64,${pixel}`
const inValue = { kind: 'media', mediaType: 'image/png', from: { kind: 'data', url: picture } }

const pictures: readonly (readonly [string, object])[] = [
  ['OpenAI chats', { type: 'image_url', image_url: { url: picture } }],
  ['OpenAI responses', { type: 'input_image', image_url: picture }],
  [
    'Anthropic',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
  ],
  ['Gemini', { inlineData: { mimeType: 'image/png', data: pixel } }],
  ['Bedrock', { image: { format: 'png', source: { bytes: pixel } } }],
  ['the AI SDK', { type: 'image', image: pixel, mediaType: 'image/png' }],
  ['the AI SDK, as a file', { type: 'file', data: picture, mediaType: 'image/png' }],
  ['OpenTelemetry', { type: 'blob', mime_type: 'image/png', modality: 'image', content: pixel }],
]

describe('a picture in a chat', () => {
  test.each(pictures)('of %s is found', (_, part) => {
    const [message] = conversationOf([{ role: 'user', content: [part] }])!
    expect(message!.parts).toEqual([inValue])
  })

  test('is named where it lies elsewhere, and is a file of the service where it was uploaded', () => {
    const url = 'https://example.com/cat.png'
    const file = { type: 'braintrust_attachment', key: 'k', filename: 'a.png' }
    const [message] = conversationOf([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url } },
          { type: 'image', source: { type: 'url', url } },
          { type: 'image_url', image_url: { url: { ...file, content_type: 'image/png' } } },
        ],
      },
    ])!
    expect(message!.parts.map((part) => 'from' in part && part.from)).toEqual([
      { kind: 'outside', address: url },
      { kind: 'outside', address: url },
      { kind: 'attachment', key: 'k' },
    ])
  })

  test('sound has its words beside it', () => {
    const audio = { data: 'UklGRg==', format: 'wav', transcript: 'Hello' }
    const [message] = conversationOf({ role: 'assistant', content: null, audio })!
    expect(message!.parts).toMatchObject([
      { kind: 'media', from: { url: 'data:audio/wav;base64,UklGRg==' } },
      { kind: 'text', text: 'Hello' },
    ])
  })
})

describe('calls of tools', () => {
  const calls = ['a', 'b'].map((id) => ({ id, function: { name: `tool_${id}`, arguments: '{}' } }))

  test('have their results by ids, in whatever order these come', () => {
    const messages = conversationOf([
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'b', content: 'of b' },
      { role: 'tool', tool_call_id: 'a', content: 'of a' },
    ])!
    const { resultOf, taken } = pairedCalls(messages)
    expect(Array.from(resultOf, ([call, { value }]) => [call.name, value])).toEqual([
      ['tool_b', 'of b'],
      ['tool_a', 'of a'],
    ])
    expect(taken.size).toBe(2)
  })

  test('without ids are answered in their order, and a result without a call stays by itself', () => {
    const messages = conversationOf([
      { role: 'assistant', parts: [{ functionCall: { name: 'x', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'x', response: 'yes' } }] },
      { role: 'tool', content: 'alone' },
    ])!
    const { resultOf, taken } = pairedCalls(messages)
    expect([...resultOf.values()].map(({ value }) => value)).toEqual(['yes'])
    expect(taken.size).toBe(1)
  })
})

describe('a chat', () => {
  test.each(forms)('of %s has who said what, the calls, and their results', (_, value) => {
    const answered = { role: 'tool', parts: [{ kind: 'result', name: undefined, value: 'sent' }] }
    const expected = [asked, { role: 'assistant', parts: [call] }, answered]
    expect(withoutIds(conversationOf(value))).toEqual(expected)
    expect(withoutIds(conversationOf(JSON.stringify(value)))).toEqual(expected)
  })

  test('may be an answer alone', () => {
    const said = [{ role: 'assistant', parts: [{ kind: 'text', text: 'Sent.' }] }]
    const message = { role: 'assistant', content: 'Sent.' }
    for (const value of [
      message,
      [message],
      { choices: [{ index: 0, message, finish_reason: 'stop' }] },
      [{ message }],
      { output: { message: { role: 'assistant', content: [{ text: 'Sent.' }] } } },
      { candidates: [{ content: { role: 'assistant', parts: [{ text: 'Sent.' }] } }] },
      { generations: [[{ text: 'Sent.', message: { type: 'ai', content: 'Sent.' } }]] },
      {
        id: '1',
        output: [
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sent.' }] },
        ],
      },
    ]) {
      expect(conversationOf(value), JSON.stringify(value)).toEqual(said)
    }
    expect(lastTextOf(conversationOf(message)!)).toBe('Sent.')
  })

  test('has its system message first, and reasoning by itself', () => {
    const found = conversationOf({
      system: 'Be brief.',
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'No.' },
          ],
        },
      ],
    })
    expect(found).toEqual([
      { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'thought', text: 'Hm.' },
          { kind: 'text', text: 'No.' },
        ],
      },
    ])
  })

  test.each([
    'Hello',
    '[1, 2]',
    [],
    {},
    [{ id: 1 }],
    { role: 'admin' },
    { type: 'tool', name: 'x' },
    { messages: 'none' },
    [{ role: 'user', content: 'x' }, 5],
    { output: { text: 'x' } },
  ])('is not seen in %j', (value) => expect(conversationOf(value)).toBeUndefined())
})
