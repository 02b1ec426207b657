/** Spans as instrumentations send them: what kind they are of, and what they used. */
import { describe, expect, test } from 'vitest'
import { type Plain, rowOf } from '../support/otlp-span.ts'

type Attributes = Record<string, Plain>

const typeOf = (attributes: Attributes) => rowOf(attributes).span_attributes

describe('kinds of spans', () => {
  test.each<[attribute: string, kinds: Record<string, string>]>([
    [
      'gen_ai.operation.name',
      {
        chat: 'llm',
        generate_content: 'llm',
        acompletion: 'llm',
        invoke_agent: 'task',
        create_agent: 'task',
        execute_tool: 'tool',
        embeddings: 'function',
      },
    ],
    ['openinference.span.kind', { LLM: 'llm', CHAIN: 'task', AGENT: 'task', TOOL: 'tool' }],
    ['traceloop.span.kind', { workflow: 'task', task: 'task', agent: 'task', tool: 'tool' }],
    ['llm.request.type', { chat: 'llm', completion: 'llm', embedding: 'function' }],
    [
      'ai.operationId',
      {
        'ai.generateText': 'task',
        'ai.generateText.doGenerate': 'llm',
        'ai.streamObject.doStream': 'llm',
        'ai.embed.doEmbed': 'function',
        'ai.toolCall': 'tool',
      },
    ],
    [
      'langfuse.observation.type',
      { generation: 'llm', span: 'task', agent: 'task', tool: 'tool', embedding: 'function' },
    ],
    ['langsmith.span.kind', { llm: 'llm', chain: 'task', tool: 'tool', retriever: 'function' }],
    [
      'mastra.span.type',
      { model_generation: 'llm', agent_run: 'task', workflow_step: 'task', mcp_tool_call: 'tool' },
    ],
    ['mlflow.spanType', { '"CHAT_MODEL"': 'llm', LLM: 'llm', '"AGENT"': 'task' }],
  ])('%s', (attribute, kinds) => {
    const found = Object.keys(kinds).map((kind) => [kind, typeOf({ [attribute]: kind })])
    expect(Object.fromEntries(found)).toMatchObject(
      Object.fromEntries(Object.entries(kinds).map(([kind, type]) => [kind, { type }])),
    )
  })

  test.each<Attributes>([
    { 'openinference.span.kind': 'EVALUATOR' },
    { 'langfuse.observation.type': 'evaluator' },
    { 'mlflow.spanType': '"EVALUATOR"' },
    { 'mastra.span.type': 'eval' },
  ])('a judge is a scorer: %j', (attributes) => {
    expect(typeOf(attributes)).toMatchObject({ type: 'score', purpose: 'scorer' })
  })

  test('what counts tokens of a model and says nothing else is a call of it', () => {
    const usage = { 'gen_ai.usage.input_tokens': 5, 'gen_ai.usage.output_tokens': 1 }
    expect(typeOf({ 'gen_ai.request.model': 'm', ...usage })).toMatchObject({ type: 'llm' })
    const agent = { 'gen_ai.request.model': 'm', 'gen_ai.agent.name': 'a', ...usage }
    expect(typeOf(agent)).toMatchObject({ type: 'task' })
  })
})

describe('agents keep the usage of the calls inside them', () => {
  test.each<[who: string, attributes: Attributes]>([
    [
      'OpenTelemetry',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 300,
        'gen_ai.usage.output_tokens': 30,
      },
    ],
    [
      'Pydantic AI, of old',
      {
        agent_name: 'agent',
        model_name: 'gpt-4o',
        'logfire.msg': 'agent run',
        'gen_ai.usage.input_tokens': 300,
        'gen_ai.usage.output_tokens': 30,
      },
    ],
    [
      'Pydantic AI, of now',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.aggregated_usage.input_tokens': 300,
        'gen_ai.aggregated_usage.output_tokens': 30,
      },
    ],
    [
      'Strands',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.system': 'strands-agents',
        'gen_ai.usage.prompt_tokens': 300,
        'gen_ai.usage.input_tokens': 300,
        'gen_ai.usage.completion_tokens': 30,
        'gen_ai.usage.output_tokens': 30,
        'gen_ai.usage.total_tokens': 330,
      },
    ],
  ])('%s', (_, attributes) => {
    expect(rowOf(attributes)).toMatchObject({
      span_attributes: { type: 'task' },
      metrics: { prompt_tokens: 300, completion_tokens: 30, tokens: 330 },
    })
  })
})

