/** What has a name in a statement, so that it is written once. */

/**
 * Lists that a statement tells once and names as often as it needs them. Nodes pass them on to each other as they are, whereas they
 * write out all else that has a name wherever it is named.
 */
export class StatementConstants {
  readonly #lists = new Map<string, string>()

  /**
   * SQL that stands for a list.
   *
   * @param name no column has it
   */
  list(name: string, sql: string): string {
    this.#lists.set(name, sql)
    return name
  }

  /** The whole statement. */
  before(sql: string): string {
    if (this.#lists.size === 0) return sql
    const told = [...this.#lists].map(([name, list]) => `(SELECT ${list}) AS ${name}`)
    return `WITH ${told.join(', ')} ${sql}`
  }
}

/** SQL in which values of a row have names. Where it is all the same, nodes compute it once, too. */
export function named(values: Readonly<Record<string, string>>, sql: string): string {
  const lists = Object.values(values).map((value) => `[${value}]`)
  return `arrayMap((${Object.keys(values).join(', ')}) -> ${sql}, ${lists.join(', ')})[1]`
}
