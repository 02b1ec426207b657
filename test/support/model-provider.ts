/** Speaks as much of the APIs of OpenAI and Anthropic as their clients need, with recorded answers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly tools?: readonly unknown[]
}

type Answer = (asked: Asked) => object | readonly object[]

const created = 1_750_000_000

/** 120 tokens in, of which 100 were read from the cache; 30 out, of which 10 for reasoning. */
const chatUsage = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 100, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 0 },
}

/** The same call: Anthropic counts what is read from and written to the cache beside the input. */
const messageUsage = {
  input_tokens: 15,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 5,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 },
  output_tokens: 30,
  service_tier: 'standard',
}

const toolCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Zürich"}' },
}

function chat({ model, stream, stream_options, tools }: Asked): object | object[] {
  const base = { id: 'chatcmpl-1', created, model: `${model}-2025-04-14` }
  const finish_reason = tools ? 'tool_calls' : 'stop'
  if (!stream) {
    const message = tools
      ? { role: 'assistant', content: null, tool_calls: [toolCall] }
      : { role: 'assistant', content: 'Four 🙂', refusal: null }
    const choices = [{ index: 0, message, finish_reason, logprobs: null }]
    return { ...base, object: 'chat.completion', choices, usage: chatUsage }
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    usage: null,
  })
  const [start, end] = ['{"city":', '"Zürich"}']
  const pieces = tools
    ? [
        { tool_calls: [{ ...toolCall, index: 0, function: { name: 'weather', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: start } }] },
        { tool_calls: [{ index: 0, function: { arguments: end } }] },
      ]
    : [{ content: 'Four' }, { content: ' 🙂' }]
  return [
    chunk({ role: 'assistant', content: tools ? null : '' }),
    ...pieces.map((piece) => chunk(piece)),
    chunk({}, finish_reason),
    ...(stream_options?.include_usage
      ? [{ ...base, object: 'chat.completion.chunk', choices: [], usage: chatUsage }]
      : []),
  ]
}

function respond({ model }: Asked): object {
  const content = [{ type: 'output_text', text: 'Four 🙂', annotations: [] }]
  return {
    id: 'resp_1',
    object: 'response',
    created_at: created,
    status: 'completed',
    model: `${model}-2025-04-14`,
    output: [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 100 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: 150,
    },
  }
}

function embed({ model }: Asked): object {
  return {
    object: 'list',
    model,
    data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.125] }],
    usage: { prompt_tokens: 8, total_tokens: 8 },
  }
}

function message({ model, stream, tools }: Asked): object | object[] {
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null }
  const stop_reason = tools ? 'tool_use' : 'end_turn'
  const tool = { type: 'tool_use', id: 'toolu_1', name: 'weather' }
  if (!stream) {
    const content = tools
      ? [{ ...tool, input: { city: 'Zürich' } }]
      : [{ type: 'text', text: 'Four 🙂' }]
    return { ...base, content, stop_reason, usage: messageUsage }
  }
  const delta = (delta: object) => ({ type: 'content_block_delta', index: 0, delta })
  const pieces = tools
    ? [
        delta({ type: 'input_json_delta', partial_json: '{"city":' }),
        delta({ type: 'input_json_delta', partial_json: '"Zürich"}' }),
      ]
    : [delta({ type: 'text_delta', text: 'Four' }), delta({ type: 'text_delta', text: ' 🙂' })]
  const begun = { ...base, content: [], stop_reason: null }
  return [
    { type: 'message_start', message: { ...begun, usage: { ...messageUsage, output_tokens: 1 } } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: tools ? { ...tool, input: {} } : { type: 'text', text: '' },
    },
    ...pieces,
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 30 },
    },
    { type: 'message_stop' },
  ]
}

const answers: Readonly<Record<string, Answer>> = {
  '/v1/chat/completions': chat,
  '/v1/responses': respond,
  '/v1/embeddings': embed,
  '/v1/messages': message,
}

/** A provider of models on a port of its own; the model `missing` is one that it does not have. */
export class ModelProvider {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(): Promise<ModelProvider> {
    const server = createServer((from, to) => void handle(from, to))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new ModelProvider(server)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function handle(from: IncomingMessage, to: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of from) parts.push(part as Buffer)
  const path = from.url!.split('?')[0]!
  const asked = JSON.parse(Buffer.concat(parts).toString() || '{}') as Asked
  const answer = answers[path]
  if (!answer || asked.model === 'missing') {
    const error = { type: 'not_found_error', code: 'model_not_found', message: 'No such model' }
    to.writeHead(404, { 'content-type': 'application/json' })
    to.end(JSON.stringify({ type: 'error', error }))
    return
  }
  const body = answer(asked)
  if (!Array.isArray(body)) {
    to.writeHead(200, { 'content-type': 'application/json' })
    to.end(JSON.stringify(body))
    return
  }
  to.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of body as readonly { type?: string }[]) {
    const name = event.type === undefined ? '' : `event: ${event.type}\n`
    to.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  to.end(path === '/v1/messages' ? '' : 'data: [DONE]\n\n')
}
