import type { Value } from '../../type/value.ts'
import type { AttributeReader } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const spanTypes: ReadonlyMap<Value, string> = new Map([
  ['LLM', 'llm'],
  ['CHAT_MODEL', 'llm'],
  ['TOOL', 'tool'],
  ['EVALUATOR', 'score'],
  ['RETRIEVER', 'function'],
  ['EMBEDDING', 'function'],
  ['RERANKER', 'function'],
  ['PARSER', 'function'],
  ['GUARDRAIL', 'function'],
  ['AGENT', 'task'],
  ['CHAIN', 'task'],
  ['WORKFLOW', 'task'],
  ['TASK', 'task'],
])

/** `mlflow.*`. All values are JSON, texts too: MLflow writes them so. */
export function readMlflow(reader: AttributeReader, draft: RecordDraft): void {
  if (reader.namesFrom('mlflow.').length === 0) return
  const kind = reader.takeAnyJson('mlflow.spanType')
  const type = spanTypes.get(kind)
  draft.type ??= type
  if (type === 'score') draft.setScorer()
  if (type === undefined) draft.setMetadata('mlflow.spanType', kind)
  draft.setInput(reader.takeAnyJson('mlflow.spanInputs'))
  draft.setOutput(reader.takeAnyJson('mlflow.spanOutputs'))
  draft.setMetadata('model', reader.takeAnyJson('mlflow.llm.model'))
  draft.setMetadata('provider', reader.takeAnyJson('mlflow.llm.provider'))
  draft.setMetadata('tools', reader.takeAnyJson('mlflow.chat.tools'))
}
