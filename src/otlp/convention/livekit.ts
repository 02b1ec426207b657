import { type AttributeReader, numberOf, objectOf } from '../attribute-reader.ts'
import { readJsonText } from '../json-text.ts'
import type { RecordDraft } from '../record-draft.ts'

/** `lk.*`: LiveKit's agents, whose newer versions mark what people said with `lk.pii.`. */
export function readLiveKit(reader: AttributeReader, draft: RecordDraft): void {
  if (reader.namesFrom('lk.').length === 0) return
  const take = (name: string) => reader.takeJson(`lk.pii.${name}`, `lk.${name}`)
  if (reader.peek('lk.function_tool.name') !== null) {
    draft.type ??= 'tool'
    draft.setMetadata('tool_name', reader.take('lk.function_tool.name'))
    draft.setInput(take('function_tool.arguments'))
    draft.setOutput(take('function_tool.output'))
  }
  const metrics = objectOf(
    readJsonText(reader.peek('lk.llm_metrics') ?? reader.peek('lk.realtime_model_metrics')),
  )
  if (metrics.prompt_tokens !== undefined || metrics.input_tokens !== undefined)
    draft.type ??= 'llm'
  draft.setMetadata('model', objectOf(metrics.metadata ?? null).model_name)
  draft.setMetric('time_to_first_token', numberOf(metrics.ttft ?? null))
  draft.setInput(take('chat_ctx'))
  draft.setInput(take('user_input'))
  draft.setInput(take('input_text'))
  draft.setOutput(take('response.text'))
  draft.setOutput(take('user_transcript'))
}
