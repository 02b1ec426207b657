/**
 * Experiments beside each other: the examples of a base, matched by a key with those of others. One
 * example of the base with all its partners is a line; so is an example of another without a partner.
 */
import { bucketOf, bucketsBy, type Distribution, numberOrNull } from './experiment.ts'
import { fieldOf } from './field-path.ts'
import { query, quoted, type Row } from './query.ts'

export interface Compared {
  readonly baseId: string
  readonly otherIds: readonly string[]
  /** An expression over an example. */
  readonly key: string
}

export const shownKinds = ['all', 'regressed', 'improved', 'unchanged', 'unmatched'] as const
export type ShownKind = (typeof shownKinds)[number]

export const comparisonOrders = ['regressions', 'improvements', 'newest'] as const
export type ComparisonOrder = (typeof comparisonOrders)[number]

/** Conditions on lines by how the score of the others differs from that of the base. */
const conditions: Readonly<Record<ShownKind, string>> = {
  all: 'true',
  regressed: 'worst < 0',
  improved: 'best > 0',
  unchanged: 'worst = 0 and best = 0',
  unmatched: 'partners = 0 or owner is null',
}

const sorts: Readonly<Record<ComparisonOrder, string>> = {
  regressions: 'worst',
  improvements: 'best desc',
  newest: 'age desc',
}

function pairsOf({ baseId, otherIds, key }: Compared): string {
  const ids = [baseId, ...otherIds].map(quoted).join(', ')
  return `select: * | from: experiment(${ids}) summary | comparison_key: ${key}`
}

/** A query of lines, with the least and greatest difference of a score. */
function linesOf(compared: Compared, score: string): string {
  const difference = fieldOf('score_differences', score)
  return (
    'dimensions: id as example, experiment_id as owner,' +
    ' if(experiment_id is null, compared.experiment_id, null) as stranger' +
    ` | measures: min(${difference}) as worst, max(${difference}) as best,` +
    ' count(compared.id) as partners, max(_pagination_key) as age' +
    ` | from: (${pairsOf(compared)})`
  )
}

export type LineCounts = Readonly<Record<ShownKind, number>>

export async function countLines(
  compared: Compared,
  score: string,
  signal: AbortSignal,
): Promise<LineCounts> {
  const measures = shownKinds.map((kind) => `count_if(${conditions[kind]}) as ${kind}_lines`)
  const { data } = await query(
    `measures: ${measures.join(', ')}\nfrom: (${linesOf(compared, score)})`,
    signal,
  )
  const counts = shownKinds.map((kind) => [kind, Number(data[0]?.[`${kind}_lines`] ?? 0)] as const)
  return Object.fromEntries(counts) as Record<ShownKind, number>
}

export interface Side {
  readonly id: string
  readonly output: string
  readonly error: unknown
  readonly scores: Readonly<Record<string, number | null>>
  readonly metrics: Row
}

export interface Line {
  /** Of the example in the base, or in the only experiment that has it. */
  readonly id: string
  readonly input: unknown
  readonly expected: unknown
  /** By the ids of experiments. */
  readonly sides: ReadonlyMap<string, Side>
}

export interface LinesOptions {
  readonly score: string
  readonly show: ShownKind
  readonly order: ComparisonOrder
  /** From 1. */
  readonly page: number
  readonly pageSize: number
}

/** Characters of a value that a cell shows. */
const previewLength = 400

export async function linesOfPage(
  compared: Compared,
  { score, show, order, page, pageSize }: LinesOptions,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const { data } = await query(
    `${linesOf(compared, score)} | final_filter: ${conditions[show]} | sort: ${sorts[order]}` +
      ` | limit: ${pageSize} | offset: ${(page - 1) * pageSize}`,
    signal,
  )
  if (data.length === 0) return []
  const ids = [...new Set(data.map(({ example }) => quoted(String(example))))]
  const cut = (field: string) => `left(to_string(${field}), ${previewLength})`
  const pairs = await query(
    'select: id, experiment_id, input, expected, error, scores, metrics,' +
      ` ${cut('output')} as shown_output, compared.id as other_id,` +
      ' compared.experiment_id as other_experiment, compared.error as other_error,' +
      ` ${cut('compared.output')} as other_output,` +
      ' compared.scores as other_scores, compared.metrics as other_metrics\n' +
      `from: (${pairsOf(compared)})\nfilter: id in [${ids.join(', ')}]\n` +
      `preview_length: ${previewLength}`,
    signal,
  )
  const byLine = new Map<string, Row[]>()
  for (const row of pairs.data) {
    const key = lineKey(row)
    const rows = byLine.get(key)
    if (rows) rows.push(row)
    else byLine.set(key, [row])
  }
  return data.flatMap(({ example, owner, stranger }) => {
    const rows = byLine.get(JSON.stringify([example, owner ?? null, stranger ?? null]))
    return rows ? [lineFrom(rows)] : []
  })
}

