import type { AttributeReader } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const callOfModel = /\.do(Generate|Stream|Embed|Rerank)$/
const callOfOther = /\.do(Embed|Rerank)$/

/** `ai.*`: the AI SDK of Vercel. */
export function readVercelAi(reader: AttributeReader, draft: RecordDraft): void {
  const operation = reader.peek('ai.operationId')
  if (typeof operation !== 'string') return
  reader.take('ai.operationId', 'operation.name')
  draft.setMetadata('operation_name', operation)
  if (operation === 'ai.toolCall') draft.type ??= 'tool'
  else if (callOfModel.test(operation)) {
    draft.type ??= callOfOther.test(operation) ? 'function' : 'llm'
  } else draft.type ??= 'task'
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
  const milliseconds = reader.takeNumber('ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk')
  draft.setMetric(
    'time_to_first_token',
    milliseconds === undefined ? undefined : milliseconds / 1e3,
  )
}
