import type { AttributeReader } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

/** Pydantic AI, as Logfire has it, beyond what it says in `gen_ai.*`. */
export function readPydanticAi(reader: AttributeReader, draft: RecordDraft, scope: string): void {
  if (scope !== 'pydantic-ai' && reader.peek('logfire.msg') === null) return
  if (reader.peek('agent_name') !== null) draft.type ??= 'task'
  if (reader.peek('tool_arguments') !== null || reader.peek('tool_response') !== null) {
    draft.type ??= 'tool'
  }
  draft.setInput(reader.takeJson('tool_arguments'))
  draft.setOutput(reader.takeJson('tool_response'))
  draft.setInput(reader.takeJson('pydantic_ai.all_messages', 'all_messages_events', 'events'))
  draft.setOutput(reader.takeJson('final_result'))
  draft.setMetadata('agent_name', reader.take('agent_name'))
}
