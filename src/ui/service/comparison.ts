/**
 * Experiments beside each other: the examples of a base, matched by a key with those of others. One
 * example of the base with all its partners is a line; so is an example of another without a partner.
 */
import { bucketCount, bucketOf, type Distribution, type ScoreMeans } from './experiment.ts'
import { fieldOf } from './field-path.ts'
import { query, quoted, type Row } from './query.ts'
import { clauseOf, withClauses } from './query-text.ts'

export interface Compared {
  readonly baseId: string
  readonly otherIds: readonly string[]
  /** An expression over an example. */
  readonly key: string
  /** Examples that were looked for; undefined where all are meant. */
  readonly sought: Sought | undefined
}

/** Ids of examples by experiments. */
export type Sought = ReadonlyMap<string, readonly string[]>

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

/** More examples than this are not looked for at once. */
export const mostSought = 5000

/**
 * Examples of the compared experiments that a search finds. A line is shown whole if one of its sides
 * was found: were partners left out before examples are matched, they would seem to be missing.
 *
 * @param text a query of the experiments' examples, in the form that the service prints
 */
export async function soughtIn(text: string, signal: AbortSignal): Promise<Sought> {
  const limit = clauseOf(text, 'limit') ?? String(mostSought)
  const asked = withClauses(text, { select: 'id, experiment_id', limit, preview_length: undefined })
  const { data } = await query(asked, signal)
  const found = new Map<string, string[]>()
  for (const { id, experiment_id } of data) {
    const ids = found.get(String(experiment_id))
    if (ids) ids.push(String(id))
    else found.set(String(experiment_id), [String(id)])
  }
  return found
}

/** Whether a pair has an example that was looked for. */
function soughtPair({ baseId, sought }: Compared): string {
  if (!sought) return 'true'
  const tests = Array.from(sought, ([experiment, ids]) => {
    const side = experiment === baseId ? '' : 'compared.'
    const list = ids.map(quoted).join(', ')
    return `${side}experiment_id = ${quoted(experiment)} and ${side}id in [${list}]`
  })
  return tests.map((test) => `coalesce(${test}, false)`).join(' or ') || 'false'
}

/** A query of lines, with the least and greatest difference of a score. */
function linesOf(compared: Compared, score: string, more: readonly string[] = []): string {
  const difference = fieldOf('score_differences', score)
  const measures = [
    `min(${difference}) as worst`,
    `max(${difference}) as best`,
    'count(compared.id) as partners',
    'max(_pagination_key) as age',
    ...(compared.sought ? [`count_if(${soughtPair(compared)}) as found`] : []),
    ...more,
  ]
  return (
    'dimensions: id as example, experiment_id as owner,' +
    ' if(experiment_id is null, compared.experiment_id, null) as stranger' +
    ` | measures: ${measures.join(', ')} | from: (${pairsOf(compared)})`
  )
}

/** A condition on lines, of those that were looked for. */
function among({ sought }: Compared, condition: string): string {
  return sought ? `found > 0 and (${condition})` : condition
}

export type LineCounts = Readonly<Record<ShownKind, number>>

/** Of how many examples a score is better and worse than in the base. */
export interface ScoreChange {
  readonly improved: number
  readonly regressed: number
}

export interface ComparedCounts {
  /** That lines and spreads are by. */
  readonly score: string
  readonly lines: LineCounts
  /** By the other's id and the score's name. */
  readonly changes: ReadonlyMap<string, ReadonlyMap<string, ScoreChange>>
  /** How the score is spread in each experiment, by its id. */
  readonly spreads: ReadonlyMap<string, Distribution>
}

/**
 * All that is counted over the lines, by one query.
 *
 * @param score by which lines are told apart and whose values are spread
 * @param names of all scores
 */
export async function countsOf(
  compared: Compared,
  score: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ComparedCounts> {
  const { baseId, otherIds } = compared
  const ofLine: string[] = []
  const counted = shownKinds.map((kind) => {
    return `count_if(${among(compared, conditions[kind])}) as ${kind}_lines`
  })
  const changed = otherIds.flatMap((other, o) =>
    names.map((name, n) => {
      const difference = `d${o}_${n}`
      const ofOther = `compared.experiment_id = ${quoted(other)}`
      const field = fieldOf('score_differences', name)
      ofLine.push(`min(${field}) filter (where ${ofOther}) as ${difference}`)
      counted.push(
        `count_if(${among(compared, `${difference} > 0`)}) as ${difference}_up`,
        `count_if(${among(compared, `${difference} < 0`)}) as ${difference}_down`,
      )
      return { other, name, difference }
    }),
  )
  const spread = (score === '' ? [] : [baseId, ...otherIds]).map((id, place) => {
    const value = `s${place}`
    const field = fieldOf(id === baseId ? 'scores' : 'compared.scores', score)
    const own = id === baseId ? 'experiment_id' : 'compared.experiment_id'
    ofLine.push(`${bucketOf(`max(${field}) filter (where ${own} = ${quoted(id)})`)} as ${value}`)
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      counted.push(`count_if(${among(compared, `${value} = ${bucket}`)}) as ${value}_${bucket}`)
    }
    return { id, value }
  })
  const { data } = await query(
    `measures: ${counted.join(', ')}\nfrom: (${linesOf(compared, score, ofLine)})`,
    signal,
  )
  const count = (column: string) => Number(data[0]?.[column] ?? 0)
  const changes = new Map(otherIds.map((id) => [id, new Map<string, ScoreChange>()]))
  for (const { other, name, difference } of changed) {
    const improved = count(`${difference}_up`)
    changes.get(other)!.set(name, { improved, regressed: count(`${difference}_down`) })
  }
  const spreads = spread.map(({ id, value }) => {
    const buckets = Array.from({ length: bucketCount }, (_, i) => count(`${value}_${i}`))
    return [id, buckets] as const
  })
  const lines = shownKinds.map((kind) => [kind, count(`${kind}_lines`)] as const)
  return {
    score,
    lines: Object.fromEntries(lines) as Record<ShownKind, number>,
    changes,
    spreads: new Map(spreads),
  }
}

