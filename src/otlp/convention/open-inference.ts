import { isObject, type JsonObject, type Value } from '../../type/value.ts'
import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import { readJsonText } from '../json-text.ts'
import type { RecordDraft } from '../record-draft.ts'

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
  ['PROMPT', 'function'],
])

/** OpenInference, as Arize's instrumentations send it. */
export function readOpenInference(reader: AttributeReader, draft: RecordDraft): void {
  const kind = reader.take('openinference.span.kind')
  const knownType = openInferenceTypes.get(typeof kind === 'string' ? kind.toUpperCase() : kind)
  draft.type ??= knownType
  if (knownType === 'score') draft.setScorer()
  if (knownType === undefined) draft.setMetadata('openinference.span.kind', kind)
  draft.setInput(messagesOf(reader.takeTree('llm.input_messages.')))
  draft.setOutput(messagesOf(reader.takeTree('llm.output_messages.')))
  for (const side of ['input', 'output'] as const) {
    const mimeType = reader.take(`${side}.mime_type`)
    const name = `${side}.value`
    const read = mimeType === 'text/plain' ? reader.take(name) : reader.takeJson(name)
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
  const metadata = reader.takeJson('metadata')
  if (metadata !== null && isObject(metadata)) draft.addAll('metadata', metadata)
  else draft.setMetadata('metadata', metadata)
  draft.setTags('tag.tags', reader.takeJson('tag.tags'))
}

/** Items of its lists are wrapped in objects of one member; messages leave as models take them. */
function messagesOf(list: Value): Value {
  if (!Array.isArray(list)) return list
  return list.map((item: Value) => {
    const { message } = objectOf(item)
    return message !== undefined && isObject(message) ? messageOf(message) : item
  })
}

function messageOf({ contents, tool_calls, ...message }: JsonObject): JsonObject {
  const calls = Array.isArray(tool_calls)
    ? tool_calls.map((item: Value) => objectOf(item).tool_call ?? item)
    : undefined
  const parts = Array.isArray(contents) ? contents.flatMap((item) => partsOf(item, calls)) : []
  return {
    ...message,
    ...(parts.length > 0 && { [message.content === undefined ? 'content' : 'contents']: parts }),
    ...(calls && { tool_calls: calls }),
  }
}

/** A call stands in the list of calls as well. */
function partsOf(item: Value, calls: readonly Value[] | undefined): readonly Value[] {
  const { message_content: content, ...others } = objectOf(item)
  if (content === undefined || !isObject(content)) return [item]
  if (others.tool_call !== undefined && calls) return []
  return [{ ...content, ...others }]
}

function toolOf(item: Value): Value {
  const { tool } = objectOf(item)
  return readJsonText(objectOf(tool ?? null).json_schema ?? item)
}
