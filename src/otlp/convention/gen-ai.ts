import type { Value } from '../../type/value.ts'
import type { AttributeReader } from '../attribute-reader.ts'
import { readJsonText } from '../json-text.ts'
import type { RecordDraft } from '../record-draft.ts'
import type { OtlpEvent } from '../span.ts'

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

/** Operations of the conventions, and those that LiteLLM names after its own functions. */
const operationTypes: ReadonlyMap<Value, string> = new Map([
  ['chat', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['completion', 'llm'],
  ['acompletion', 'llm'],
  ['atext_completion', 'llm'],
  ['responses', 'llm'],
  ['aresponses', 'llm'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'task'],
  ['create_agent', 'task'],
  ['invoke_workflow', 'task'],
  ['embeddings', 'function'],
  ['embedding', 'function'],
  ['aembedding', 'function'],
  ['retrieval', 'function'],
  ['rerank', 'function'],
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
  draft.setMetric(
    'time_to_first_token',
    reader.takeNumber(
      'gen_ai.response.time_to_first_chunk',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.server.time_to_first_token',
    ),
  )
  readEvaluation((name) => reader.take(`gen_ai.evaluation.${name}`), draft)
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

const messageEvent = /^gen_ai\.(system|user|assistant|tool)\.message$/

/** Whether all that an event holds is a message of the prompt, or an answer. */
export function isGenAiMessage(name: string): boolean {
  return messageEvent.test(name) || name === 'gen_ai.choice'
}

/** Prompts, answers and evaluations that come as events of the span. Returns the other events. */
export function readGenAiEvents<Event extends Pick<OtlpEvent, 'name' | 'attributes'>>(
  events: readonly Event[],
  draft: RecordDraft,
): Event[] {
  const messages: Value[] = []
  const choices: Value[] = []
  const others = events.filter(({ name, attributes }) => {
    const take = (attribute: string) => readJsonText(attributes.get(attribute) ?? null)
    const role = name.match(messageEvent)?.[1]
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

/** What an event says of the span rather than of its message. */
const notOfMessage: readonly string[] = ['event.name', 'gen_ai.system', 'gen_ai.provider.name']

function readable(attributes: ReadonlyMap<string, Value>): [string, Value][] {
  return Array.from(attributes)
    .filter(([name]) => !notOfMessage.includes(name))
    .map(([name, value]) => [name, readJsonText(value)])
}

function withSystem(system: Value, messages: Value): Value {
  if (system === null) return messages
  const first: Value = Array.isArray(system)
    ? { role: 'system', parts: system as readonly Value[] }
    : { role: 'system', content: system }
  return [first, ...(Array.isArray(messages) ? (messages as readonly Value[]) : [])]
}

function firstOf(...values: readonly Value[]): Value {
  return values.find((value) => value !== null) ?? null
}
