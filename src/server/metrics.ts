/** What operators watch, in the text form of Prometheus. No name or text of a user is among it. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { BackupState } from '../backup/backup-state.ts'
import { faultKinds } from '../clickhouse/fault.ts'
import type { Engine } from '../engine.ts'
import type { ColdStatus } from '../scheduler/cold-records.ts'
import type { ExportSummary } from '../scheduler/export/export-loop.ts'
import type { HttpMaskerStatus } from '../scheduler/insert/http-masker.ts'
import type { ExportsStatus } from './export/scheduled-exports.ts'
import type { HomeStatus } from './nodes/home-status.ts'
import type { RetentionStatus } from './retention/retention.ts'

/** Seconds; look-ups take a tenth of a millisecond, exports minutes. */
const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 60, 600]

/** Clients may send any word. */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

export interface ServedRequest {
  readonly method: string
  /** The path of its route, with the names of its parameters; `none` when there is no such route. */
  readonly route: string
  readonly status: number
  readonly seconds: number
  readonly sentBytes: number
}

export interface ServerState {
  readonly openRequests: number
  readonly bodyBytes: number
  readonly openSockets: number
  readonly liveQueries: number
  /** How often one of them has run again, so far. */
  readonly liveRounds: number
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #sentBytes: Counter

  constructor(
    engine: Engine,
    backups: Pick<BackupState, 'last'>,
    httpServer: string,
    state: () => ServerState,
  ) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Counter({
      name: 'assay_http_requests_total',
      help: 'Requests that were answered, or whose client left (status 0)',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'assay_http_request_duration_seconds',
      help: 'From the first header to the last byte of the answer',
      labelNames: ['route'],
      buckets: durationBuckets,
      registers,
    })
    this.#sentBytes = new Counter({
      name: 'assay_http_sent_bytes_total',
      help: 'Bytes of answers, without their headers',
      registers,
    })
    this.#byLabel('assay_http_server', 'What takes requests: 1 for its name', 'name', () => [
      [httpServer, 1],
    ])
    this.#gauge('assay_http_open_requests', 'Requests that are not answered yet', () => {
      return state().openRequests
    })
    this.#gauge('assay_http_body_bytes', 'Memory that bodies of requests take', () => {
      return state().bodyBytes
    })
    this.#gauge('assay_websockets_open', 'Connections of /btql/stream', () => state().openSockets)
    this.#gauge('assay_live_queries', 'Queries that stay open for what is written', () => {
      return state().liveQueries
    })
    this.#counter('assay_live_rounds_total', 'How often one of them has run again', () => {
      return state().liveRounds
    })
    this.#gauge(
      'assay_backup_last_timestamp_seconds',
      'When the last good backup was taken, in seconds since 1970; 0: never',
      () => (backups.last?.time ?? 0) / 1000,
    )
    this.#gauge(
      'assay_backup_max_age_seconds',
      'How old it may be before there is a warning; 0: any',
      () => backups.last?.max_age_seconds ?? 0,
    )
    this.#observe(engine)
  }

  served({ method, route, status, seconds, sentBytes }: ServedRequest): void {
    this.#requests.inc({ method: methods.has(method) ? method : 'other', route, status })
    this.#durations.observe({ route }, seconds)
    this.#sentBytes.inc(sentBytes)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** Adds how a query node's home is. */
  observeHome(status: () => HomeStatus): void {
    this.#gauge('assay_home_connected', 'Whether the home node is heard: 1 or 0', () => {
      return status().isConnected ? 1 : 0
    })
    this.#gauge('assay_home_age_seconds', 'Since the home node was heard', () => {
      return status().ageMs / 1000
    })
    this.#gauge(
      'assay_home_caught_up',
      'Whether all that the home node has told of is here: 1 or 0',
      () => (status().isCaughtUp ? 1 : 0),
    )
  }

  /** Adds what retention has done. */
  observeRetention(status: () => RetentionStatus): void {
    this.#counter('assay_retention_rounds_total', 'How often all rules were carried out', () => {
      return status().rounds
    })
    this.#counter('assay_retention_traces_total', 'Traces that rules have removed', () => {
      return status().traces
    })
    this.#counter('assay_retention_records_total', 'Records that rules have removed', () => {
      return status().records
    })
    this.#counter('assay_retention_failures_total', 'Rules that could not be carried out', () => {
      return status().failures
    })
    this.#gauge(
      'assay_retention_last_round_timestamp_seconds',
      'When all rules were carried out last, in seconds since 1970; 0: not since the start',
      () => status().lastRound / 1000,
    )
  }

  /** Adds what scheduled exports have done. */
  observeExports(status: () => ExportsStatus): void {
    this.#gauge('assay_scheduled_exports', 'Exports of projects that run by themselves', () => {
      return status().active
    })
    this.#gauge('assay_scheduled_exports_failing', 'Those whose last try has failed', () => {
      return status().failing
    })
    this.#gauge(
      'assay_scheduled_export_oldest_good_age_seconds',
      'How long ago the last good run was of the export for which that is longest; 0: there are none',
      () => status().oldestGoodAgeSeconds,
    )
    this.#counter('assay_scheduled_export_files_total', 'Files that exports have written', () => {
      return status().files
    })
    this.#counter('assay_scheduled_export_rows_total', 'Their rows', () => status().rows)
    this.#counter('assay_scheduled_export_bytes_total', 'Their size', () => status().bytes)
    this.#counter('assay_scheduled_export_failures_total', 'Tries that have failed', () => {
      return status().failures
    })
  }

  #observe(engine: Engine): void {
    this.#gauge('assay_disk_available_bytes', 'Free on the disk of the data directory', () => {
      return engine.reserve.status.availableBytes
    })
    this.#gauge('assay_disk_reserve_bytes', 'Of them, what nothing grows into', () => {
      return engine.reserve.status.reserveBytes
    })
    this.#gauge('assay_disk_reserve_reached', '1 while what would grow is refused', () => {
      return engine.reserve.isReached ? 1 : 0
    })
    const of = (read: (status: ReturnType<Engine['status']>) => number) => () =>
      read(engine.status())
    this.#gauge(
      'assay_queries_open',
      'Queries whose answers are not taken yet',
      of(({ queries }) => queries.open),
    )
    this.#gauge(
      'assay_queries_running',
      'Queries at work on the threads',
      of(({ queries }) => queries.running),
    )
    this.#gauge(
      'assay_queries_queued',
      'Queries that wait for others',
      of(({ queries }) => queries.queued),
    )
    this.#counter(
      'assay_slow_queries_total',
      'Queries that were logged as slow',
      of(({ queries }) => queries.slow),
    )
    this.#counter(
      'assay_left_queries_total',
      'Queries that were cancelled, or whose client left, while tasks of theirs were at work',
      of(({ queries }) => queries.left.count),
    )
    this.#counter(
      'assay_left_queries_work_seconds_total',
      'From then to the end of their last task',
      of(({ queries }) => queries.left.seconds),
    )
    this.#gauge(
      'assay_query_memory_bytes',
      'What queries hold between tasks',
      of(({ queries }) => queries.memoryBytes),
    )
    this.#gauge(
      'assay_workers',
      'Threads that run tasks of queries',
      of(({ tasks }) => tasks.workers),
    )
    this.#gauge(
      'assay_workers_busy',
      'Those that run one now',
      of(({ tasks }) => tasks.running),
    )
    this.#gauge(
      'assay_tasks_queued',
      'Tasks that wait for a thread',
      of(({ tasks }) => tasks.waiting),
    )
    this.#counter(
      'assay_plan_cache_hits_total',
      'Queries whose plan was kept',
      of(({ plans }) => plans.hits),
    )
    this.#counter(
      'assay_plan_cache_misses_total',
      'Queries that were planned',
      of(({ plans }) => plans.misses),
    )
    this.#gauge(
      'assay_plan_cache_entries',
      'Plans that are kept',
      of(({ plans }) => plans.kept),
    )
    this.#counter(
      'assay_kept_answers_hits_total',
      'Queries that were answered by what was kept of the same one',
      of(({ answers }) => answers.hits),
    )
    this.#gauge(
      'assay_kept_answers',
      'Short answers that are kept',
      of(({ answers }) => answers.kept),
    )
    this.#gauge(
      'assay_segments',
      'Segments that count',
      of(({ segments }) => segments.count),
    )
    this.#gauge(
      'assay_segment_rows',
      'Row versions in them',
      of(({ segments }) => segments.rows),
    )
    this.#gauge(
      'assay_delta_rows',
      'Row versions that are in no segment yet',
      of(({ delta }) => delta.rows),
    )
    this.#gauge(
      'assay_delta_bytes',
      'Their size',
      of(({ delta }) => delta.bytes),
    )
    this.#gauge(
      'assay_damaged_spans',
      'Stretches of transactions that are in no segment, since some of their rows are damaged',
      of(({ leftOut }) => leftOut),
    )
    this.#byLabel('assay_storage_bytes', 'Disk that the data takes', 'part', () => {
      return Object.entries(engine.status().storedBytes)
    })
    this.#gauge(
      'assay_damaged_segments',
      'Segments, and indexes of them, that were found to be damaged and are not made again yet',
      of(({ damage }) => damage.left),
    )
    this.#counter(
      'assay_damaged_segments_total',
      'Those that were found since the start',
      of(({ damage }) => damage.found),
    )
    this.#counter(
      'assay_scrubbed_bytes_total',
      'What was read of all that is stored, to find damage',
      of(({ scrub }) => scrub.bytes),
    )
    this.#counter(
      'assay_scrub_rounds_total',
      'How often all was read since the start',
      of(({ scrub }) => scrub.rounds),
    )
    this.#gauge(
      'assay_scrub_last_round_timestamp_seconds',
      'When all was read last, in seconds since 1970; 0: not since the start',
      of(({ scrub }) => scrub.lastRound / 1000),
    )
    this.#byLabel(
      'assay_scrub_damages',
      'Damage that reading all has found since the start, by kind',
      'kind',
      () => Object.entries(engine.status().scrub.found),
    )
    if (engine.export) this.#observeExport(() => engine.export!)
    if (engine.cold) this.#observeCold(() => engine.cold!)
    if (engine.masker) this.#observeMasker(() => engine.masker!)
    const steps = () => Object.entries(engine.status().maintenance)
    this.#byLabel(
      'assay_maintenance_steps',
      'Steps of flush and compaction that ended, by kind',
      'kind',
      () => steps().map(([kind, { count }]) => [kind, count]),
    )
    this.#byLabel('assay_maintenance_seconds', 'Time that they took', 'kind', () =>
      steps().map(([kind, { milliseconds }]) => [kind, milliseconds / 1000]),
    )
    this.#byLabel('assay_maintenance_failures', 'Those that failed', 'kind', () =>
      steps().map(([kind, { failures }]) => [kind, failures]),
    )
  }

  /** There where the operator has a masker. */
  #observeMasker(read: () => HttpMaskerStatus): void {
    this.#counter('assay_masker_requests_total', 'Requests to the masker of the operator', () => {
      return read().requests
    })
    this.#counter('assay_masker_failures_total', 'Those that failed, or took too long', () => {
      return read().failures
    })
    this.#counter('assay_masker_seconds_total', 'Time that all of them took', () => read().seconds)
    this.#gauge(
      'assay_masker_left_alone',
      '1 while it is not asked, since it has failed several times',
      () => Number(read().isOpen),
    )
  }

  #observeCold(read: () => ColdStatus): void {
    this.#gauge(
      'assay_cold_rows',
      'Row versions whose bodies ClickHouse alone has',
      () => read().rows,
    )
    this.#gauge(
      'assay_cold_freed_bytes',
      'Bytes that records take less in the data directory since these have left',
      () => read().bytes,
    )
    this.#gauge(
      'assay_cold_fault',
      '1 while older records stay in the data directory, as something keeps them from leaving',
      () => Number(read().fault !== undefined),
    )
  }

  /** There where transactions are exported. */
  #observeExport(read: () => ExportSummary): void {
    this.#gauge(
      'assay_export_lag_transactions',
      'Transactions that ClickHouse does not have yet',
      () => read().lag.transactions,
    )
    this.#gauge('assay_export_lag_rows', 'Their row versions', () => read().lag.rows)
    this.#gauge(
      'assay_export_lag_seconds',
      'How old the oldest of them is',
      () => read().lag.seconds,
    )
    this.#counter(
      'assay_export_rows_total',
      'Row versions that were sent to ClickHouse since the start',
      () => read().sent.rows,
    )
    this.#counter('assay_export_bytes_total', 'Their size', () => read().sent.bytes)
    this.#counter(
      'assay_export_retries_total',
      'How often the export failed again after it had failed',
      () => read().retries,
    )
    this.#byLabel(
      'assay_export_fault',
      'What keeps the export waiting: 1 for its kind',
      'kind',
      () => {
        const kind = read().fault?.kind
        return faultKinds.map((each) => [each, each === kind ? 1 : 0] as const)
      },
    )
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read())
      },
    })
  }

  /** Of a number that only grows and is counted elsewhere. */
  #counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  #byLabel(
    name: string,
    help: string,
    label: string,
    read: () => readonly (readonly [string, number])[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        for (const [value, number] of read()) this.set({ [label]: value }, number)
      },
    })
  }
}
