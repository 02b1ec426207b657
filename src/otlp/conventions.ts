/**
 * What attributes of several instrumentations mean for a record. Each function takes the attributes of
 * one convention; a later one only fills in what the ones before it have left open.
 */
import { isObject, type Value } from '../type/value.ts'
import { type AttributeReader, objectOf, readJsonText } from './attribute-reader.ts'
import type { RecordDraft } from './record-draft.ts'
import type { OtlpEvent } from './span.ts'

/** `braintrust.*`: what a program says of its records itself, before everything else. */
export function readBraintrust(reader: AttributeReader, draft: RecordDraft): void {
  draft.setInput(reader.takeJson('braintrust.input_json', 'braintrust.input'))
  draft.setOutput(reader.takeJson('braintrust.output_json', 'braintrust.output'))
  draft.expected = reader.takeJson('braintrust.expected_json', 'braintrust.expected')
  draft.error = reader.takeJson('braintrust.error')
  const tags = reader.takeJson('braintrust.tags')
  draft.tags = typeof tags === 'string' ? [tags] : tags
  for (const field of ['metadata', 'metrics', 'scores'] as const) {
    const members = {
      ...Object.fromEntries(reader.takeAll(`braintrust.${field}.`)),
      ...objectOf(reader.takeJson(`braintrust.${field}`)),
    }
    for (const [name, value] of Object.entries(members)) {
      // A score or metric that is no number must not make the whole span fail.
      if (field === 'metadata' || isNumeric(value)) draft.addAll(field, { [name]: value })
      else draft.setMetadata(`braintrust.${field}.${name}`, value)
    }
  }
  draft.addAll('context', objectOf(reader.takeJson('braintrust.context_json')))
  const { type, ...attributes } = objectOf(reader.takeJson('braintrust.span_attributes'))
  const { type: flatType, ...flat } = Object.fromEntries(
    reader.takeAll('braintrust.span_attributes.'),
  )
  const given = type ?? flatType
  if (typeof given === 'string') draft.type = given
  draft.addAll('spanAttributes', attributes)
  draft.addAll('spanAttributes', flat)
}

function isNumeric(value: Value): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
}

const requestParameters = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'seed',
  'stop_sequences',
  'frequency_penalty',
  'presence_penalty',
  'choice.count',
  'stream',
] as const

const operationTypes: ReadonlyMap<Value, string> = new Map([
  ['chat', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'task'],
  ['create_agent', 'task'],
  ['invoke_workflow', 'task'],
  ['embeddings', 'function'],
  ['retrieval', 'function'],
])

/** `gen_ai.*`: OpenTelemetry's own conventions, with the names that they had before. */
export function readGenAi(reader: AttributeReader, draft: RecordDraft): void {
  const operation = reader.take('gen_ai.operation.name')
  draft.type ??= operationTypes.get(operation)
  draft.setMetadata('operation_name', operation)
  const system = reader.takeJson('gen_ai.system_instructions')
  const messages = reader.takeJson('gen_ai.input.messages')
  if (operation === 'execute_tool') {
    draft.setInput(reader.takeJson('gen_ai.tool.call.arguments'))
    draft.setOutput(reader.takeJson('gen_ai.tool.call.result'))
  }
  draft.setInput(withSystem(system, messages))
  draft.setInput(firstOf(reader.takeTree('gen_ai.prompt.'), reader.takeJson('gen_ai.prompt')))
  draft.setOutput(reader.takeJson('gen_ai.output.messages'))
  draft.setOutput(
    firstOf(reader.takeTree('gen_ai.completion.'), reader.takeJson('gen_ai.completion')),
  )
  const requestModel = reader.take('gen_ai.request.model')
  const responseModel = reader.take('gen_ai.response.model')
  draft.setMetadata('model', requestModel ?? responseModel)
  draft.setMetadata('response_model', responseModel)
  draft.setMetadata('provider', reader.take('gen_ai.provider.name', 'gen_ai.system'))
  for (const name of requestParameters) {
    draft.setMetadata(name.replace('.', '_'), reader.take(`gen_ai.request.${name}`))
  }
  draft.setMetadata('finish_reasons', reader.takeJson('gen_ai.response.finish_reasons'))
  draft.setMetadata('response_id', reader.take('gen_ai.response.id'))
  for (const name of [
    'conversation.id',
    'agent.id',
    'agent.name',
    'agent.version',
    'workflow.name',
    'prompt.name',
    'tool.name',
    'tool.type',
    'tool.description',
    'tool.call.id',
  ]) {
    draft.setMetadata(name.replaceAll('.', '_'), reader.take(`gen_ai.${name}`))
  }
  draft.setMetadata('tools', reader.takeJson('gen_ai.tool.definitions'))
  readGenAiUsage(reader, draft)
  draft.setMetric('time_to_first_token', reader.takeNumber('gen_ai.response.time_to_first_chunk'))
  readEvaluation((name) => reader.take(`gen_ai.evaluation.${name}`), draft)
}

