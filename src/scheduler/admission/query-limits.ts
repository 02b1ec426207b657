import { totalmem } from 'node:os'
import type { AdmissionLimits } from './admission.ts'
import type { MemoryLimits } from './memory-budget.ts'
import type { ConcurrencyLimits } from './running-queries.ts'

/** What bounds the queries that run beside each other. */
export interface QueryLimits {
  readonly admission: AdmissionLimits
  readonly concurrent: ConcurrencyLimits
  readonly memory: MemoryLimits
  /** The longest that a query may take; undefined: as long as it asks for. */
  readonly maximumSeconds: number | undefined
  /** Queries that take longer are logged with their plans; undefined: none. */
  readonly slowMs: number | undefined
  /** Of short answers that are given again while nothing has changed; 0: none. */
  readonly keptAnswersBytes: number
  /** Of records that were looked up: half for them, half for the blocks that they are in. */
  readonly rowCacheBytes: number
}

/** Half of the machine's memory, or of what the process may have of it. */
function halfOfMemory(): number {
  const constrained = process.constrainedMemory()
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
  return Math.floor(available / 2)
}

const total = halfOfMemory()

export const defaultQueryLimits: QueryLimits = {
  admission: { running: 32, queued: 4096 },
  concurrent: { perKey: undefined, perOrganization: undefined },
  memory: { perQuery: megabytes(total / 2), total: megabytes(total) },
  maximumSeconds: undefined,
  slowMs: 5000,
  keptAnswersBytes: 16 * 2 ** 20,
  rowCacheBytes: 128 * 2 ** 20,
}

/** In whole megabytes, as they are set. */
function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20) * 2 ** 20
}

/** Of the results of queries that nobody waits for. */
export interface AsyncLimits {
  /** How long a result is kept after its query has ended. */
  readonly lifetimeMs: number
  /** Of all results together; the oldest make room. */
  readonly totalBytes: number
}
