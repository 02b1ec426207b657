/** Which attachments the rows of a request name. */
import { AssayError } from '../../error.ts'
import { hasMoreValues } from '../../json/count-values.ts'
import type { ObjectReference } from '../../type/record.ts'
import { RowView } from '../row/row.ts'

export interface NamedAttachments {
  readonly object: ObjectReference
  readonly keys: readonly string[]
}

const attachmentType = 'braintrust_attachment'

/** Of a field that is parsed to find what it names. */
const mostValues = 1_000_000

function tooManyValues(): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `a row that names attachments has more than ${mostValues.toLocaleString('en')} values`,
    { hint: 'log the attachments in rows of their own' },
  )
}

/** Collects them, row by row. */
export class AttachmentNames {
  readonly #found = new Map<string, { object: ObjectReference; keys: Set<string> }>()

  /**
   * Adds what an encoded row of the object names. Nothing is parsed but fields that have the word. Throws where one of
   * these has too many values.
   */
  add(object: ObjectReference, row: Uint8Array): void {
    const view = new RowView(row)
    const { bytes } = view
    if (!bytes.includes(attachmentType)) return
    for (let i = 0; i < view.fieldCount; i++) {
      const { start, end } = view.valueAt(i)
      const text = bytes.subarray(start, end)
      if (!text.includes(attachmentType)) continue
      if (hasMoreValues(bytes, mostValues, start, end)) throw tooManyValues()
      for (const key of keysIn(JSON.parse(text.toString()))) this.#keysOf(object).add(key)
    }
  }

  list(): NamedAttachments[] {
    return Array.from(this.#found.values(), ({ object, keys }) => ({ object, keys: [...keys] }))
  }

  #keysOf(object: ObjectReference): Set<string> {
    const name = `${object.type}:${object.id}`
    const known = this.#found.get(name) ?? { object, keys: new Set() }
    this.#found.set(name, known)
    return known.keys
  }
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
