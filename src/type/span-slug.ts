/**
 * The text by which a span travels between programs (`span.export()`, the header `x-bt-parent`): base64
 * of a version, the type of the object, and what is known of object, row and span. There have been four
 * forms; every one is read.
 */
import { AssayError } from '../error.ts'

export type SlugObjectType = 'experiment' | 'project_logs' | 'playground_logs'

export interface SpanSlug {
  /** What the object may be: the first form was written with two numberings of the types. */
  readonly objectTypes: readonly SlugObjectType[]
  /** Undefined when the object is only described by `objectArguments`. */
  readonly objectId: string | undefined
  /** What the object would be registered with: `{"project_name": "…"}`. */
  readonly objectArguments: Readonly<Record<string, unknown>> | undefined
  readonly span: { readonly spanId: string; readonly rootSpanId: string } | undefined
}

const typesOfFirst: readonly (readonly SlugObjectType[])[] = [
  ['experiment'],
  ['experiment', 'project_logs'],
  ['project_logs'],
]

const typesOfLater: readonly (readonly SlugObjectType[])[] = [
  [],
  ['experiment'],
  ['project_logs'],
  ['playground_logs'],
]

const fieldNames = [undefined, 'object_id', 'row_id', 'span_id', 'root_span_id'] as const

/** Throws REQUEST_INVALID when the text is no such slug. */
export function parseSpanSlug(text: string): SpanSlug {
  const bytes = Buffer.from(text, 'base64')
  const isBase64 = /^[A-Za-z0-9+/_-]+=*$/.test(text)
  const numbering = bytes[0] === 1 ? typesOfFirst : typesOfLater
  const types = bytes.length < 3 ? [] : (numbering[bytes[1]!] ?? [])
  if (!isBase64 || types.length === 0) throw invalid(text)
  try {
    switch (bytes[0]) {
      case 1:
        return readFirst(bytes, types)
      case 2:
        return readSecond(bytes, types)
      case 3:
      case 4:
        return readFields(bytes, types)
      default:
        throw invalid(text)
    }
  } catch (cause) {
    throw invalid(text, cause)
  }
}

/** `[1, type, has row, row is UUID]`, object, then span and root if there is a row. */
function readFirst(bytes: Buffer, objectTypes: SpanSlug['objectTypes']): SpanSlug {
  const hasRow = bytes[2] === 1
  return {
    objectTypes,
    objectId: uuidAt(bytes, 4),
    objectArguments: undefined,
    span: hasRow ? { spanId: uuidAt(bytes, 20), rootSpanId: uuidAt(bytes, 36) } : undefined,
  }
}

/** `[2, type, has object, has arguments, has row, row is UUID]`, then what there is of them. */
function readSecond(bytes: Buffer, objectTypes: SpanSlug['objectTypes']): SpanSlug {
  let position = 6
  let objectId: string | undefined
  if (bytes[2] === 1) {
    objectId = uuidAt(bytes, position)
    position += 16
  }
  let objectArguments: SpanSlug['objectArguments']
  if (bytes[3] === 1) {
    const length = bytes.readInt32BE(position)
    position += 4
    objectArguments = objectOf(bytes.subarray(position, position + length).toString())
    position += length
  }
  const hasRow = bytes[4] === 1
  const span = hasRow
    ? { spanId: uuidAt(bytes, position), rootSpanId: uuidAt(bytes, position + 16) }
    : undefined
  return { objectTypes, objectId, objectArguments, span }
}

/** `[3 or 4, type, count]`, that many short fields, and JSON with the rest. */
function readFields(bytes: Buffer, objectTypes: SpanSlug['objectTypes']): SpanSlug {
  const isHex = bytes[0] === 4
  const fields: Record<string, unknown> = {}
  let position = 3
  for (let left = bytes[2]!; left > 0; left--) {
    const name = fieldNames[bytes[position++]!]
    if (name === undefined) throw new RangeError('unknown field')
    if (isHex) {
      const length = name === 'span_id' ? 8 : 16
      fields[name] = hexAt(bytes, position, length)
      position += length
    } else {
      fields[name] = uuidAt(bytes, position)
      position += 16
    }
  }
  const rest = bytes.subarray(position).toString()
  Object.assign(fields, rest === '' ? {} : objectOf(rest))
  const { object_id, span_id, root_span_id, compute_object_metadata_args } = fields
  const hasSpan = typeof span_id === 'string' && typeof root_span_id === 'string'
  return {
    objectTypes,
    objectId: typeof object_id === 'string' ? object_id : undefined,
    objectArguments: isRecord(compute_object_metadata_args)
      ? compute_object_metadata_args
      : undefined,
    span: hasSpan ? { spanId: span_id, rootSpanId: root_span_id } : undefined,
  }
}

function uuidAt(bytes: Buffer, position: number): string {
  const hex = hexAt(bytes, position, 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function hexAt(bytes: Buffer, position: number, length: number): string {
  if (position + length > bytes.length) throw new RangeError('the slug ends too early')
  return bytes.toString('hex', position, position + length)
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new TypeError('not an object')
  return value
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(text: string, cause?: unknown): AssayError {
  return new AssayError('REQUEST_INVALID', `"${text.slice(0, 100)}" is no exported span`, {
    ...(cause !== undefined && { cause }),
  })
}