test('OpenInference: details of the counts', () => {
  const row = rowOf({
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'claude-sonnet-4',
    'llm.token_count.prompt': 1000,
    'llm.token_count.completion': 20,
    'llm.token_count.total': 1020,
    'llm.token_count.prompt_details.cache_read': 900,
    'llm.token_count.prompt_details.cache_write': 50,
    'llm.token_count.prompt_details.audio': 5,
    'llm.token_count.completion_details.reasoning': 8,
  })
  expect(row.metrics).toEqual({
    prompt_tokens: 1000,
    completion_tokens: 20,
    tokens: 1020,
    prompt_cached_tokens: 900,
    prompt_cache_creation_tokens: 50,
    prompt_audio_tokens: 5,
    completion_reasoning_tokens: 8,
  })
})

describe('the AI SDK of Vercel', () => {
  const call = { 'ai.operationId': 'ai.streamText.doStream', 'ai.model.id': 'claude-sonnet-4' }

  test('version 5 has what Anthropic counts, which is without its cache', () => {
    const row = rowOf({
      ...call,
      'ai.model.provider': 'anthropic.messages',
      'ai.usage.inputTokens': 500,
      'ai.usage.outputTokens': 20,
      'ai.usage.cachedInputTokens': 400,
      'ai.response.providerMetadata': JSON.stringify({
        anthropic: {
          usage: { input_tokens: 500, cache_creation_input_tokens: 30, output_tokens: 20 },
          cacheCreationInputTokens: 30,
        },
      }),
    })
    expect(row.metrics).toEqual({
      prompt_tokens: 930,
      completion_tokens: 20,
      tokens: 950,
      prompt_cached_tokens: 400,
      prompt_cache_creation_tokens: 30,
    })
  })

  test('version 5 with a provider whose counts have the cache in them', () => {
    const attributes = {
      ...call,
      'ai.model.provider': 'openai.responses',
      'ai.usage.inputTokens': 500,
      'ai.usage.outputTokens': 20,
      'ai.usage.totalTokens': 520,
      'ai.usage.cachedInputTokens': 400,
      'ai.usage.reasoningTokens': 12,
    }
    expect(rowOf(attributes).metrics).toEqual({
      prompt_tokens: 500,
      completion_tokens: 20,
      tokens: 520,
      prompt_cached_tokens: 400,
      completion_reasoning_tokens: 12,
    })
  })

  test('version 6 counts alike for all', () => {
    const attributes = {
      ...call,
      'ai.model.provider': 'anthropic.messages',
      'ai.usage.inputTokens': 930,
      'ai.usage.outputTokens': 20,
      'ai.usage.cachedInputTokens': 400,
      'ai.usage.inputTokenDetails.cacheReadTokens': 400,
      'ai.usage.inputTokenDetails.cacheWriteTokens': 30,
      'gen_ai.usage.input_tokens': 930,
      'gen_ai.usage.output_tokens': 20,
    }
    expect(rowOf(attributes).metrics).toMatchObject({
      prompt_tokens: 930,
      tokens: 950,
      prompt_cached_tokens: 400,
      prompt_cache_creation_tokens: 30,
    })
  })
})

describe('Langfuse', () => {
  test('a generation', () => {
    const row = rowOf({
      'langfuse.observation.type': 'generation',
      'langfuse.observation.input': '[{"role":"user","content":"hi"}]',
      'langfuse.observation.output': 'hello',
      'langfuse.observation.model.name': 'claude-sonnet-4',
      'langfuse.observation.model.parameters': '{"temperature":0.5}',
      'langfuse.observation.usage_details':
        '{"input":60,"output":10,"input_cache_read":400,"output_reasoning":5}',
      'langfuse.observation.metadata.step': 2,
      'langfuse.trace.tags': ['a', 'b'],
      'langfuse.environment': 'test',
    })
    expect(row).toMatchObject({
      span_attributes: { type: 'llm' },
      input: [{ role: 'user', content: 'hi' }],
      output: 'hello',
      tags: ['a', 'b'],
      metrics: {
        prompt_tokens: 460,
        completion_tokens: 15,
        tokens: 475,
        prompt_cached_tokens: 400,
        completion_reasoning_tokens: 5,
      },
      metadata: {
        model: 'claude-sonnet-4',
        temperature: 0.5,
        step: 2,
        'langfuse.environment': 'test',
      },
    })
  })

  test('usage as OpenAI has it', () => {
    const usage = {
      prompt_tokens: 500,
      completion_tokens: 20,
      total_tokens: 520,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 12 },
    }
    const row = rowOf({ 'langfuse.observation.usage_details': JSON.stringify(usage) })
    expect(row.metrics).toMatchObject({ prompt_tokens: 500, completion_tokens: 20, tokens: 520 })
  })

  test('what went wrong', () => {
    const row = rowOf({
      'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'no answer',
    })
    expect(row.error).toBe('no answer')
  })
})

