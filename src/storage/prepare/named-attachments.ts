/** Finds which attachments the rows of a request name, and in which object each of the rows is. */
import { AssayError } from '../../error.ts'
import { hasMoreValues } from '../../json/count-values.ts'
import type { JsonScanner } from '../../json/scan.ts'
import type { ObjectReference } from '../../type/record.ts'
import { openBody } from './open-body.ts'
import { findObject, noObject } from './prepare-object.ts'

export interface NamedAttachments {
  readonly object: ObjectReference
  readonly keys: readonly string[]
}

interface RowsText {
  readonly body: Uint8Array
  readonly options: {
    readonly form: 'logs3' | 'events'
    /** The object of all rows; without it each names its own. */
    readonly object?: ObjectReference
  }
}

const attachmentType = 'braintrust_attachment'

/** Of a row that is parsed to find what it names. */
const mostValues = 1_000_000

function tooManyValues(): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `a row that names attachments has more than ${mostValues.toLocaleString('en')} values`,
    { hint: 'log the attachments in rows of their own' },
  )
}

/**
 * The attachments that rows name which can be written. Nothing is parsed but rows that have the word. Throws where one
 * of these has too many values.
 */
export function namedAttachments({
  body,
  options: { form, object },
}: RowsText): NamedAttachments[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (!bytes.includes(attachmentType)) return []
  const found = new Map<string, { object: ObjectReference; keys: Set<string> }>()
  for (const { start, end } of rowSpans(openBody(bytes), form)) {
    const text = bytes.subarray(start, end)
    if (!text.includes(attachmentType)) continue
    if (hasMoreValues(bytes, mostValues, start, end)) throw tooManyValues()
    const row = JSON.parse(text.toString()) as Readonly<Record<string, unknown>>
    const keys = [...keysIn(row)]
    if (keys.length === 0) continue
    const of = object ?? objectOf(row)
    const name = `${of.type}:${of.id}`
    const known = found.get(name) ?? { object: of, keys: new Set() }
    found.set(name, known)
    for (const key of keys) known.keys.add(key)
  }
  return Array.from(found.values(), ({ object, keys }) => ({ object, keys: [...keys] }))
}

/** Where the rows of a body are, one after the other. */
function* rowSpans(
  scanner: JsonScanner,
  form: 'logs3' | 'events',
): Generator<{ readonly start: number; readonly end: number }> {
  function* elements() {
    while (scanner.nextElement()) {
      const start = scanner.position
      scanner.value()
      yield { start, end: scanner.position }
    }
  }
  if (form === 'logs3' && scanner.openArray()) {
    yield* elements()
    return
  }
  const member = form === 'logs3' ? '"rows"' : '"events"'
  if (!scanner.openObject()) return
  while (scanner.nextMember()) {
    const isRows = Buffer.from(member).equals(
      scanner.bytes.subarray(scanner.keyStart, scanner.keyEnd),
    )
    if (isRows && scanner.openArray()) yield* elements()
    else scanner.value()
  }
}

function objectOf(row: Readonly<Record<string, unknown>>): ObjectReference {
  const named = Object.keys(noObject()).map((name) => [name, row[name] ?? null])
  return findObject(Object.fromEntries(named) as ReturnType<typeof noObject>, 'row')
}

function* keysIn(value: unknown): Generator<string> {
  const open: unknown[] = [value]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue
    const { type, key } = one as { readonly type?: unknown; readonly key?: unknown }
    if (type === attachmentType && typeof key === 'string') yield key
    for (const inner of Object.values(one)) if (typeof inner === 'object') open.push(inner)
  }
}
