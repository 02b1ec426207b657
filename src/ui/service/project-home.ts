/**
 * What happened in a project in a while. Every query is bounded by the period, and each stands for itself, so
 * that all of them can be asked at once and each shown when it is there.
 */
import { type Experiment, type ExperimentTotals, listExperiments, totalsOf } from './experiment.ts'
import { isNow, type Period, placeIn, within, withinBoth } from './home-period.ts'
import { at, query, quoted, type Row } from './query.ts'

export interface Figures {
  readonly spans: number
  /** Those that have a span in the while. */
  readonly traces: number
  /** Spans with an error, and the traces that they are in. */
  readonly errors: number
  readonly failedTraces: number
  /** Of root spans, in seconds. */
  readonly p50: number | null
  readonly p95: number | null
}

const spanSeconds = 'metrics.end - metrics.start'

const figures =
  'count(1) as spans, count_distinct(root_span_id) as traces, count(error) as errors, ' +
  'count_distinct(root_span_id) filter (where error is not null) as failed_traces, ' +
  `percentile(${spanSeconds}, 0.5) filter (where is_root) as p50, ` +
  `percentile(${spanSeconds}, 0.95) filter (where is_root) as p95`

const noFigures: Figures = {
  ...{ spans: 0, traces: 0, errors: 0, failedTraces: 0 },
  ...{ p50: null, p95: null },
}

function readFigures(row: Row): Figures {
  return {
    spans: Number(row.spans),
    traces: Number(row.traces),
    errors: Number(row.errors),
    failedTraces: Number(row.failed_traces),
    p50: numberOrNull(row.p50),
    p95: numberOrNull(row.p95),
  }
}

export interface Totals {
  readonly now: Figures
  readonly before: Figures
}

