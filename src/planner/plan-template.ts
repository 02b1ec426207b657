/**
 * One plan for queries that differ in one id only: `id = '…'`. The plan is made with another id in that
 * place, and wherever that id stands in the plan, the wanted one is put when the plan is used.
 *
 * That is right only if nothing depends on which id it is, which is checked, not assumed: the id of
 * the first such query is put into the plan, and what comes must equal the plan made for that query.
 * No rule can tell later ids apart, because the field is named once in the text and so the id is
 * compared with nothing but the field.
 */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

/** A text with one id cut out. */
export interface CutText {
  /** The texts of queries that differ in the id only have the same. */
  readonly before: string
  readonly after: string
  readonly id: string
}

/** `id = '…'`, the id without quotes, escapes or anything else that a string might hold. */
const comparison = /(?<![\w."`'])(id|span_id|root_span_id)\s*=\s*(['"])([\w.:-]{8,64})\2(?!\2)/

/** Each field as a word, anywhere. */
const fieldWords = new Map(
  ['id', 'span_id', 'root_span_id'].map((field) => [field, new RegExp(`\\b${field}\\b`)]),
)

export function cutId(text: string): CutText | undefined {
  const match = comparison.exec(text)
  if (!match) return undefined
  const [whole, field, , id] = match
  const start = match.index + whole.length - 1 - id!.length
  const before = text.slice(0, start)
  const after = text.slice(start + id!.length)
  // The field is named nowhere else, nor is the id.
  if (fieldWords.get(field!)!.test(before.slice(0, match.index) + after)) return undefined
  return before.includes(id!) || after.includes(id!) ? undefined : { before, after, id: id! }
}

/** An id that no query has by chance, as long as the given one, so that places in the text agree. */
export function otherId(id: string): string {
  return randomBytes(id.length).toString('hex').slice(0, id.length)
}

type Step = string | number

/** Puts ids into copies of a value that has `hole` in some places. */
export class Template<Value extends object> {
  readonly #value: Value
  readonly #places: readonly (readonly Step[])[]

  private constructor(value: Value, places: readonly (readonly Step[])[]) {
    this.#value = value
    this.#places = places
  }

  /**
   * A template of `value`, which was made with `hole` for an id; undefined when more than strings that
   * are the id depend on it.
   *
   * @param example what was made with the id `exampleId`
   */
  static of<Value extends object>(
    value: Value,
    hole: string,
    example: Value,
    exampleId: string,
  ): Template<Value> | undefined {
    const places: Step[][] = []
    if (!findHoles(value, hole, [], places)) return undefined
    const template = new Template(value, places)
    return isDeepStrictEqual(template.with(exampleId), example) ? template : undefined
  }

  /** The value with `id` in the places; what has none of them is shared. */
  with(id: string): Value {
    let value: unknown = this.#value
    const copied = new Set<object>()
    for (const place of this.#places) value = put(value, place, 0, id, copied)
    return value as Value
  }
}

/** Deeper than any plan: what is nested deeper is not searched, and has no template. */
const deepest = 60

/** False when the hole is part of something else, or may be where it is not found. */
function findHoles(value: unknown, hole: string, path: Step[], places: Step[][]): boolean {
  if (typeof value === 'string') {
    if (value === hole) places.push([...path])
    return value === hole || !value.includes(hole)
  }
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (path.length > deepest || ArrayBuffer.isView(value)) return false
  const isPlain = Object.getPrototypeOf(value) === Object.prototype
  if (!Array.isArray(value) && !isPlain) return !JSON.stringify(value)?.includes(hole)
  for (const [name, member] of Object.entries(value)) {
    path.push(name)
    const isFound = findHoles(member, hole, path, places)
    path.pop()
    if (!isFound) return false
  }
  return true
}

/** A copy of `value` with `id` in the place; what `copied` has is ours to change. */
function put(
  value: unknown,
  place: readonly Step[],
  depth: number,
  id: string,
  copied: Set<object>,
): unknown {
  if (depth === place.length) return id
  const original = value as Record<Step, unknown>
  let copy = original
  if (!copied.has(original)) {
    copy = (Array.isArray(value) ? value.slice() : { ...original }) as Record<Step, unknown>
    copied.add(copy)
  }
  const step = place[depth]!
  copy[step] = put(copy[step], place, depth + 1, id, copied)
  return copy
}
