/** What the operators of a plan did when it ran. */

/**
 * Names an operator within its plan: `scan`, `filter 0` (the first predicate, and so on), `unpivot`,
 * `sink` (what makes groups, or keeps rows in order), `merge`, `stage 0` (the first of `stages`, and
 * so on), `print`; `metadata` is what was answered without reading, and `text index` what was counted
 * without.
 */
export type OperatorName = string

export interface OperatorMetrics {
  readonly operator: OperatorName
  readonly rowsIn: number
  readonly rowsOut: number
  /** Bytes of columns and rows that were read for it; of those printed, for `print`. */
  readonly bytes: number
  /** Of all tasks together. */
  readonly milliseconds: number
}

export interface OperatorProfile extends OperatorMetrics {
  /** How many tasks ran it. */
  readonly tasks: number
}

/** Parts of segments that were not read, by what ruled them out. */
export interface SkippedRange {
  readonly by: string
  /** Whole segments, and granules of those and of others. */
  readonly segments: number
  readonly granules: number
  readonly rows: number
}

export class PlanProfile {
  readonly #operators = new Map<OperatorName, OperatorProfile>()
  readonly #skipped = new Map<string, SkippedRange>()

  /** In the order in which they ran first. */
  get operators(): readonly OperatorProfile[] {
    return [...this.#operators.values()]
  }

  get skipped(): readonly SkippedRange[] {
    return [...this.#skipped.values()]
  }

  operator(name: OperatorName): OperatorProfile | undefined {
    return this.#operators.get(name)
  }

  /** Adds what one task did. */
  add(metrics: OperatorMetrics): void {
    const { operator, ...more } = metrics
    const known = this.#operators.get(operator)
    this.#operators.set(operator, {
      operator,
      rowsIn: more.rowsIn + (known?.rowsIn ?? 0),
      rowsOut: more.rowsOut + (known?.rowsOut ?? 0),
      bytes: more.bytes + (known?.bytes ?? 0),
      milliseconds: more.milliseconds + (known?.milliseconds ?? 0),
      tasks: 1 + (known?.tasks ?? 0),
    })
  }

  skip({ by, segments, granules, rows }: SkippedRange): void {
    const known = this.#skipped.get(by)
    this.#skipped.set(by, {
      by,
      segments: segments + (known?.segments ?? 0),
      granules: granules + (known?.granules ?? 0),
      rows: rows + (known?.rows ?? 0),
    })
  }
}