function readGenAiUsage(reader: AttributeReader, draft: RecordDraft): void {
  const usage = (...names: readonly string[]) =>
    reader.takeNumber(...names.map((name) => `gen_ai.usage.${name}`))
  const prompt = usage('input_tokens', 'prompt_tokens')
  const completion = usage('output_tokens', 'completion_tokens')
  draft.setMetric('prompt_tokens', prompt)
  draft.setMetric('completion_tokens', completion)
  draft.setMetric('tokens', usage('total_tokens') ?? sumOf(prompt, completion))
  draft.setMetric(
    'prompt_cached_tokens',
    usage('cache_read.input_tokens', 'cache_read_input_tokens'),
  )
  draft.setMetric(
    'prompt_cache_creation_tokens',
    usage('cache_creation.input_tokens', 'cache_creation_input_tokens'),
  )
  draft.setMetric(
    'completion_reasoning_tokens',
    usage('reasoning.output_tokens', 'reasoning_tokens'),
  )
}

/** A score, and what was said with it. */
function readEvaluation(take: (name: string) => Value, draft: RecordDraft): void {
  const name = take('name')
  if (typeof name !== 'string') return
  const score = take('score.value')
  if (typeof score === 'number') draft.setScore(name, score)
  draft.setMetadata(`${name}_label`, take('score.label'))
  draft.setMetadata(`${name}_explanation`, take('explanation'))
}

/** Prompts, answers and evaluations that come as events of the span. Returns the other events. */
export function readGenAiEvents(events: readonly OtlpEvent[], draft: RecordDraft): OtlpEvent[] {
  const messages: Value[] = []
  const choices: Value[] = []
  const others = events.filter(({ name, attributes }) => {
    const take = (attribute: string) => readJsonText(attributes.get(attribute) ?? null)
    const role = name.match(/^gen_ai\.(system|user|assistant|tool)\.message$/)?.[1]
    if (role !== undefined) messages.push({ role, ...Object.fromEntries(readable(attributes)) })
    else if (name === 'gen_ai.choice') choices.push(Object.fromEntries(readable(attributes)))
    else if (name === 'gen_ai.content.prompt') draft.setInput(take('gen_ai.prompt'))
    else if (name === 'gen_ai.content.completion') draft.setOutput(take('gen_ai.completion'))
    else if (name === 'gen_ai.client.inference.operation.details') {
      draft.setInput(withSystem(take('gen_ai.system_instructions'), take('gen_ai.input.messages')))
      draft.setOutput(take('gen_ai.output.messages'))
    } else if (name === 'gen_ai.evaluation.result') {
      readEvaluation((member) => attributes.get(`gen_ai.evaluation.${member}`) ?? null, draft)
    } else return true
    return false
  })
  draft.setInput(messages.length > 0 ? messages : null)
  draft.setOutput(choices.length > 0 ? choices : null)
  return others
}

function readable(attributes: ReadonlyMap<string, Value>): [string, Value][] {
  return Array.from(attributes)
    .filter(([name]) => name !== 'gen_ai.system')
    .map(([name, value]) => [name, readJsonText(value)])
}