export async function loadTotals(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<Totals> {
  const { data } = await query(
    `dimensions: ${isNow(period)} as is_now\nmeasures: ${figures}\n` +
      `from: ${source}\nfilter: ${withinBoth(period)}`,
    signal,
  )
  const of = (wanted: boolean) => {
    const row = data.find(({ is_now }) => is_now === wanted)
    return row ? readFigures(row) : noFigures
  }
  return { now: of(true), before: of(false) }
}

/** The figures of each unit of the period. */
export async function loadCourse(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly Figures[]> {
  const { data } = await query(
    `dimensions: date_trunc(${quoted(period.unit)}, created) as time\nmeasures: ${figures}\n` +
      `from: ${source}\nfilter: ${within(period)}`,
    signal,
  )
  const course = period.times.map(() => noFigures)
  for (const row of data) {
    const place = placeIn(period, row.time)
    if (place !== undefined) course[place] = readFigures(row)
  }
  return course
}

/** When something was logged last, at any time; undefined where nothing ever was. ISO 8601. */
export async function loadLast(source: string, signal: AbortSignal): Promise<string | undefined> {
  const { data } = await query(`measures: max(created) as last\nfrom: ${source}`, signal)
  const last = data[0]?.last
  return typeof last === 'string' ? last : undefined
}

/** What was spent, each call once. */
export interface Usage {
  readonly calls: number
  readonly errors: number
  /** Null where nothing tells any. */
  readonly tokens: number | null
  /** Dollars. */
  readonly cost: number | null
}

export interface ModelUse extends Usage {
  /** Null of calls that do not say it. */
  readonly model: string | null
}

export interface Usages {
  readonly now: Usage
  readonly before: Usage
  readonly course: readonly Usage[]
  /** The dearest, then the most used. */
  readonly models: readonly ModelUse[]
  readonly hasMoreModels: boolean
}

const mostModels = 12

/** Groups of models and units; a field that is no name of models makes no more of them. */
const mostGroups = 20_000

const tokens = 'coalesce(metrics.total_tokens, metrics.tokens)'

/** Calls of models, each once, and whatever else has a cost or tokens. */
export const isUse =
  `(span_attributes.type = 'llm' or ${tokens} > 0 or estimated_cost() is not null) ` +
  'and not repeats_usage()'

/** What counts for one call of a model. */
export const isCall = "span_attributes.type = 'llm' and not repeats_usage()"

/** Whose cost counts takes the tree of each trace: it is asked for once, and all else is summed up here. */
export async function loadUsages(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<Usages> {
  const { data } = await query(
    `dimensions: metadata.model as model, date_trunc(${quoted(period.unit)}, created) as time, ` +
      `${isNow(period)} as is_now\n` +
      "measures: count_if(span_attributes.type = 'llm') as calls, count(error) as errors, " +
      `sum(${tokens}) as tokens, sum(estimated_cost()) as cost\n` +
      `from: ${source}\nfilter: ${withinBoth(period)} and ${isUse}\nlimit: ${mostGroups}`,
    signal,
  )
  const sums = { now: new UsageSum(), before: new UsageSum() }
  const course = period.times.map(() => new UsageSum())
  const byModel = new Map<string | null, UsageSum>()
  for (const row of data) {
    if (row.is_now !== true) {
      sums.before.add(row)
      continue
    }
    sums.now.add(row)
    const place = placeIn(period, row.time)
    if (place !== undefined) course[place]!.add(row)
    const model = row.model === null || row.model === undefined ? null : textOfModel(row.model)
    const ofModel = byModel.get(model) ?? new UsageSum()
    byModel.set(model, ofModel)
    ofModel.add(row)
  }
  const models = [...byModel]
    .map(([model, { calls, errors, tokens: taken, cost }]) => {
      return { model, calls, errors, tokens: taken, cost }
    })
    .sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.calls - a.calls)
  return {
    ...sums,
    course,
    models: models.slice(0, mostModels),
    hasMoreModels: models.length > mostModels,
  }
}

function textOfModel(model: unknown): string {
  return typeof model === 'string' ? model : JSON.stringify(model)
}

class UsageSum implements Usage {
  calls = 0
  errors = 0
  tokens: number | null = null
  cost: number | null = null

  add(row: Row): void {
    this.calls += Number(row.calls)
    this.errors += Number(row.errors)
    this.tokens = sumOf(this.tokens, row.tokens)
    this.cost = sumOf(this.cost, row.cost)
  }
}

function sumOf(sum: number | null, value: unknown): number | null {
  return typeof value === 'number' ? (sum ?? 0) + value : sum
}

export interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
}

/** How long calls of each model take, in seconds. */
export async function loadModelTimes(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<ReadonlyMap<string | null, Percentiles>> {
  const { data } = await query(
    'dimensions: metadata.model as model\n' +
      `measures: count(1) as n, percentile(${spanSeconds}, 0.5) as p50, ` +
      `percentile(${spanSeconds}, 0.95) as p95\n` +
      `from: ${source}\nfilter: ${within(period)} and span_attributes.type = 'llm'\n` +
      'sort: n desc\nlimit: 1000',
    signal,
  )
  return new Map(
    data.map(({ model, p50, p95 }) => [
      model === null || model === undefined ? null : textOfModel(model),
      { p50: numberOrNull(p50), p95: numberOrNull(p95) },
    ]),
  )
}

export interface ScoreCourse {
  readonly name: string
  /** How many spans have it. */
  readonly count: number
  /** Means, from 0 to 1. */
  readonly mean: number
  readonly meanBefore: number | undefined
  /** The means of the period's units; null where no span has the score. */
  readonly course: readonly (number | null)[]
}

const mostScores = 12

/** The most given first. */
export async function loadScores(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly ScoreCourse[]> {
  const { data } = await query(
    `dimensions: score_name, date_trunc(${quoted(period.unit)}, created) as time, ` +
      `${isNow(period)} as is_now\n` +
      'measures: count(score_value) as n, sum(score_value) as total\n' +
      `from: ${source}\nunpivot: scores as (score_name, score_value)\n` +
      `filter: ${withinBoth(period)} and score_value is not null`,
    signal,
  )
  const byName = new Map<string, { now: Mean; before: Mean; course: Mean[] }>()
  for (const { score_name, time, is_now, n, total } of data) {
    const name = String(score_name)
    const found = byName.get(name) ?? {
      now: new Mean(),
      before: new Mean(),
      course: period.times.map(() => new Mean()),
    }
    byName.set(name, found)
    const given = [Number(n), Number(total)] as const
    if (is_now === true) {
      found.now.add(...given)
      const place = placeIn(period, time)
      if (place !== undefined) found.course[place]!.add(...given)
    } else found.before.add(...given)
  }
  return [...byName]
    .flatMap(([name, { now, before, course }]): ScoreCourse[] => {
      const mean = now.value
      if (mean === null) return []
      const meanBefore = before.value ?? undefined
      return [
        { name, count: now.count, mean, meanBefore, course: course.map(({ value }) => value) },
      ]
    })
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name))
    .slice(0, mostScores)
}

class Mean {
  count = 0
  #total = 0

  add(count: number, total: number): void {
    this.count += count
    this.#total += total
  }

  get value(): number | null {
    return this.count === 0 ? null : this.#total / this.count
  }
}

export interface NewExperiment extends Experiment {
  readonly totals: ExperimentTotals | undefined
  /** What its scores are held against: the experiment that was made before it. */
  readonly previous: ExperimentTotals | undefined
}

const mostExperiments = 5

export async function loadNewExperiments(
  projectId: string,
  signal: AbortSignal,
): Promise<readonly NewExperiment[]> {
  const found = await listExperiments(projectId, { limit: mostExperiments + 1 }, signal)
  const totals = await totalsOf(
    found.map(({ id }) => id),
    signal,
  )
  return found.slice(0, mostExperiments).map((each, i) => ({
    ...each,
    totals: totals.get(each.id),
    previous: totals.get(found[i + 1]?.id ?? ''),
  }))
}

/** Steps are spans of one name. */
export interface Step {
  readonly name: string | null
  readonly count: number
  /** Of one of them, cut. */
  readonly error?: string | undefined
  /** In seconds. */
  readonly p95?: number
}

export interface FoundTrace {
  readonly rootSpanId: string
  readonly name: string
  /** Seconds, or dollars. */
  readonly value: number
}

const mostListed = 5

/** Which steps fail most. */
export async function loadFailing(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const { data } = await query(
    'dimensions: span_attributes.name as name\n' +
      'measures: count(1) as n, left(to_string(any_value(coalesce(error.message, error))), 160) as error\n' +
      `from: ${source}\nfilter: ${within(period)} and error is not null\n` +
      `sort: n desc, name\nlimit: ${mostListed}`,
    signal,
  )
  return data.map((row) => ({
    name: textOrNull(row.name),
    count: Number(row.n),
    error: textOrNull(row.error) ?? undefined,
  }))
}

/** Which steps take longest, of those that wait for nothing but themselves. */
export async function loadSlow(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const { data } = await query(
    'dimensions: span_attributes.name as name\n' +
      `measures: count(${spanSeconds}) as n, percentile(${spanSeconds}, 0.95) as p95\n` +
      `from: ${source}\n` +
      `filter: ${within(period)} and ${spanSeconds} > 0 and not is_root\n` +
      `sort: p95 desc, name\nlimit: ${mostListed}`,
    signal,
  )
  return data.map((row) => ({
    name: textOrNull(row.name),
    count: Number(row.n),
    p95: Number(row.p95),
  }))
}

export async function loadSlowTraces(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly FoundTrace[]> {
  const { data } = await query(
    `select: root_span_id, span_attributes.name as name, ${spanSeconds} as value\n` +
      `from: ${source}\nfilter: ${within(period)} and is_root and ${spanSeconds} > 0\n` +
      `sort: value desc\nlimit: ${mostListed}`,
    signal,
  )
  return data.map((row) => foundTrace(row, row.name))
}

export async function loadDearTraces(
  source: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly FoundTrace[]> {
  const { data } = await query(
    'dimensions: root_span_id\nmeasures: sum(estimated_cost()) as value\n' +
      `from: ${source}\nfilter: ${within(period)} and estimated_cost() is not null\n` +
      `sort: value desc\nlimit: ${mostListed}`,
    signal,
  )
  if (data.length === 0) return []
  const ids = data.map(({ root_span_id: id }) => quoted(String(id))).join(', ')
  const roots = await query(
    'select: root_span_id, span_attributes.name as name\n' +
      `from: ${source}\nfilter: is_root and root_span_id in (${ids})`,
    signal,
  )
  const names = new Map(roots.data.map((row) => [row.root_span_id, at(row, 'name')]))
  return data.map((row) => foundTrace(row, names.get(row.root_span_id)))
}

function foundTrace(row: Row, name: unknown): FoundTrace {
  const rootSpanId = String(row.root_span_id)
  return { rootSpanId, name: textOrNull(name) ?? rootSpanId, value: Number(row.value) }
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
