import type { Value } from '../../type/value.ts'
import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import type { RecordDraft } from '../record-draft.ts'

/** `braintrust.*`: what a program says of its records itself, before everything else. */
export function readBraintrust(reader: AttributeReader, draft: RecordDraft): void {
  draft.setInput(reader.takeJson('braintrust.input_json', 'braintrust.input'))
  draft.setOutput(reader.takeJson('braintrust.output_json', 'braintrust.output'))
  draft.expected = reader.takeJson('braintrust.expected_json', 'braintrust.expected')
  draft.error = reader.takeJson('braintrust.error')
  const tags = reader.takeJson('braintrust.tags')
  draft.tags = typeof tags === 'string' ? [tags] : tags
  for (const field of ['metadata', 'metrics', 'scores'] as const) {
    const members = {
      ...Object.fromEntries(reader.takeAll(`braintrust.${field}.`)),
      ...objectOf(reader.takeJson(`braintrust.${field}`)),
    }
    for (const [name, value] of Object.entries(members)) {
      // A score or metric that is no number must not make the whole span fail.
      if (field === 'metadata' || isNumeric(value)) draft.addAll(field, { [name]: value })
      else draft.setMetadata(`braintrust.${field}.${name}`, value)
    }
  }
  draft.addAll('context', objectOf(reader.takeJson('braintrust.context_json')))
  const { type, ...attributes } = objectOf(reader.takeJson('braintrust.span_attributes'))
  const { type: flatType, ...flat } = Object.fromEntries(
    reader.takeAll('braintrust.span_attributes.'),
  )
  const given = type ?? flatType
  if (typeof given === 'string') draft.type = given
  draft.addAll('spanAttributes', attributes)
  draft.addAll('spanAttributes', flat)
}

function isNumeric(value: Value): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
}
