/** Steps of which it is told how long they took, and what they came to. */

interface Step {
  readonly name: string
  readonly seconds: number
  readonly note: string
}

export class TimedSteps {
  readonly #steps: Step[] = []
  readonly #title: string

  constructor(title: string) {
    this.#title = title
  }

  /** @param work gives what is said beside the seconds; nothing for nothing */
  async take(name: string, work: () => Promise<string | undefined>): Promise<void> {
    const begun = performance.now()
    const note = (await work()) ?? ''
    const seconds = (performance.now() - begun) / 1000
    console.log(`${this.#title}: ${name}, ${seconds.toFixed(1)} s${note && `, ${note}`}`)
    this.#steps.push({ name, seconds, note })
  }

  /** As Markdown. */
  table(): string {
    const rows = this.#steps.map(
      ({ name, seconds, note }) => `| ${name} | ${seconds.toFixed(1)} | ${note} |`,
    )
    const total = this.#steps.reduce((sum, { seconds }) => sum + seconds, 0)
    const last = `| together | ${total.toFixed(1)} | |`
    return [`| ${this.#title} | seconds | |`, '| --- | ---: | --- |', ...rows, last].join('\n')
  }
}
