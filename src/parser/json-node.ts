/** Reads parts of a JSON value strictly; what is wrong is told with the place that it is at. */
import { AssayError, type Span } from '../error.ts'
import { ExactNumber, isJsonObject } from '../json/exact-number.ts'
import { suggest } from './suggest.ts'
import { maximumNesting } from './token-stream.ts'

/** A value inside the query of a request, and the path to it: `query.filter.left`. */
export class JsonNode {
  readonly value: unknown
  readonly path: string
  readonly #depth: number

  constructor(value: unknown, path: string, depth = 0) {
    this.value = value
    this.path = path
    this.#depth = depth
    if (depth > maximumNesting) throw tooDeep(path)
  }

  get span(): Span {
    return { start: 0, end: 0, path: this.path }
  }

  /** What is under a key; undefined when it is absent or null. */
  optional(key: string): JsonNode | undefined {
    const object = this.#object()
    const value = Object.hasOwn(object, key) ? object[key] : undefined
    return value === undefined || value === null ? undefined : this.#child(value, `.${key}`)
  }

  /** What is under a key, null included. */
  required(key: string): JsonNode {
    const object = this.#object()
    if (Object.hasOwn(object, key)) return this.#child(object[key], `.${key}`)
    throw new AssayError('REQUEST_INVALID', `${this.path} has no "${key}"`, { path: this.path })
  }

  get isObject(): boolean {
    return isJsonObject(this.value)
  }

  get isNumber(): boolean {
    return typeof this.value === 'number' || this.value instanceof ExactNumber
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#object(), key)
  }

  /** Refuses keys that are not known; positions (`loc`) may stand anywhere. */
  only(known: readonly string[]): void {
    for (const key of Object.keys(this.#object())) {
      if (key === 'loc' || known.includes(key)) continue
      const near = suggest(key, known)
      const hint = near === undefined ? `keys are ${known.join(', ')}` : `did you mean "${near}"?`
      const message = `${this.path} has an unknown key "${key.slice(0, 60)}"`
      throw new AssayError('REQUEST_INVALID', message, { path: this.path, hint })
    }
  }

  items(): JsonNode[] {
    if (!Array.isArray(this.value)) throw this.expected('an array')
    return this.value.map((item, i) => this.#child(item, `[${i}]`))
  }

  entries(): [string, JsonNode][] {
    return Object.entries(this.#object()).map(([key, value]) => [
      key,
      this.#child(value, `.${key.slice(0, 60)}`),
    ])
  }

  text(): string {
    if (typeof this.value === 'string') return this.value
    throw this.expected('a string')
  }

  /** @param least what it must not be below */
  integer(least = Number.MIN_SAFE_INTEGER): number {
    const value = this.isNumber ? Number(this.value) : Number.NaN
    if (!Number.isSafeInteger(value)) throw this.expected('a whole number')
    if (value < least) throw this.expected(`at least ${least}`)
    return value
  }

  number(): number {
    if (this.isNumber) return Number(this.value)
    throw this.expected('a number')
  }

  boolean(): boolean {
    if (typeof this.value === 'boolean') return this.value
    throw this.expected('true or false')
  }

  oneOf<Name extends string>(names: readonly Name[]): Name {
    const text = this.text()
    const name = names.find((candidate) => candidate === text)
    if (name !== undefined) return name
    const near = suggest(text, names)
    const shown = JSON.stringify(text.slice(0, 60))
    throw new AssayError('REQUEST_INVALID', `${this.path} cannot be ${shown}`, {
      path: this.path,
      hint: near === undefined ? `it is one of ${names.join(', ')}` : `did you mean "${near}"?`,
    })
  }

  expected(what: string): AssayError {
    const { value } = this
    return new AssayError(
      'REQUEST_INVALID',
      `${this.path} must be ${what}, and is ${kindOf(value)}`,
      {
        path: this.path,
      },
    )
  }

  #object(): Record<string, unknown> {
    if (!this.isObject) throw this.expected('an object')
    return this.value as Record<string, unknown>
  }

  #child(value: unknown, step: string): JsonNode {
    const path = this.path === '' ? step.replace('.', '') : this.path + step
    return new JsonNode(value, path, this.#depth + 1)
  }
}

export function tooDeep(path: string): AssayError {
  return new AssayError(
    'PARSE_TOO_DEEP',
    `the query is nested too deeply: at most ${maximumNesting} levels are taken`,
    {
      path: path.slice(0, 200),
      hint: 'what "and" or "or" joins may be one list of children',
    },
  )
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return String(value)
  return value instanceof ExactNumber ? value.text.slice(0, 60) : `of type ${typeof value}`
}
