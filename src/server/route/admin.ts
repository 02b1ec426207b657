import type { Gate } from '../../access/gate.ts'
import type { BackupState } from '../../backup/backup-state.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { QueryStatus } from '../../scheduler/admission/running-query.ts'
import type { ExportSummary } from '../../scheduler/export/export-loop.ts'
import { formatTransaction, transactionMs } from '../../type/transaction.ts'
import type { LiveQueries } from '../live/live-queries.ts'
import type { Metrics } from '../metrics.ts'
import type { Home } from '../nodes/home.ts'
import type { HomeStatus } from '../nodes/home-status.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'
import { version } from '../version.ts'

export interface AdminRouteParts {
  readonly engine: Engine
  readonly backups: BackupState
  readonly live: LiveQueries
  readonly metrics: Metrics
  /** Of a query node. */
  readonly home?: Pick<Home, 'status' | 'statusThere'> | undefined
}

/**
 * `GET /admin/queries` lists the queries that run, `DELETE /admin/queries/{id}` and
 * `POST /admin/queries/{id}/cancel` end one: one's own, or, for who may, any of the organization.
 * `GET /metrics` has numbers of the whole service, and `GET /admin/status` says how its export and its backups are.
 */
export function adminRoutes({ engine, backups, live, metrics, home }: AdminRouteParts): Route[] {
  /** Of a live query that runs right now, what the engine knows of it. */
  const queries = () => {
    const open = new Map(live.list().map((query) => [query.id, query]))
    for (const query of engine.queries()) open.set(query.id, query)
    return [...open.values()]
  }
  const cancel = (id: string, gate: Gate): Reply => {
    const query = queries().find((each) => each.id === id && maySee(each, gate))
    if (!query || !(live.cancel(id) || engine.cancelQuery(id))) {
      throw new AssayError('ROUTE_NOT_FOUND', `There is no query ${id.slice(0, 100)} of yours`, {
        hint: 'it may have ended; GET /admin/queries lists those that run',
      })
    }
    return jsonReply({ cancelled: id })
  }
  // Numbers are of all that everybody does here.
  const requireOrganizationUpdate = (gate: Gate) => {
    gate.requirePermission('update', 'organization', gate.organization().id)
  }
  return [
    {
      method: 'GET',
      path: '/admin/status',
      access: 'key',
      handle: (_, gate) => {
        requireOrganizationUpdate(gate)
        const own = statusOf(engine, backups, home?.status)
        if (!home?.status.isConnected) return jsonReply(own)
        // Exports and backups are the home node's, which may have gone since.
        return home.statusThere().then(
          ({ export: exported, backup, warnings }) =>
            jsonReply({ ...own, export: exported, backup, warnings }),
          () => jsonReply(own),
        )
      },
    },
    {
      method: 'GET',
      path: '/admin/queries',
      access: 'key',
      handle: (_, gate) => {
        const seen = queries().filter((query) => maySee(query, gate))
        return jsonReply({ queries: seen.map(shown) })
      },
    },
    {
      method: 'DELETE',
      path: '/admin/queries/:id',
      access: 'key',
      handle: ({ parameters }, gate) => cancel(parameters[0]!, gate),
    },
    {
      method: 'POST',
      path: '/admin/queries/:id/cancel',
      access: 'key',
      handle: ({ parameters }, gate) => cancel(parameters[0]!, gate),
    },
    {
      method: 'GET',
      path: '/metrics',
      access: 'key',
      handle: async (_, gate) => {
        requireOrganizationUpdate(gate)
        return { contentType: metrics.contentType, body: await metrics.text() }
      },
    },
  ]
}

function statusOf(engine: Engine, backups: BackupState, home: HomeStatus | undefined) {
  const { last } = backups
  const now = engine.now()
  const warnings = [backups.warning(now), home && homeWarning(home)]
  return {
    version,
    transaction: engine.lastTransactionId(),
    export: engine.export ? shownExport(engine.export) : null,
    storage: shownStorage(engine),
    backup: {
      last: last ? new Date(last.time).toISOString() : null,
      kind: last?.kind ?? null,
      age_seconds: backups.ageSeconds(now) ?? null,
      max_age_seconds: last?.max_age_seconds ?? null,
    },
    ...(home && {
      home: {
        url: home.url,
        connected: home.isConnected,
        caught_up: home.isCaughtUp,
        age_seconds: home.ageMs / 1000,
        fault: home.fault ?? null,
      },
    }),
    warnings: warnings.filter((warning) => warning !== undefined),
  }
}

/** Where the bodies of row versions are. */
function shownStorage(engine: Engine) {
  const { segments, delta, storedBytes } = engine.status()
  const { through = 0, rows = 0, bytes = 0, fault } = engine.cold ?? {}
  return {
    hot: { rows: segments.rows + delta.rows, disk_bytes: storedBytes },
    cold: {
      through: through === 0 ? null : formatTransaction(through),
      rows,
      freed_bytes: bytes,
      fault: fault ?? null,
    },
  }
}

function homeWarning({ isConnected, url, ageMs }: HomeStatus): string | undefined {
  if (isConnected) return undefined
  const seconds = Math.round(ageMs / 1000)
  return `the home node ${url} cannot be reached: answers are ${seconds} seconds old, and nothing can be changed`
}

function maySee({ owner }: QueryStatus, gate: Gate): boolean {
  const { organizationId, userId } = gate.principal
  if (owner?.organizationId !== organizationId) return false
  return owner.userId === userId || gate.mayManageQueries()
}

function shownExport(summary: ExportSummary) {
  const { state, database, through, lag, sent, retries, backfill, fault } = summary
  return {
    state,
    database,
    through: through === 0 ? null : formatTransaction(through),
    through_time: through === 0 ? null : new Date(transactionMs(through)).toISOString(),
    lag,
    sent,
    retries,
    backfill: backfill
      ? { done: backfill.done, rows: backfill.rows, seconds_left: backfill.secondsLeft ?? null }
      : null,
    fault: fault
      ? { kind: fault.kind, message: fault.message, since: new Date(fault.since).toISOString() }
      : null,
  }
}

function shown({
  id,
  owner,
  text,
  startedAt,
  state,
  progress,
  workerMs,
  memoryBytes,
}: QueryStatus) {
  return {
    id,
    user_id: owner?.userId ?? null,
    api_key_id: owner?.keyId ?? null,
    trace_id: owner?.requestId ?? null,
    query: text,
    started: new Date(startedAt).toISOString(),
    state,
    progress: {
      rows_to_read: progress.rowsToRead,
      rows_read: progress.rowsRead,
      rows_sent: progress.rowsSent,
    },
    worker_ms: Math.round(workerMs),
    memory_bytes: Math.round(memoryBytes),
  }
}