function lineKey({ id, experiment_id: owner, other_experiment: other }: Row): string {
  return JSON.stringify([id, owner ?? null, owner ? null : (other ?? null)])
}

function lineFrom(rows: readonly Row[]): Line {
  const [first] = rows as readonly [Row]
  const sides = new Map<string, Side>()
  if (typeof first.experiment_id === 'string') {
    sides.set(first.experiment_id, {
      id: String(first.id),
      output: String(first.shown_output ?? ''),
      error: first.error,
      scores: (first.scores ?? {}) as Side['scores'],
      metrics: (first.metrics ?? {}) as Row,
    })
  }
  for (const row of rows) {
    if (typeof row.other_experiment !== 'string') continue
    sides.set(row.other_experiment, {
      id: String(row.other_id),
      output: String(row.other_output ?? ''),
      error: row.other_error,
      scores: (row.other_scores ?? {}) as Side['scores'],
      metrics: (row.other_metrics ?? {}) as Row,
    })
  }
  return { id: String(first.id), input: first.input, expected: first.expected, sides }
}

/** How a score of another experiment differs from that of the base, over matched examples. */
export interface ScoreChange {
  readonly mean: number
  readonly improved: number
  readonly regressed: number
  readonly unchanged: number
}

/** By the other's id and the score's name. */
export type ScoreChanges = ReadonlyMap<string, ReadonlyMap<string, ScoreChange>>

export async function scoreChanges(
  { baseId, otherIds, key }: Compared,
  signal: AbortSignal,
): Promise<ScoreChanges> {
  const ids = [baseId, ...otherIds].map(quoted).join(', ')
  const { data } = await query(
    'dimensions: compared.experiment_id as other, score_name\n' +
      'measures: avg(difference) as mean, count_if(difference > 0) as improved,' +
      ' count_if(difference < 0) as regressed, count_if(difference = 0) as unchanged\n' +
      `from: experiment(${ids}) summary\ncomparison_key: ${key}\n` +
      'unpivot: score_differences as (score_name, difference)',
    signal,
  )
  const found = new Map<string, Map<string, ScoreChange>>()
  for (const row of data) {
    const other = String(row.other)
    const byScore = found.get(other) ?? new Map<string, ScoreChange>()
    byScore.set(String(row.score_name), {
      mean: numberOrNull(row.mean) ?? 0,
      improved: Number(row.improved),
      regressed: Number(row.regressed),
      unchanged: Number(row.unchanged),
    })
    found.set(other, byScore)
  }
  return found
}

/** How a score is spread in each experiment, by its id. */
export async function spreadsOf(
  ids: readonly string[],
  score: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Distribution>> {
  const field = fieldOf('scores', score)
  const { data } = await query(
    `dimensions: experiment_id, ${bucketOf(field)} as bucket\nmeasures: count(1) as n\n` +
      `from: experiment(${ids.map(quoted).join(', ')})\nfilter: ${field} is not null`,
    signal,
  )
  return bucketsBy('experiment_id', data)
}

/** The score with the most regressions, which is what one looks at first. */
export function worstScore(changes: ScoreChanges): string | undefined {
  const regressed = new Map<string, number>()
  for (const byScore of changes.values()) {
    for (const [name, change] of byScore) {
      regressed.set(name, (regressed.get(name) ?? 0) + change.regressed)
    }
  }
  const ordered = [...regressed].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
  return ordered[0]?.[0]
}