export interface Side {
  readonly id: string
  readonly output: string
  readonly error: unknown
  readonly scores: Readonly<Record<string, number | null>>
  /** In seconds; undefined where it is not known, as are the others. */
  readonly duration: number | undefined
  readonly tokens: number | undefined
  /** In dollars. */
  readonly cost: number | undefined
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
  const { baseId, otherIds } = compared
  const partners = otherIds.map((id, place) => {
    return `max(compared.id) filter (where compared.experiment_id = ${quoted(id)}) as partner${place}`
  })
  const { data } = await query(
    `${linesOf(compared, score, partners)} | final_filter: ${among(compared, conditions[show])}` +
      ` | sort: ${sorts[order]} | limit: ${pageSize} | offset: ${(page - 1) * pageSize}`,
    signal,
  )
  const placed = data.map(({ example, owner, ...row }): readonly Place[] => {
    const partnered = otherIds.map((id, place) => [id, row[`partner${place}`]] as const)
    const sides = owner === null ? partnered : [[baseId, example] as const, ...partnered]
    return sides.flatMap(([experiment, id]) => (typeof id === 'string' ? { experiment, id } : []))
  })
  const rows = await examplesAt(placed.flat(), [baseId, ...otherIds], signal)
  return placed.flatMap((places) => lineFrom(places, rows))
}

/** Where an example is. */
interface Place {
  readonly experiment: string
  readonly id: string
}

function placeKey({ experiment, id }: Place): string {
  return JSON.stringify([experiment, id])
}

/** The examples by their places: looked up by their ids, which is fast, as pairs are known by now. */
async function examplesAt(
  places: readonly Place[],
  experiments: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Row>> {
  if (places.length === 0) return new Map()
  const ids = [...new Set(places.map(({ id }) => quoted(id)))]
  const { data } = await query(
    'select: id, experiment_id, input, expected, error, scores,' +
      ' metrics.duration as duration, metrics.total_tokens as tokens,' +
      ' metrics.estimated_cost as cost,' +
      ` left(to_string(output), ${previewLength}) as shown_output\n` +
      `from: experiment(${experiments.map(quoted).join(', ')}) summary\n` +
      `filter: id in [${ids.join(', ')}]\n` +
      // An id may be in each of them.
      `limit: ${ids.length * experiments.length}\n` +
      `preview_length: ${previewLength}`,
    signal,
  )
  return new Map(
    data.map((row) => [
      placeKey({ experiment: String(row.experiment_id), id: String(row.id) }),
      row,
    ]),
  )
}

function lineFrom(places: readonly Place[], rows: ReadonlyMap<string, Row>): Line | [] {
  const found = places.flatMap((place) => {
    const row = rows.get(placeKey(place))
    return row ? [{ place, row }] : []
  })
  const [first] = found
  // It was deleted in the meantime.
  if (!first) return []
  const sides = found.map(({ place, row }): readonly [string, Side] => [
    place.experiment,
    {
      id: place.id,
      output: String(row.shown_output ?? ''),
      error: row.error,
      scores: (row.scores ?? {}) as Side['scores'],
      duration: numberIn(row.duration),
      tokens: numberIn(row.tokens),
      cost: numberIn(row.cost),
    },
  ])
  const { input, expected } = first.row
  return { id: first.place.id, input, expected, sides: new Map(sides) }
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** The score that fell the most in one of the others, which is what one looks at first. */
export function worstScore(
  baseId: string,
  means: ReadonlyMap<string, ScoreMeans>,
): string | undefined {
  const before = means.get(baseId)?.scores ?? {}
  const changes = [...means.values()].flatMap(({ scores }) =>
    Object.entries(scores).flatMap(([name, mean]) => {
      const old = Object.hasOwn(before, name) ? before[name] : undefined
      return old === undefined ? [] : [{ name, change: mean - old }]
    }),
  )
  const [worst] = changes.sort((a, b) => a.change - b.change || (a.name < b.name ? -1 : 1))
  return worst?.name
}

/** In alphabetical order, those that any of the experiments has. */
export function scoreNames(means: ReadonlyMap<string, ScoreMeans>): string[] {
  return [...new Set([...means.values()].flatMap(({ scores }) => Object.keys(scores)))].sort()
}
