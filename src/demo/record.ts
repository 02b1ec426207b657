/** The records that are generated, as a client would send them. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export interface JsonMap {
  [key: string]: Json
}

export interface SpanRecord {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents: readonly string[] | null
  readonly created: string
  readonly span_attributes: {
    readonly name: string
    readonly type: string
    readonly purpose?: string
  }
  readonly input: Json
  readonly output: Json
  readonly expected?: Json
  readonly error?: Json
  readonly metadata: JsonMap
  readonly scores?: { readonly [name: string]: number | null }
  readonly metrics: { readonly [name: string]: number }
  readonly tags?: readonly string[]
  readonly context?: JsonMap
  readonly origin?: JsonMap
}

export interface DatasetRecord {
  readonly id: string
  readonly created: string
  /** No other record has the order. */
  readonly input: { readonly question: string; readonly locale: string; readonly order: string }
  readonly expected: string
  readonly metadata: JsonMap & { readonly difficulty: number }
  readonly tags?: readonly string[]
}
