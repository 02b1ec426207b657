import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

/** `mastra.*`, beyond what Mastra says in `gen_ai.*`. */
export function readMastra(reader: AttributeReader, draft: RecordDraft): void {
  const kind = reader.peek('mastra.span.type')
  if (typeof kind !== 'string') return
  reader.take('mastra.span.type')
  draft.type ??= typeOf(kind)
  if (draft.type === 'score') draft.setScorer()
  draft.setMetadata('mastra.span.type', kind)
  draft.setInput(reader.takeJson(`mastra.${kind}.input`, 'mastra.input'))
  draft.setOutput(reader.takeJson(`mastra.${kind}.output`, 'mastra.output'))
  for (const [name, value] of reader.takeAll('mastra.metadata.')) draft.setMetadata(name, value)
  draft.addAll('metadata', objectOf(reader.takeJson('mastra.metadata')))
}

/** Kinds have been added with each version, and are named alike. */
function typeOf(kind: string): string {
  if (/^model_(generation|step|inference)$/.test(kind)) return 'llm'
  if (/tool_call/.test(kind)) return 'tool'
  if (/^(eval|score)/.test(kind)) return 'score'
  return /^(processor|embedding|rag|retriev)/.test(kind) ? 'function' : 'task'
}
