import type { Value } from '../../type/value.ts'
import type { AttributeReader } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const traceloopTypes: ReadonlyMap<Value, string> = new Map([
  ['workflow', 'task'],
  ['task', 'task'],
  ['agent', 'task'],
  ['tool', 'tool'],
])

/** Requests that are no calls of a language model. */
const requestTypes: ReadonlyMap<Value, string> = new Map([
  ['embedding', 'function'],
  ['rerank', 'function'],
])

/** OpenLLMetry, beyond what it shares with `gen_ai.*`. */
export function readOpenLlmetry(reader: AttributeReader, draft: RecordDraft): void {
  const kind = reader.take('traceloop.span.kind')
  draft.type ??= traceloopTypes.get(kind)
  const request = reader.take('llm.request.type')
  if (request !== null) draft.type ??= requestTypes.get(request) ?? 'llm'
  draft.setInput(reader.takeJson('traceloop.entity.input'))
  draft.setOutput(reader.takeJson('traceloop.entity.output'))
  draft.setMetadata('entity_name', reader.take('traceloop.entity.name'))
  draft.setMetadata('workflow_name', reader.take('traceloop.workflow.name'))
  for (const [name, value] of reader.takeAll('traceloop.association.properties.')) {
    draft.setMetadata(name, value)
  }
  draft.setMetadata('temperature', reader.take('llm.temperature'))
  draft.setMetadata('top_p', reader.take('llm.top_p'))
  draft.setMetadata('stream', reader.take('llm.is_streaming'))
}
