import type { Value } from '../../type/value.ts'
import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const observationTypes: ReadonlyMap<Value, string> = new Map([
  ['generation', 'llm'],
  ['embedding', 'function'],
  ['retriever', 'function'],
  ['guardrail', 'function'],
  ['tool', 'tool'],
  ['evaluator', 'score'],
  ['agent', 'task'],
  ['chain', 'task'],
  ['span', 'task'],
  ['event', 'task'],
])

/** `langfuse.*`: the SDKs of Langfuse. */
export function readLangfuse(reader: AttributeReader, draft: RecordDraft): void {
  if (reader.namesFrom('langfuse.').length === 0) return
  const kind = reader.take('langfuse.observation.type')
  const type = observationTypes.get(typeof kind === 'string' ? kind.toLowerCase() : kind)
  draft.type ??= type
  if (type === 'score') draft.setScorer()
  if (type === undefined) draft.setMetadata('langfuse.observation.type', kind)
  draft.setInput(reader.takeJson('langfuse.observation.input'))
  draft.setOutput(reader.takeJson('langfuse.observation.output'))
  draft.setInput(reader.takeJson('langfuse.trace.input'))
  draft.setOutput(reader.takeJson('langfuse.trace.output'))
  draft.setMetadata('model', reader.take('langfuse.observation.model.name'))
  draft.addAll('metadata', objectOf(reader.takeJson('langfuse.observation.model.parameters')))
  for (const of of ['observation', 'trace'] as const) {
    draft.addAll('metadata', objectOf(reader.takeJson(`langfuse.${of}.metadata`)))
    for (const [name, value] of reader.takeAll(`langfuse.${of}.metadata.`)) {
      draft.setMetadata(name, value)
    }
  }
  draft.setTags('langfuse.trace.tags', reader.takeJson('langfuse.trace.tags'))
  if (reader.peek('langfuse.observation.level') === 'ERROR') {
    draft.error ??= reader.take('langfuse.observation.status_message')
  }
}
