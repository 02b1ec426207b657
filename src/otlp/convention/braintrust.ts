import { isObject, type JsonObject, type Value } from '../../type/value.ts'
import { type AttributeReader, objectOf } from '../attribute-reader.ts'
import { isExact, isNumber } from '../exact-number.ts'
import type { RecordDraft } from '../record-draft.ts'

/** `braintrust.*`: what a program says of its records itself, before everything else. */
export function readBraintrust(reader: AttributeReader, draft: RecordDraft): void {
  draft.setInput(fieldOf(reader, 'input'))
  draft.setOutput(fieldOf(reader, 'output'))
  // The SDKs for Go, Java and Ruby write it as JSON, but leave the name as it is.
  draft.expected =
    reader.takeAnyJson('braintrust.expected_json') ?? reader.takeJsonOrText('braintrust.expected')
  const origin = fieldOf(reader, 'origin')
  if (isObject(origin)) draft.origin = origin
  else draft.setMetadata('braintrust.origin', origin)
  draft.error = fieldOf(reader, 'error')
  draft.setTags('braintrust.tags', fieldOf(reader, 'tags'))
  for (const field of ['metadata', 'metrics', 'scores'] as const) {
    for (const [name, value] of Object.entries(membersOf(reader, field, draft))) {
      // A score or metric that is no number must not make the whole span fail.
      if (field === 'metadata' || isNumeric(value)) draft.addAll(field, { [name]: value })
      else draft.setMetadata(`braintrust.${field}.${name}`, value)
    }
  }
  draft.addAll('context', membersOf(reader, 'context', draft))
  const { type, ...attributes } = membersOf(reader, 'span_attributes', draft)
  if (typeof type === 'string') draft.type = type
  else draft.setMetadata('braintrust.span_attributes.type', type)
  draft.addAll('spanAttributes', attributes)
}

/** `…_json` is JSON of any type; without it, texts that are objects or arrays are read as such. */
function fieldOf(reader: AttributeReader, field: string): Value {
  const exact = reader.takeAnyJson(`braintrust.${field}_json`)
  const loose = reader.takeJson(`braintrust.${field}`)
  return exact ?? loose
}

/** Of an object, and of attributes that each are one member; what is no object is metadata. */
function membersOf(reader: AttributeReader, field: string, draft: RecordDraft): JsonObject {
  const given = fieldOf(reader, field)
  const isOther = given !== null && (!isObject(given) || isExact(given))
  if (isOther) draft.setMetadata(`braintrust.${field}`, given)
  const single = Object.fromEntries(reader.takeAll(`braintrust.${field}.`))
  return { ...single, ...objectOf(given) }
}

function isNumeric(value: Value): boolean {
  return isNumber(value) || typeof value === 'boolean'
}
