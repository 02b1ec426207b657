/** Finds which attachments the rows of a request name, and in which object each of the rows is. */
import { setImmediate } from 'node:timers/promises'
import { AssayError } from '../error.ts'
import { hasMoreValues } from '../json/count-values.ts'
import { JsonScanner } from '../json/scan.ts'
import { findObject, noObject } from '../storage/prepare/prepare-object.ts'
import type { ObjectReference } from '../type/record.ts'

export interface NamedAttachments {
  readonly object: ObjectReference
  readonly keys: ReadonlySet<string>
}

/** Rows that are to be written. */
export interface WrittenRows {
  readonly body: Uint8Array
  readonly form: 'logs3' | 'events'
  /** The object of all of them; without it each row names its own. */
  readonly object?: ObjectReference
}

const attachmentType = 'braintrust_attachment'

/** Read at a time, before others have their turn: some ten milliseconds. */
const bytesPerTurn = 4 * 1024 * 1024

/** Of a row that is parsed to find what it names. */
const mostValues = 1_000_000

function tooManyValues(): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `a row that names attachments has more than ${mostValues.toLocaleString('en')} values`,
    { hint: 'log the attachments in rows of their own' },
  )
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof AssayError && thrown.code === 'REQUEST_TOO_LARGE'
}

export function mayNameAttachments(body: Uint8Array): boolean {
  return bytesOf(body).includes(attachmentType)
}

/** Nothing is parsed but rows that have the word. Rows that cannot be read will not be written. */
export async function namedAttachments({
  body,
  form,
  object,
}: WrittenRows): Promise<NamedAttachments[]> {
  const bytes = bytesOf(body)
  const found = new Map<string, { object: ObjectReference; keys: Set<string> }>()
  try {
    let turnEnds = bytesPerTurn
    for (const { start, end } of rowSpans(bytes, form)) {
      if (start > turnEnds) {
        turnEnds = start + bytesPerTurn
        await setImmediate()
      }
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
  } catch (thrown) {
    const isUnreadable = thrown instanceof SyntaxError || thrown instanceof AssayError
    if (isUnreadable && !isTooLarge(thrown)) return []
    throw thrown
  }
  return [...found.values()]
}

function bytesOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.length)
}

/** Where the rows of a body are, one after the other. */
function* rowSpans(
  bytes: Uint8Array,
  form: WrittenRows['form'],
): Generator<{ readonly start: number; readonly end: number }> {
  const scanner = new JsonScanner(bytes)
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
    const isRows = Buffer.from(member).equals(bytes.subarray(scanner.keyStart, scanner.keyEnd))
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
