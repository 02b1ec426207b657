/** A span of a trace, as far as trees and comparisons of traces show it. */
export interface TraceSpan {
  /** Of the record. */
  readonly id: string
  readonly spanId: string
  readonly parents: readonly string[]
  readonly name: string
  readonly type: string
  /** In seconds since 1970; NaN if nothing says it. */
  readonly start: number
  readonly end: number
  /** In seconds. */
  readonly duration: number | undefined
  readonly hasFailed: boolean
  readonly scores: readonly (readonly [name: string, score: number])[]
  /** Usage that spans below it report, too: it adds nothing to the trace's. */
  readonly isRepeated: boolean
  readonly tokens: number
  /** Of what answered; undefined where no model did. */
  readonly model: string | undefined
  /** Seconds until the first token came. */
  readonly firstToken: number | undefined
  /** In dollars. */
  readonly cost: number
}
