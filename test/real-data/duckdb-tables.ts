import { DuckDB, isoMacro, sqlText } from '../support/duckdb.ts'
import { answersFile, requestFiles } from './files.ts'

/** The records that are changed after the import, in both systems. */
export const relabeled = { experiment: 'alpaca-7b', before: 'alpaca-0100', winRate: 0.25 } as const
export const deleted = { experiment: 'phi-2', before: 'alpaca-0050' } as const
export const lengthened = { before: '2023-11-16T18:20:00', completionTokens: 5_000 } as const

/**
 * Opens DuckDB with the tables `answers` and `requests` in two schemas: `imported` holds the files
 * as they are, `changed` what they are after the changes above.
 */
export async function openTables(experimentIds: ReadonlyMap<string, string>): Promise<DuckDB> {
  const db = await DuckDB.open(':memory:', { threads: '2' })
  const ids = Array.from(experimentIds, ([name, id]) => `(${sqlText(name)}, ${sqlText(id)})`)
  await db.run(
    `create table ids as select * from (values ${ids.join(', ')}) t(name, experiment_id)`,
  )
  await db.run(isoMacro)
  await db.run('create schema imported; create schema changed; use imported')
  await db.run(`
    create table answers as
    select experiment_id, id, input, output, expected, tags, metadata, metadata.model as model,
      metadata.dataset as dataset, metadata.annotator as annotator, scores.win_rate as win_rate,
      metrics.judge_cost_usd as cost, metrics.judge_seconds as seconds, position
    from (
      select *, row_number() over () as position
      from read_json(${sqlText(answersFile)}, format = 'newline_delimited')
    ) records join memory.main.ids on records.experiment = ids.name`)
  const requests = Object.entries(requestFiles).map(
    ([kind, file]) => `
    select '${kind}-' || (row_number() over () - 1) as id, TIMESTAMP as created,
      ContextTokens as prompt, GeneratedTokens as completion, '${kind}' as kind
    from read_csv(${sqlText(file)})`,
  )
  await db.run(`create table requests as ${requests.join(' union all ')}`)
  await db.run(`
    create table changed.answers as from imported.answers;
    create table changed.requests as from imported.requests;
    use changed;
    update answers set win_rate = ${relabeled.winRate}
      where model = '${relabeled.experiment}' and id < '${relabeled.before}';
    delete from answers where model = '${deleted.experiment}' and id < '${deleted.before}';
    update requests set completion = ${lengthened.completionTokens}
      where created < timestamp '${lengthened.before}'`)
  return db
}
