import { isObject, type JsonObject, type Value } from '../type/value.ts'
import type { Attributes, Scope } from './decode.ts'

/** What is known of a record so far. What is set first stays: the surest sources are asked first. */
export class RecordDraft {
  input: Value = null
  output: Value = null
  expected: Value = null
  error: Value = null
  /** The record that it was made from, as of a dataset. */
  origin: Value = null
  #tags: readonly string[] | undefined
  /** Of the span: `llm`, `tool`, `task`, `function`, `score`, `eval`. */
  type: string | undefined
  readonly spanAttributes: Record<string, Value> = {}
  readonly metadata: Record<string, Value> = {}
  readonly metrics: Record<string, Value> = {}
  readonly scores: Record<string, Value> = {}
  readonly context: Record<string, Value> = {}

  setInput(value: Value): void {
    if (isNothing(this.input)) this.input = value
  }

  setOutput(value: Value): void {
    if (isNothing(this.output)) this.output = value
  }

  /** Tags are texts, in a list or one alone; what is none is kept in the metadata, under `name`. */
  setTags(name: string, value: Value): void {
    if (value === null) return
    const given: readonly Value[] = Array.isArray(value) ? value : [value]
    const tags = given.filter((tag) => typeof tag === 'string')
    if (tags.length < given.length || this.#tags) this.setMetadata(name, value)
    if (tags.length > 0) this.#tags ??= tags
  }

  setMetadata(name: string, value: Value | undefined): void {
    setOnce(this.metadata, name, value)
  }

  setMetric(name: string, value: number | undefined): void {
    setOnce(this.metrics, name, value)
  }

  /** The span is of what judges others: what it costs is not the application's. */
  setScorer(): void {
    setOnce(this.spanAttributes, 'purpose', 'scorer')
  }

  setScore(name: string, value: Value | undefined): void {
    setOnce(this.scores, name, value)
  }

  addAll(
    field: 'metadata' | 'metrics' | 'scores' | 'context' | 'spanAttributes',
    from: JsonObject,
  ) {
    for (const [name, value] of Object.entries(from)) setOnce(this[field], name, value)
  }

  /** What made the record, and where that ran. */
  addOrigin({ name, version }: Scope, resource: Attributes): void {
    const { context } = this
    if (name !== '') setOnce(context, 'scope', { name, ...(version !== '' && { version }) })
    if (resource.size > 0) setOnce(context, 'resource', Object.fromEntries(resource))
  }

  /** The fields that something is known of. */
  fields(): JsonObject {
    const { input, output, expected, error, origin, scores, metadata, metrics, context } = this
    const tags = this.#tags ?? null
    const about = { tags, origin, scores, metadata, metrics, context }
    const all = { input, output, expected, error, ...about }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => !isEmpty(value)))
  }
}

function isEmpty(value: Value): boolean {
  return isNothing(value) || (isObject(value) && Object.keys(value).length === 0)
}

function setOnce(fields: Record<string, Value>, name: string, value: Value | undefined): void {
  if (value === undefined || value === null || Object.hasOwn(fields, name)) return
  Object.defineProperty(fields, name, { value, enumerable: true, writable: true })
}

function isNothing(value: Value): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}
