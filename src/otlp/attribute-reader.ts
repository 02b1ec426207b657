import { parseJson } from '../type/parse-json.ts'
import { isObject, type JsonObject, type Value } from '../type/value.ts'
import type { Attributes } from './decode.ts'

/** A tree with arrays where its names are numbers: what flattened attributes were made from. */
type Branch = Map<string, Branch | Value>

/**
 * The attributes of a span, taken one by one by those who know what they mean. What nobody takes is
 * left for the metadata, under its own name.
 */
export class AttributeReader {
  readonly #attributes: Map<string, Value>

  constructor(attributes: Attributes) {
    this.#attributes = new Map(attributes)
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

  takeNumber(...names: readonly string[]): number | undefined {
    const value = this.take(...names)
    if (typeof value === 'number') return value
    if (typeof value !== 'string' || value.trim() === '') return undefined
    const number = Number(value)
    return Number.isFinite(number) ? number : undefined
  }

  /** As `take`, and a text that is an object or array in JSON becomes that. */
  takeJson(...names: readonly string[]): Value {
    return readJsonText(this.take(...names))
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

/** A text that is an object or array in JSON as what it says, anything else as it is. */
export function readJsonText(value: Value): Value {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseJson(value)
  } catch {
    return value
  }
}

export function objectOf(value: Value): JsonObject {
  return value !== null && isObject(value) ? value : {}
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
