/**
 * What users of such records ask, in our language and in SQL. Every question whose answer has
 * several rows sorts them by something unique, because SQL promises no order of its own.
 *
 * Where SQL means something else by the same word, the SQL is written to mean what we do:
 * - `quantile_cont` interpolates between the closest ranks, as `percentile` does;
 * - a test with null is not true in both, but `!= null` means IS NOT NULL in ours alone;
 * - our division by zero is null, DuckDB's is infinity;
 * - a time bucket is the instant at which the bucket begins for the user, printed in UTC;
 * - DuckDB's default order is nobody's; ours is newest first, which is the last line of a file.
 */

export interface Sources {
  readonly projectId: string
  /** Ids of the experiments by their names. */
  readonly experimentIds: ReadonlyMap<string, string>
}

export interface Question {
  readonly name: string
  readonly query: (from: Scope) => string
  readonly sql: string
  readonly tzOffset?: number
}

/** The sources of queries, as texts to put after `from:`. */
export interface Scope {
  readonly logs: string
  readonly project: string
  readonly everyExperiment: string
  experiments(...names: string[]): string
}

export function scopeOf({ projectId, experimentIds }: Sources): Scope {
  const experiments = (...names: string[]) =>
    `experiment(${names.map((name) => `'${experimentIds.get(name)}'`).join(', ')})`
  return {
    logs: `project_logs('${projectId}')`,
    project: `project('${projectId}')`,
    everyExperiment: experiments(...experimentIds.keys()),
    experiments,
  }
}
