/** Finds what a parent names, that spans are to be part of: an object, and perhaps a span of it. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import { AssayError } from '../../../error.ts'
import type { Attributes } from '../../../otlp/decode.ts'
import type { OuterSpan } from '../../../otlp/span-to-row.ts'
import type { ObjectType } from '../../../type/record.ts'
import { parseSpanSlug } from '../../../type/span-slug.ts'

/** How a row of `/logs3` names its object. */
export type RowObject = Readonly<Record<string, string>>

export interface SpanParent {
  readonly object: RowObject
  /** The object's number. */
  readonly number: number
  readonly span: OuterSpan | undefined
}

const prefixes: ReadonlyMap<string, ObjectType> = new Map([
  ['experiment_id', 'experiment'],
  ['project_id', 'project_logs'],
  ['playground_id', 'playground_logs'],
  ['prompt_session_id', 'playground_logs'],
])

/**
 * Reads `project_id:…`, `project_name:…`, `experiment_id:…`, `playground_id:…` or an exported span. A
 * project of a new name is made. Throws what is wrong with it.
 */
export async function resolveParent(text: string, gate: Gate): Promise<SpanParent> {
  const [, prefix, name] = text.trim().match(/^([a-z_]+):(.+)$/s) ?? []
  if (prefix === 'project_name') {
    const { entry } = await gate.findOrCreate('project', { name: name! })
    return { ...writable('project_logs', entry.id, gate), span: undefined }
  }
  const type = prefixes.get(prefix ?? '')
  if (type) return { ...writable(type, name!, gate), span: undefined }
  if (prefix !== undefined) {
    throw new AssayError('REQUEST_INVALID', `"${prefix}" is no kind of parent`, {
      hint: `use project_name, ${[...prefixes.keys()].join(', ')}, or what span.export() gives`,
    })
  }
  const { objectTypes, objectId, objectArguments, span } = parseSpanSlug(text.trim())
  const [first] = objectTypes
  const id = objectId ?? (await registeredId(first!, objectArguments ?? {}, gate))
  const known = objectTypes.find((candidate) => gate.writable(candidate, id)) ?? first!
  return { ...writable(known, id, gate), span }
}

/** The id of an object that the sender had not registered yet when it exported the span. */
async function registeredId(
  type: ObjectType,
  { project_id: id, project_name: name }: Readonly<Record<string, unknown>>,
  gate: Gate,
): Promise<string> {
  if (type === 'project_logs' && typeof id === 'string') return id
  if (type === 'project_logs' && typeof name === 'string') {
    return (await gate.findOrCreate('project', { name })).entry.id
  }
  throw new AssayError('REQUEST_INVALID', 'the exported span names no object')
}

function writable(type: ObjectType, id: string, gate: Gate): Omit<SpanParent, 'span'> {
  const found = gate.writable(type, id)
  if (!found) throw missingAccess('update', type, id)
  return { object: rowObject(type, id), number: found.number }
}

function rowObject(type: ObjectType, id: string): RowObject {
  switch (type) {
    case 'experiment':
      return { experiment_id: id }
    case 'playground_logs':
      return { prompt_session_id: id }
    default:
      return { project_id: id, log_id: 'g' }
  }
}

/** What spans and log records belong to: they say so themselves, or their process does, or the request. */
export class Parents {
  readonly #gate: Gate
  readonly #header: string | undefined
  readonly #known = new Map<string, SpanParent | AssayError>()

  constructor(gate: Gate, header: string | undefined) {
    this.#gate = gate
    this.#header = header
  }

  /** An error when it names none, or one that may not be written to. */
  async of({
    attributes,
    resource,
  }: {
    readonly attributes: Attributes
    readonly resource: Attributes
  }): Promise<SpanParent | AssayError> {
    const given =
      textOf(attributes.get('braintrust.parent')) ??
      textOf(resource.get('braintrust.parent')) ??
      this.#header
    if (given === undefined) {
      return new AssayError(
        'REQUEST_INVALID',
        'there is a span or a log record that names no project or experiment',
        {
          hint: 'send the header x-bt-parent, or the attribute braintrust.parent',
        },
      )
    }
    const known = this.#known.get(given)
    if (known) return known
    const found = await resolveParent(given, this.#gate).catch((thrown: unknown) => {
      if (thrown instanceof AssayError && thrown.family === 'user') return thrown
      throw thrown
    })
    this.#known.set(given, found)
    return found
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
