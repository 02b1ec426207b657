/** Masks the rows of a body before anything else is done with them. */
import { LRUCache } from 'lru-cache'
import { AssayError } from '../../error.ts'
import type { ByteWriter } from '../../json/byte-writer.ts'
import type { JsonScanner } from '../../json/scan.ts'
import { decodeUtf8, requireUtf8 } from '../../json/utf8.ts'
import { Edits } from '../../masking/edits.ts'
import { Masker } from '../../masking/masker.ts'
import type { MaskingRules } from '../../masking/rule.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import type { ObjectReference } from '../../type/record.ts'
import { openBody } from './open-body.ts'
import { findObject, type NamedObject, noObject } from './prepare-object.ts'

/** The rules that hold for the rows of a request. */
export interface RowMasking {
  /** Plans with the same one are equal. */
  readonly version: string
  readonly sets: readonly MaskingRules[]
  /** Which set is for an object, by `objectKey`; those that are not named have no rules. */
  readonly setOf: Readonly<Record<string, number>>
}

export interface RowsForm {
  readonly form: 'logs3' | 'events'
  readonly object?: ObjectReference
}

export interface MaskedBody {
  readonly body: Uint8Array
  /** Values that were changed. */
  readonly count: number
}

export function objectKey({ type, id }: ObjectReference): string {
  return `${type}:${id}`
}

/** Compiled rules that a thread keeps. */
const maskers = new LRUCache<string, Masker>({ max: 64 })

/** The compiled rules of a set. */
export function maskerOf({ version, sets }: RowMasking, set: number): Masker {
  const key = `${version}/${set}`
  let masker = maskers.get(key)
  if (!masker) {
    masker = new Masker(sets[set]!)
    maskers.set(key, masker)
  }
  return masker
}

/**
 * The body with its rows masked; itself where nothing is to be. A body that is no JSON, or has no rows, is left to
 * whoever reads it next, which refuses it.
 *
 * @param out what the masked body is written to
 */
export function maskBody(
  body: Uint8Array,
  form: RowsForm,
  masking: RowMasking,
  out?: ByteWriter,
): MaskedBody {
  const edits = new Edits()
  const begun = new Set<Masker>()
  let last: ObjectReference | undefined
  let masker: Masker | undefined
  eachRow(body, form, (start, object) => {
    if (!object) return undefined
    // Rows of one form have one object, which is not looked up for each.
    if (object !== last) {
      last = object
      const set = masking.setOf[objectKey(object)]
      masker = set === undefined ? undefined : maskerOf(masking, set)
      if (masker && !begun.has(masker)) masker.begin(body, edits)
      if (masker) begun.add(masker)
    }
    return masker?.row(start, object.type === 'dataset')
  })
  for (const masker of begun) masker.end()
  const { length: count } = edits
  return { body: count === 0 ? body : edits.apply(body, 0, body.length, out), count }
}

/** The objects that the rows of a body name. */
export function namedObjects(body: Uint8Array): ObjectReference[] {
  const found = new Map<string, ObjectReference>()
  eachRow(body, { form: 'logs3' }, (_, object) => {
    if (object) found.set(objectKey(object), object)
    return undefined
  })
  return [...found.values()]
}

/** Calls `visit` with each row, which returns where the row ends if it has read it. */
export function eachRow(
  body: Uint8Array,
  { form, object }: RowsForm,
  visit: (start: number, object: ObjectReference | undefined) => number | undefined,
): void {
  requireUtf8(body)
  const scanner = openBody(body)
  const member = form === 'logs3' ? 'rows' : 'events'
  const readRows = () => {
    while (scanner.nextElement()) {
      scanner.peek()
      const start = scanner.position
      const end = visit(start, object ?? objectOf(scanner))
      scanner.position = start
      if (end === undefined) scanner.value()
      else scanner.position = end
    }
  }
  if (form === 'logs3' && scanner.openArray()) {
    readRows()
    return
  }
  if (!scanner.openObject()) return
  while (scanner.nextMember()) {
    const name = JSON.parse(decodeUtf8(body, scanner.keyStart, scanner.keyEnd)) as string
    if (name === member && scanner.openArray()) readRows()
    else scanner.value()
  }
}

/** Of the row at which the scanner is; undefined where it names none, or several, which whoever reads it refuses. */
function objectOf(scanner: JsonScanner): ObjectReference | undefined {
  const named = noObject()
  if (!scanner.openObject()) return undefined
  while (scanner.nextMember()) {
    const member = objectMember(scanner)
    const start = scanner.value()
    if (member) named[member] = parseJsonBytes(scanner.bytes, start, scanner.position)
  }
  try {
    return findObject(named, '')
  } catch (thrown) {
    if (thrown instanceof AssayError) return undefined
    throw thrown
  }
}

const objectMembers: ReadonlySet<string> = new Set(Object.keys(noObject()))
const longestMember = 200

/** The member's name if it is one of those that name an object. */
function objectMember({ bytes, keyStart, keyEnd }: JsonScanner): keyof NamedObject | undefined {
  // All end with a "d", which may be spelled as an escape.
  const isPlain = bytes[keyEnd - 2] === 0x64
  if (!isPlain && (bytes[keyEnd - 7] !== 0x5c || keyEnd - keyStart > longestMember))
    return undefined
  const name = JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)) as string
  return objectMembers.has(name) ? (name as keyof NamedObject) : undefined
}
