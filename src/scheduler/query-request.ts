/** What the engine is asked, and what it answers. */
import type { EvaluationContext } from '../binder/evaluate.ts'
import type { ResultSchema } from '../binder/schema.ts'
import type { CatalogView } from '../catalog/catalog.ts'
import { AssayError } from '../error.ts'
import type { OutputFormat } from '../format/output-format.ts'
import type { PriceTable } from '../function/prices.ts'
import type { GivenQuery } from '../parser/given-query.ts'
import type { QueryWarning } from '../planner/lint.ts'
import type { QueryOwner, QueryProgress } from './admission/running-query.ts'
import type { RowChunk } from './answer/answer-frame.ts'
import type { AuditEvent } from './scan/audit-log.ts'

export interface QueryRequest {
  /** Names the query where those that run are listed; made up if not given. */
  readonly id?: string
  /** Clauses; or, with `from`, a filter expression. */
  readonly query: GivenQuery
  /** The source of a filter expression: `experiment('…')`. */
  readonly from?: string
  /** Id or name of the project that sources without an id are of: `project_logs()`. */
  readonly project?: string
  /** Minutes behind UTC. */
  readonly tzOffset?: number
  /** An `_xact_id`: rows as they were then. */
  readonly version?: string
  /**
   * An `_xact_id`: all records that pass, beyond any limit, but only those written after it. The query
   * must be of kind `rows` (`live-plan.ts`).
   */
  readonly since?: string
  /** The number of an object: only the ids of its records that the query gives. */
  readonly idsOf?: number
  readonly useColumnstore?: boolean
  readonly auditLog?: boolean
  /** Only spans of this trace. */
  readonly rootSpanId?: string
  /** Refuses a query that has warnings worth it. */
  readonly strictLint?: boolean
  /** After this, the query fails with QUERY_TIMEOUT. */
  readonly timeoutSeconds?: number
  /** Levels of objects that `infer` enters. */
  readonly inferenceDepth?: number
  /** Without an owner the query counts against no limits of keys or organizations. */
  readonly view: CatalogView & { readonly owner?: QueryOwner }
  readonly signal?: AbortSignal
  /** Is told when the query is cancelled by others than the signal, such as its deadline. */
  readonly onCancelled?: (reason: AssayError) => void
  /** Is told how far the query has come, after each of its tasks and when rows have left. */
  readonly onProgress?: (progress: QueryProgress) => void
  /** Is told of the steps of the query as they end, where there is to be a log of them. */
  readonly onAuditEvent?: (event: AuditEvent) => void
  /** JSON if not said. */
  readonly format?: OutputFormat
  /** Between rows of JSON. */
  readonly separator?: ',\n' | '\n'
  /** Of CSV: escapes texts that a spreadsheet would take for formulas. */
  readonly escapesFormulas?: boolean
}

export interface QuerySummary {
  /** That of the result, with the columns that only the data could name. */
  readonly schema: ResultSchema
  readonly rowCount: number
  readonly cursor?: string
  /** The newest transaction that the query saw; null before the first write. */
  readonly lastTransactionId: string | null
  /** Of columns and rows, by the query's scans. */
  readonly bytesRead: number
  readonly auditLog?: readonly AuditEvent[]
}

export interface QueryResult {
  readonly schema: ResultSchema
  readonly warnings: readonly QueryWarning[]
  /** How the query runs, in a few words. */
  readonly planSummary: string
  /** Whether it has a limit, so that its rows are a page, which a cursor may continue. */
  readonly isPage: boolean
  /** All rows of JSON, where they were had within the call; undefined where they come with time. */
  readonly inline: RowChunk | undefined
  /**
   * The rows, and in formats other than JSON what stands around them. May be read once. Leaving
   * early cancels the query.
   */
  readonly rows: AsyncIterable<RowChunk>
  /** What is known when the rows have ended. */
  finish(): QuerySummary
}

/**
 * What a query is evaluated with. Throws BIND_INVALID_OPTION for what is no time zone.
 *
 * @param now in ms since 1970
 */
export function evaluationContext(
  { tzOffset = 0 }: Pick<QueryRequest, 'tzOffset'>,
  now: number,
  prices: PriceTable | undefined,
): EvaluationContext {
  if (!Number.isFinite(tzOffset) || Math.abs(tzOffset) > 24 * 60) {
    throw new AssayError('BIND_INVALID_OPTION', `tz_offset ${tzOffset} is not a time zone's`, {
      path: 'tz_offset',
      hint: 'give the minutes behind UTC, such as 480 for US Pacific standard time',
    })
  }
  return prices ? { now, tzOffset, prices } : { now, tzOffset }
}
