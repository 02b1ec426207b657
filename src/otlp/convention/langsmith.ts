import type { Value } from '../../type/value.ts'
import type { AttributeReader } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const runTypes: ReadonlyMap<Value, string> = new Map([
  ['llm', 'llm'],
  ['tool', 'tool'],
  ['chain', 'task'],
  ['retriever', 'function'],
  ['embedding', 'function'],
  ['prompt', 'function'],
  ['parser', 'function'],
])

/** `langsmith.*`: the SDKs of LangSmith. */
export function readLangSmith(reader: AttributeReader, draft: RecordDraft): void {
  if (reader.namesFrom('langsmith.').length === 0) return
  const kind = reader.take('langsmith.span.kind', 'langsmith.run_type')
  const type = runTypes.get(kind)
  draft.type ??= type
  if (type === undefined) draft.setMetadata('langsmith.span.kind', kind)
  draft.setInput(reader.takeJson('inputs'))
  draft.setOutput(reader.takeJson('outputs'))
  draft.setMetadata('model', reader.take('langsmith.metadata.ls_model_name'))
  draft.setMetadata('provider', reader.take('langsmith.metadata.ls_provider'))
  for (const [name, value] of reader.takeAll('langsmith.metadata.')) draft.setMetadata(name, value)
  const tags = reader.takeJson('langsmith.span.tags', 'langsmith.tags')
  // The SDKs put them into one text.
  const list = typeof tags === 'string' ? tags.split(',').map((tag) => tag.trim()) : tags
  draft.setTags('langsmith.span.tags', list)
}