const openInferenceTypes: ReadonlyMap<Value, string> = new Map([
  ['LLM', 'llm'],
  ['TOOL', 'tool'],
  ['CHAIN', 'task'],
  ['AGENT', 'task'],
  ['RETRIEVER', 'function'],
  ['RERANKER', 'function'],
  ['EMBEDDING', 'function'],
  ['GUARDRAIL', 'function'],
  ['EVALUATOR', 'score'],
])

/** OpenInference, as Arize's instrumentations send it. */
export function readOpenInference(reader: AttributeReader, draft: RecordDraft): void {
  const kind = reader.take('openinference.span.kind')
  const knownType = openInferenceTypes.get(typeof kind === 'string' ? kind.toUpperCase() : kind)
  draft.type ??= knownType
  if (knownType === undefined) draft.setMetadata('openinference.span.kind', kind)
  draft.setInput(messagesOf(reader.takeTree('llm.input_messages.')))
  draft.setOutput(messagesOf(reader.takeTree('llm.output_messages.')))
  for (const side of ['input', 'output'] as const) {
    const mimeType = reader.take(`${side}.mime_type`)
    const value = reader.take(`${side}.value`)
    const read = mimeType === 'text/plain' ? value : readJsonText(value)
    if (side === 'input') draft.setInput(read)
    else draft.setOutput(read)
  }
  draft.setMetadata('model', reader.take('llm.model_name', 'embedding.model_name'))
  draft.setMetadata('provider', reader.take('llm.provider', 'llm.system'))
  const parameters = reader.takeJson('llm.invocation_parameters')
  if (parameters !== null && isObject(parameters)) draft.addAll('metadata', parameters)
  else draft.setMetadata('llm.invocation_parameters', parameters)
  const tools = reader.takeTree('llm.tools.')
  draft.setMetadata('tools', Array.isArray(tools) ? tools.map(toolOf) : tools)
  const count = (name: string) => reader.takeNumber(`llm.token_count.${name}`)
  const prompt = count('prompt')
  const completion = count('completion')
  draft.setMetric('prompt_tokens', prompt)
  draft.setMetric('completion_tokens', completion)
  draft.setMetric('tokens', count('total') ?? sumOf(prompt, completion))
  draft.setMetric('prompt_cached_tokens', count('prompt_details.cache_read'))
  draft.setMetric('prompt_cache_creation_tokens', count('prompt_details.cache_write'))
  draft.setMetric('completion_reasoning_tokens', count('completion_details.reasoning'))
  draft.setMetric('estimated_cost', reader.takeNumber('llm.cost.total'))
  draft.setMetric('prompt_cost', reader.takeNumber('llm.cost.prompt'))
  draft.setMetric('completion_cost', reader.takeNumber('llm.cost.completion'))
  const metadata = reader.takeJson('metadata')
  if (metadata !== null && isObject(metadata)) draft.addAll('metadata', metadata)
  else draft.setMetadata('metadata', metadata)
  const tags = reader.takeJson('tag.tags')
  draft.tags ??= typeof tags === 'string' ? [tags] : tags
}

/** Each message is wrapped in an object of one member. */
function messagesOf(list: Value): Value {
  if (!Array.isArray(list)) return list
  return list.map((item: Value) => objectOf(item).message ?? item)
}

function toolOf(item: Value): Value {
  const { tool } = objectOf(item)
  return readJsonText(objectOf(tool ?? null).json_schema ?? item)
}

const traceloopTypes: ReadonlyMap<Value, string> = new Map([
  ['workflow', 'task'],
  ['task', 'task'],
  ['agent', 'task'],
  ['tool', 'tool'],
])

/** OpenLLMetry, beyond what it shares with `gen_ai.*`. */
export function readOpenLlmetry(reader: AttributeReader, draft: RecordDraft): void {
  const kind = reader.take('traceloop.span.kind')
  draft.type ??= traceloopTypes.get(kind)
  if (reader.take('llm.request.type') !== null) draft.type ??= 'llm'
  draft.setInput(reader.takeJson('traceloop.entity.input'))
  draft.setOutput(reader.takeJson('traceloop.entity.output'))
  draft.setMetadata('entity_name', reader.take('traceloop.entity.name'))
  draft.setMetadata('workflow_name', reader.take('traceloop.workflow.name'))
  for (const [name, value] of reader.takeAll('traceloop.association.properties.')) {
    draft.setMetadata(name, value)
  }
  draft.setMetric('tokens', reader.takeNumber('llm.usage.total_tokens'))
  draft.setMetadata('temperature', reader.take('llm.temperature'))
  draft.setMetadata('top_p', reader.take('llm.top_p'))
  draft.setMetadata('stream', reader.take('llm.is_streaming'))
}

