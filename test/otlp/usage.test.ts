import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countRole } from '../../src/otlp/usage/usage-role.ts'
import { type Plain, rowOf } from '../support/otlp-span.ts'
import { randomSeed as seed } from '../support/random-seed.ts'

type Attributes = Record<string, Plain>

const metricsOf = (attributes: Attributes, scope = '') => rowOf(attributes, {}, scope).metrics

describe('the words of a name tell what it counts', () => {
  test.each([
    ['prompt', 'input_tokens prompt_tokens inputTokens promptTokens prompt input'],
    ['completion', 'output_tokens completion_tokens outputTokens completionTokens output'],
    ['total', 'total_tokens totalTokens total'],
    [
      'cacheRead',
      'cache_read_tokens cache_read_input_tokens cache_read.input_tokens cached_input_tokens ' +
        'cachedInputTokens input_tokens_details.cached_tokens prompt_tokens_details.cached_tokens ' +
        'details.cache_read_tokens details.cached_tokens prompt_details.cache_read ' +
        'prompt_details.cache_input inputTokenDetails.cacheReadTokens input_cached_tokens ' +
        'input_cache_read prompt_cached_tokens prompt_cache_hit_tokens cache_read ' +
        'cached_content_token_count cacheReadInputTokens input_token_details.cache_read',
    ],
    [
      'cacheWrite',
      'cache_write_tokens cache_write_input_tokens cache_write.input_tokens ' +
        'cache_creation_input_tokens cache_creation.input_tokens details.cache_write_tokens ' +
        'prompt_details.cache_write prompt_details.cache_creation input_cache_creation ' +
        'inputTokenDetails.cacheWriteTokens cacheCreationInputTokens prompt_cache_creation_tokens',
    ],
    [
      'cacheWrite5m',
      'cache_creation.ephemeral_5m_input_tokens ephemeral_5m_input_tokens ' +
        'prompt_cache_creation_5m_tokens input_cache_creation_5m cache_write_5m_tokens',
    ],
    [
      'cacheWrite1h',
      'cache_creation.ephemeral_1h_input_tokens prompt_details.cache_write_1h ' +
        'prompt_cache_creation_1h_tokens',
    ],
    ['uncached', 'inputTokenDetails.noCacheTokens prompt_cache_miss_tokens uncached_input_tokens'],
    [
      'reasoning',
      'reasoning_tokens reasoning.output_tokens reasoning_output_tokens reasoningTokens ' +
        'output_tokens_details.reasoning_tokens completion_tokens_details.reasoning_tokens ' +
        'completion_details.reasoning details.reasoning_tokens details.thinking_tokens ' +
        'thoughts_token_count output_token_details.reasoning outputTokenDetails.reasoningTokens ' +
        'experimental.reasoning_tokens',
    ],
    ['promptAudio', 'input_audio_tokens prompt_details.audio input_token_details.audio_tokens'],
    ['completionAudio', 'output_audio_tokens completion_details.audio'],
    ['promptImage', 'input_image_tokens'],
    [
      undefined,
      'custom1 details.requests cache_audio_read_tokens input_text_tokens tokens_per_second ' +
        'experimental.reasoning_tokens_limit cache_hit_ratio accepted_prediction_tokens max_input_tokens',
    ],
  ])('%s', (role, names) => {
    const roles = names.split(' ').map((name) => [name, countRole(name)])
    expect(roles).toEqual(names.split(' ').map((name) => [name, role]))
  })
})

