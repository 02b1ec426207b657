/** Of problems, so many are told one by one. */
const reportedProblems = 5

const longestProblem = 500

/** What is told to the sender of a request: how much of it is not stored and why, and what is not as it was sent. */
export class ExportReport {
  #rejected = 0
  /** By what is wrong: what it is wrong with first, and how often it is. */
  readonly #problems = new Map<string, { readonly called: string; count: number }>()
  readonly #remarks = new Set<string>()

  /** Spans or log records that are not stored. */
  get rejected(): number {
    return this.#rejected
  }

  /** @param count so many spans or log records at once */
  reject(called: string, problem: string, count = 1): void {
    this.#rejected += count
    const known = this.#problems.get(problem)
    if (known) known.count += count
    else this.#problems.set(problem, { called, count })
  }

  /** What is stored, and not as it was sent. */
  remark(text: string): void {
    this.#remarks.add(text)
  }

  /** Empty when there is nothing to tell. */
  get message(): string {
    const problems = Array.from(this.#problems, ([problem, { called, count }]) => {
      const others = count === 1 ? '' : ` and ${count - 1} more`
      return `${called}${others}: ${problem}`
    })
    const told = [...problems, ...this.#remarks]
    const shown = told.slice(0, reportedProblems).map((text) => text.slice(0, longestProblem))
    const left = told.length - shown.length
    return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')
  }
}
