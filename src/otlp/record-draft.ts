import type { JsonObject, Value } from '../type/value.ts'

/** What is known of a record so far. What is set first stays: the surest sources are asked first. */
export class RecordDraft {
  input: Value = null
  output: Value = null
  expected: Value = null
  error: Value = null
  tags: Value = null
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

  setMetadata(name: string, value: Value | undefined): void {
    setOnce(this.metadata, name, value)
  }

  setMetric(name: string, value: number | undefined): void {
    setOnce(this.metrics, name, value)
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
}

function setOnce(fields: Record<string, Value>, name: string, value: Value | undefined): void {
  if (value === undefined || value === null || Object.hasOwn(fields, name)) return
  Object.defineProperty(fields, name, { value, enumerable: true, writable: true })
}

function isNothing(value: Value): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}