describe('prompts are stored with what was read from and written to a cache', () => {
  const counts = (
    input: number,
    read: number,
    written: number,
    output: number,
    total?: number,
  ) => ({
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.cache_read_tokens': read,
    'gen_ai.usage.cache_write_tokens': written,
    ...(total !== undefined && { 'gen_ai.usage.total_tokens': total }),
  })

  test.each<[what: string, attributes: Attributes, prompt: number, total: number]>([
    ['a total without them says that they are within', counts(100, 40, 10, 7, 107), 100, 107],
    ['a total with them says that they are apart', counts(100, 40, 10, 7, 157), 150, 157],
    ['a total with those that were read alone', counts(100, 40, 0, 7, 147), 140, 147],
    ['more than the prompt are apart', counts(5, 4000, 10, 7), 4015, 4022],
    ['more than the prompt are apart, whatever the total', counts(5, 4000, 10, 7, 12), 4015, 4022],
    [
      'no total, and fewer than the prompt: within',
      counts(130213, 128955, 1253, 100),
      130213,
      130313,
    ],
    ['a total that fits nothing says nothing', counts(100, 40, 10, 7, 500), 100, 500],
  ])('%s', (_, attributes, prompt_tokens, tokens) => {
    const { 'gen_ai.usage.cache_read_tokens': read, 'gen_ai.usage.cache_write_tokens': written } =
      attributes
    expect(metricsOf(attributes)).toEqual({
      prompt_tokens,
      completion_tokens: attributes['gen_ai.usage.output_tokens'],
      tokens,
      prompt_cached_tokens: read,
      prompt_cache_creation_tokens: written,
    })
  })

  test('uncached tokens tell the same as a total', () => {
    const v6 = {
      'ai.usage.inputTokens': 100,
      'ai.usage.outputTokens': 7,
      'ai.usage.totalTokens': 107,
      'ai.usage.inputTokenDetails.noCacheTokens': 50,
      'ai.usage.inputTokenDetails.cacheReadTokens': 40,
      'ai.usage.inputTokenDetails.cacheWriteTokens': 10,
    }
    expect(metricsOf(v6)).toMatchObject({ prompt_tokens: 100, prompt_cached_tokens: 40 })
    expect(metricsOf({ ...v6, 'ai.usage.inputTokenDetails.noCacheTokens': 100 })).toMatchObject({
      prompt_tokens: 150,
    })
  })

  test('writes are told apart by how long they are kept', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 18, ephemeral_1h_input_tokens: 12 },
      output_tokens: 4,
    }
    expect(metricsOf({ 'langsmith.usage_metadata': JSON.stringify(usage) })).toEqual({
      prompt_tokens: 40,
      completion_tokens: 4,
      tokens: 44,
      prompt_cached_tokens: 0,
      prompt_cache_creation_tokens: 30,
      prompt_cache_creation_5m_tokens: 18,
      prompt_cache_creation_1h_tokens: 12,
    })
  })
})

describe('completions are stored with what was reasoned', () => {
  const counts = (output: number, reasoning: number, total?: number) => ({
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.reasoning_tokens': reasoning,
    ...(total !== undefined && { 'gen_ai.usage.total_tokens': total }),
  })

  test.each<[what: string, attributes: Attributes, completion: number, total: number]>([
    ['a total without it says that it is within', counts(60, 50, 160), 60, 160],
    ['a total with it says that it is apart', counts(10, 50, 160), 60, 160],
    ['more than the completion is apart', counts(10, 50), 60, 160],
    ['no total, and less than the completion: within', counts(60, 50), 60, 160],
  ])('%s', (_, attributes, completion_tokens, tokens) => {
    expect(metricsOf(attributes)).toMatchObject({ completion_tokens, tokens })
  })

  test('with a cache that is apart, too', () => {
    const usage = { ...counts(10, 50, 200), 'gen_ai.usage.cache_read_tokens': 40 }
    expect(metricsOf(usage)).toMatchObject({ prompt_tokens: 140, completion_tokens: 60 })
  })

  test("Google's agents count thoughts apart", () => {
    const attributes = { ...counts(60, 50), 'gen_ai.system': 'gcp.vertex.agent' }
    expect(metricsOf(attributes)).toMatchObject({ completion_tokens: 110, tokens: 210 })
  })
})