test('LangSmith', () => {
  const row = rowOf({
    'langsmith.span.kind': 'llm',
    'langsmith.usage_metadata': JSON.stringify({
      input_tokens: 100,
      output_tokens: 10,
      total_tokens: 110,
      total_cost: 0.123,
      input_token_details: { cache_read: 40, cache_creation: 20 },
      output_token_details: { reasoning: 5 },
    }),
    'langsmith.metadata.ls_model_name': 'm1',
    'langsmith.metadata.user': 'u1',
    'langsmith.span.tags': 'a, b',
    'gen_ai.prompt': '{"messages":[]}',
  })
  expect(row).toMatchObject({
    input: { messages: [] },
    tags: ['a', 'b'],
    metadata: { model: 'm1', user: 'u1' },
    metrics: {
      prompt_tokens: 100,
      completion_tokens: 10,
      tokens: 110,
      prompt_cached_tokens: 40,
      prompt_cache_creation_tokens: 20,
      completion_reasoning_tokens: 5,
      estimated_cost: 0.123,
    },
  })
  expect(row.metadata).not.toHaveProperty('langsmith.usage_metadata')
})

test('MLflow', () => {
  const row = rowOf({
    'mlflow.spanType': '"CHAT_MODEL"',
    'mlflow.spanInputs': '{"q":1}',
    'mlflow.spanOutputs': '"yes"',
    'mlflow.llm.model': '"m1"',
    'mlflow.chat.tokenUsage': '{"input_tokens":5,"output_tokens":7,"total_tokens":12}',
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'llm' },
    input: { q: 1 },
    output: 'yes',
    metadata: { model: 'm1' },
    metrics: { prompt_tokens: 5, completion_tokens: 7, tokens: 12 },
  })
})

test('Mastra', () => {
  const row = rowOf({
    'mastra.span.type': 'agent_run',
    'mastra.agent_run.input': '[{"role":"user"}]',
    'mastra.agent_run.output': '{"text":"4"}',
    'mastra.metadata.runId': 'r1',
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'task' },
    input: [{ role: 'user' }],
    output: { text: '4' },
    metadata: { runId: 'r1' },
  })
})

test("Google's Agent Development Kit", () => {
  const row = rowOf({
    'gen_ai.system': 'gcp.vertex.agent',
    'gcp.vertex.agent.llm_request': '{"model":"gemini-2.5-flash","contents":[]}',
    'gcp.vertex.agent.llm_response': '{"content":{"role":"model"}}',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 50,
    'gen_ai.usage.experimental.reasoning_tokens': 10,
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'llm' },
    input: { model: 'gemini-2.5-flash' },
    output: { content: { role: 'model' } },
    metadata: { model: 'gemini-2.5-flash' },
    metrics: { prompt_tokens: 100, completion_tokens: 60, completion_reasoning_tokens: 10 },
  })
})

test('LiveKit', () => {
  const row = rowOf({
    'lk.function_tool.name': 'look_up',
    'lk.pii.function_tool.arguments': '{"a":1}',
    'lk.function_tool.output': 'found',
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'tool' },
    input: { a: 1 },
    output: 'found',
    metadata: { tool_name: 'look_up' },
  })
})

test('LiteLLM', () => {
  const row = rowOf({
    'gen_ai.operation.name': 'acompletion',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.usage.total_tokens': 12,
    'gen_ai.cost.input_cost': 0.1,
    'gen_ai.cost.output_cost': 0.2,
    'gen_ai.cost.total_cost': 0.3,
  })
  expect(row).toMatchObject({
    span_attributes: { type: 'llm' },
    metrics: { prompt_tokens: 5, completion_tokens: 7, tokens: 12, estimated_cost: 0.3 },
  })
})

test('Pydantic AI: a tool', () => {
  const row = rowOf({ tool_arguments: '{"q":1}', tool_response: 'r' }, {}, 'pydantic-ai')
  expect(row).toMatchObject({ span_attributes: { type: 'tool' }, input: { q: 1 }, output: 'r' })
})
