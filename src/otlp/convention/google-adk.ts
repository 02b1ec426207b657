import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

const prefix = 'gcp.vertex.agent.'

/** `gcp.vertex.agent.*`: Google's Agent Development Kit, beyond what it says in `gen_ai.*`. */
export function readGoogleAdk(reader: AttributeReader, draft: RecordDraft): void {
  if (reader.namesFrom(prefix).length === 0) return
  const request = reader.takeJson(`${prefix}llm_request`)
  const response = reader.takeJson(`${prefix}llm_response`)
  // Spans around tools have both, empty.
  if (Object.keys(objectOf(request)).length > 0) {
    draft.type ??= 'llm'
    draft.setInput(request)
    draft.setOutput(response)
    draft.setMetadata('model', objectOf(request).model)
  }
  draft.setInput(reader.takeJson(`${prefix}tool_call_args`))
  draft.setOutput(reader.takeJson(`${prefix}tool_response`))
}