describe('counts under several names are one', () => {
  test('and names that say something else stay in the metadata', () => {
    const row = rowOf({
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.prompt_tokens': 100,
      'gen_ai.usage.details.input_tokens': 60,
      'gen_ai.usage.details.requests': 2,
      'ai.usage.inputTokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gen_ai.usage.details.cache_read_tokens': 40,
      'gen_ai.usage.note': 'estimated',
    })
    expect(row.metrics).toEqual({ prompt_tokens: 100, tokens: 100, prompt_cached_tokens: 40 })
    expect(row.metadata).toEqual({
      'gen_ai.usage.details.input_tokens': 60,
      'gen_ai.usage.details.requests': 2,
      'gen_ai.usage.note': 'estimated',
    })
  })

  test('whatever the names are, no number is lost', () => {
    const names = [
      ...['input_tokens', 'prompt_tokens', 'output_tokens', 'completion_tokens', 'total_tokens'],
      ...[
        'cache_read.input_tokens',
        'cache_read_tokens',
        'cache_write_tokens',
        'cost',
        'total_cost',
      ],
      ...[
        'details.input_tokens',
        'details.cached_tokens',
        'reasoning_tokens',
        'custom',
        'details.x',
      ],
    ]
    const prefixes = ['gen_ai.usage.', 'llm.usage.', 'ai.usage.', 'gen_ai.cost.']
    const attribute = fc.tuple(fc.constantFrom(...prefixes), fc.constantFrom(...names))
    const attributes = fc.dictionary(
      attribute.map(([prefix, name]) => prefix + name),
      fc.integer({ min: 1, max: 1000 }),
    )
    fc.assert(
      fc.property(attributes, (given) => {
        const { metrics = {}, metadata = {} } = rowOf(given) as Record<string, object>
        const stored = new Set<unknown>(Object.values(metrics))
        for (const [name, value] of Object.entries(given)) {
          const left = (metadata as Record<string, unknown>)[name]
          // Prompts and completions may have got what was apart.
          const isCounted = stored.has(value) || /input|prompt|output|completion|total/.test(name)
          expect(left === value || isCounted).toBe(true)
        }
      }),
      { seed },
    )
  })

  test('what is no number that a double can hold is no count', () => {
    const intValue = '9'.repeat(400)
    const sent = { key: 'gen_ai.usage.input_tokens', value: { intValue } }
    const row = rowOf(
      {},
      { attributes: [sent, { key: 'llm.usage.x', value: { doubleValue: 'NaN' } }] },
    )
    expect(row.metrics).toBeUndefined()
    expect(row.metadata).toEqual({
      'gen_ai.usage.input_tokens': BigInt(intValue),
      'llm.usage.x': 'NaN',
    })
  })

  test('metrics that a program gives itself are as given', () => {
    const metrics = JSON.stringify({ prompt_tokens: 1, prompt_cached_tokens: 5 })
    const attributes = { 'braintrust.metrics': metrics, 'gen_ai.usage.input_tokens': 100 }
    expect(metricsOf(attributes)).toMatchObject({ prompt_tokens: 1, prompt_cached_tokens: 5 })
  })

  test('objects in JSON keep what is not counted', () => {
    const metrics = { prompt_tokens: 5, completion_tokens: 7, ttft: 0.25, request_id: 'r' }
    const row = rowOf({ 'lk.llm_metrics': JSON.stringify(metrics) })
    expect(row).toMatchObject({
      span_attributes: { type: 'llm' },
      metrics: { prompt_tokens: 5, completion_tokens: 7, tokens: 12, time_to_first_token: 0.25 },
      metadata: { 'lk.llm_metrics': { ttft: 0.25, request_id: 'r' } },
    })
  })
})

describe('a cost that a span brings', () => {
  test.each<[attributes: Attributes, cost: object]>([
    [{ 'gen_ai.usage.cost': 0.5 }, { estimated_cost: 0.5 }],
    [{ 'gen_ai.usage.total_cost': '0.5' }, { estimated_cost: 0.5 }],
    [
      { 'gen_ai.cost.total_cost': 0.5, 'gen_ai.cost.input_cost': 0.2 },
      { estimated_cost: 0.5, prompt_cost: 0.2 },
    ],
    [{ 'gen_ai.cost.total_tokens': 0.5 }, { estimated_cost: 0.5 }],
    [{ 'gen_ai.cost.usd': 0.5 }, { estimated_cost: 0.5 }],
    [{ 'llm.cost.total': 0.5 }, { estimated_cost: 0.5 }],
    [
      { 'llm.cost.prompt': 0.5, 'llm.cost.completion': 0.25 },
      { estimated_cost: 0.75, prompt_cost: 0.5, completion_cost: 0.25 },
    ],
    [{ 'operation.cost': 0.5 }, { estimated_cost: 0.5 }],
    [
      { 'langfuse.observation.cost_details': '{"input":0.2,"output":0.2,"total":0.5}' },
      { estimated_cost: 0.5, prompt_cost: 0.2, completion_cost: 0.2 },
    ],
    [
      { 'langfuse.observation.cost_details': '{"input":0.25,"input_cache_read":0.25}' },
      { estimated_cost: 0.5, prompt_cost: 0.25 },
    ],
    [{ 'langsmith.usage_metadata': '{"total_cost":"0.5"}' }, { estimated_cost: 0.5 }],
    [{ 'langsmith.usage_metadata': '{"total_cost":5.0e-06}' }, { estimated_cost: 0.000005 }],
    [
      { 'mlflow.llm.cost': '{"input_cost":0.1,"output_cost":0.4,"total_cost":0.5}' },
      { estimated_cost: 0.5, prompt_cost: 0.1, completion_cost: 0.4 },
    ],
    [
      { 'ai.response.providerMetadata': '{"openrouter":{"usage":{"cost":0.5,"promptTokens":3}}}' },
      { estimated_cost: 0.5 },
    ],
    [
      { 'ai.response.providerMetadata': '{"gateway":{"cost":"0.5","routing":{"cost":9}}}' },
      { estimated_cost: 0.5 },
    ],
  ])('%j', (attributes, cost) => {
    expect(metricsOf(attributes)).toEqual(cost)
  })

  test('is no cost where it is a word', () => {
    const row = rowOf({ 'operation.cost': 'high' })
    expect(row).toMatchObject({ metadata: { 'operation.cost': 'high' } })
    expect(row.metrics).toBeUndefined()
  })
})