const callOfModel = /\.do(Generate|Stream|Embed)$/

/** `ai.*`: the AI SDK of Vercel. */
export function readVercelAi(reader: AttributeReader, draft: RecordDraft): void {
  const operation = reader.peek('ai.operationId')
  if (typeof operation !== 'string') return
  reader.take('ai.operationId', 'operation.name')
  draft.setMetadata('operation_name', operation)
  const isCall = callOfModel.test(operation)
  if (operation === 'ai.toolCall') draft.type ??= 'tool'
  else if (isCall) draft.type ??= operation.endsWith('doEmbed') ? 'function' : 'llm'
  else draft.type ??= 'task'
  draft.setInput(reader.takeJson('ai.toolCall.args', 'ai.toolCall.input'))
  draft.setOutput(reader.takeJson('ai.toolCall.result', 'ai.toolCall.output'))
  draft.setMetadata('tool_name', reader.take('ai.toolCall.name'))
  draft.setMetadata('tool_call_id', reader.take('ai.toolCall.id'))
  draft.setInput(reader.takeJson('ai.prompt.messages', 'ai.prompt', 'ai.value', 'ai.values'))
  const text = reader.take('ai.response.text')
  const object = reader.takeJson('ai.response.object')
  const calls = reader.takeJson('ai.response.toolCalls')
  draft.setOutput(calls === null ? (object ?? text) : { text, tool_calls: calls })
  draft.setMetadata('model', reader.take('ai.model.id'))
  draft.setMetadata('provider', reader.take('ai.model.provider'))
  draft.setMetadata('response_model', reader.take('ai.response.model'))
  draft.setMetadata('response_id', reader.take('ai.response.id'))
  draft.setMetadata('finish_reasons', reader.take('ai.response.finishReason'))
  draft.setMetadata('tools', reader.takeJson('ai.prompt.tools'))
  draft.setMetadata('tool_choice', reader.takeJson('ai.prompt.toolChoice'))
  for (const [name, value] of reader.takeAll('ai.settings.')) draft.setMetadata(name, value)
  for (const [name, value] of reader.takeAll('ai.telemetry.metadata.'))
    draft.setMetadata(name, value)
  // The span around the calls repeats their sums, which a trace would then count twice.
  if (isCall) readVercelUsage(reader, draft)
}

function readVercelUsage(reader: AttributeReader, draft: RecordDraft): void {
  const usage = (...names: readonly string[]) =>
    reader.takeNumber(...names.map((name) => `ai.usage.${name}`))
  const prompt = usage('inputTokens', 'promptTokens', 'tokens')
  const completion = usage('outputTokens', 'completionTokens')
  draft.setMetric('prompt_tokens', prompt)
  draft.setMetric('completion_tokens', completion)
  draft.setMetric('tokens', usage('totalTokens') ?? sumOf(prompt, completion))
  draft.setMetric('prompt_cached_tokens', usage('cachedInputTokens'))
  draft.setMetric('completion_reasoning_tokens', usage('reasoningTokens'))
  const milliseconds = reader.takeNumber('ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk')
  draft.setMetric(
    'time_to_first_token',
    milliseconds === undefined ? undefined : milliseconds / 1e3,
  )
}

function withSystem(system: Value, messages: Value): Value {
  if (system === null) return messages
  const first: Value = Array.isArray(system)
    ? { role: 'system', parts: system as readonly Value[] }
    : { role: 'system', content: system }
  return [first, ...(Array.isArray(messages) ? (messages as readonly Value[]) : [])]
}

function sumOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}

function firstOf(...values: readonly Value[]): Value {
  return values.find((value) => value !== null) ?? null
}
