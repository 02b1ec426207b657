import { isObject, type JsonObject, type Value } from '../type/value.ts'
import type { Remark } from './any-value.ts'
import type { Attributes } from './decode.ts'
import { isExact } from './exact-number.ts'
import { readAnyJson, readJsonExactly, readJsonOrText } from './json-text.ts'

/** A tree with arrays where its names are numbers: what flattened attributes were made from. */
type Branch = Map<string, Branch | Value>

/**
 * The attributes of a span, taken one by one by those who know what they mean. What nobody takes is
 * left for the metadata, under its own name.
 */
export class AttributeReader {
  readonly #attributes: Map<string, Value>
  readonly #remark: Remark

  /** @param remark told of what is not read as it was meant */
  constructor(attributes: Attributes, remark: Remark) {
    this.#attributes = new Map(attributes)
    this.#remark = remark
  }

  /** Reads and leaves. */
  peek(name: string): Value {
    return this.#attributes.get(name) ?? null
  }

  /** The first of the names that has a value; all of them are taken. */
  take(...names: readonly string[]): Value {
    let found: Value = null
    for (const name of names) {
      const value = this.#attributes.get(name) ?? null
      this.#attributes.delete(name)
      if (found === null && value !== '') found = value
    }
    return found
  }

  /** The first that is a number, or a text of one; what is neither is left. */
  takeNumber(...names: readonly string[]): number | undefined {
    let found: number | undefined
    for (const name of names) {
      const number = numberOf(this.peek(name))
      if (number === undefined) continue
      this.#attributes.delete(name)
      found ??= number
    }
    return found
  }

  /** As `take`, and a text that is an object or array in JSON becomes that. */
  takeJson(...names: readonly string[]): Value {
    const name = this.#firstOf(names)
    return readJsonExactly(this.take(...names), (text) =>
      this.#remark(`attribute "${name}" ${text}`),
    )
  }

  /** As `take`, and a text becomes what it is in JSON: `"a"` a text, `12` a number. */
  takeAnyJson(...names: readonly string[]): Value {
    const name = this.#firstOf(names)
    return readAnyJson(this.take(...names), (text) => this.#remark(`attribute "${name}" ${text}`))
  }

  /** As `takeAnyJson`, where a text that is not JSON is as good. */
  takeJsonOrText(name: string): Value {
    return readJsonOrText(this.take(name), (text) => this.#remark(`attribute "${name}" ${text}`))
  }

  /**
   * Takes all names that begin with `prefix` and puts the value together that they are the leaves of:
   * `m.0.role` and `m.0.content` are a list of one object. Null when there are none.
   */
  takeTree(prefix: string): Value {
    const root: Branch = new Map()
    for (const [name, value] of [...this.#attributes]) {
      if (!name.startsWith(prefix) || name.length === prefix.length) continue
      this.#attributes.delete(name)
      addLeaf(root, name.slice(prefix.length).split('.'), value)
    }
    return root.size === 0 ? null : built(root)
  }

  /** Names that begin with `prefix`; nothing is taken. */
  namesFrom(prefix: string): string[] {
    return [...this.#attributes.keys()].filter(
      (name) => name.startsWith(prefix) && name.length > prefix.length,
    )
  }

  #firstOf(names: readonly string[]): string {
    return names.find((name) => this.#attributes.has(name)) ?? ''
  }

  /** Takes all names that begin with `prefix`, by what follows it. */
  takeAll(prefix: string): Map<string, Value> {
    const taken = new Map<string, Value>()
    for (const [name, value] of [...this.#attributes]) {
      if (!name.startsWith(prefix) || name.length === prefix.length) continue
      this.#attributes.delete(name)
      taken.set(name.slice(prefix.length), value)
    }
    return taken
  }

  rest(): ReadonlyMap<string, Value> {
    return this.#attributes
  }
}

/** A number, or a text that is one, that a double can hold; undefined for anything else. */
export function numberOf(value: Value): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== ''
  if (!isText && typeof value !== 'number' && typeof value !== 'bigint') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

export function objectOf(value: Value): JsonObject {
  return value !== null && isObject(value) && !isExact(value) ? value : {}
}

/** A leaf whose name another goes through gives way to it, in whichever order they come. */
function addLeaf(branch: Branch, [name, ...rest]: readonly string[], value: Value): void {
  if (rest.length === 0) {
    if (!(branch.get(name!) instanceof Map)) branch.set(name!, value)
    return
  }
  let below = branch.get(name!)
  if (!(below instanceof Map)) {
    below = new Map()
    branch.set(name!, below)
  }
  addLeaf(below, rest, value)
}

function built(branch: Branch): Value {
  const entries = Array.from(
    branch,
    ([name, value]) => [name, value instanceof Map ? built(value) : value] as const,
  )
  if (!entries.every(([name]) => /^\d{1,9}$/.test(name))) return Object.fromEntries(entries)
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}
