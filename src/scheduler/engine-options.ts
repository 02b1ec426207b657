/** What an engine is opened with. */
import type { ClickHouseSettings } from '../clickhouse/settings.ts'
import type { PriceTable } from '../function/prices.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import type { FollowedExport } from './cold/exported-records.ts'
import type { HotLimits } from './cold/hot-limits.ts'
import type { MaskerSettings } from './insert/masker-settings.ts'
import type { MaintenanceOptions } from './maintenance/maintenance-options.ts'

export interface Logger {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface EngineOptions {
  readonly dataDirectory: string
  /** Threads that run queries; 0 runs them in this one. */
  readonly workers: number
  /** What models cost; the built-in table when not given. */
  readonly prices?: PriceTable | undefined
  readonly logger?: Logger
  /** Where transactions are exported to; nowhere when not given. */
  readonly clickhouse?: ClickHouseSettings | undefined
  /** Set where another service exports these records, and this one is told of it: nothing is exported from here. */
  readonly followedExport?: FollowedExport | undefined
  /** What is older than hot is read of the cluster once it is there; undefined: nothing is. */
  readonly hot?: HotLimits | undefined
  /** Of queries that run beside each other. */
  readonly limits?: Partial<QueryLimits>
  /** See `DiskReserveOptions`. */
  readonly leastFreeBytes?: number | undefined
  /** In ms since 1970; what `now()` gives, and when records were made that do not say so. */
  readonly now?: () => number
  /** The key of the hashes that take the place of masked values of an organization. */
  readonly maskingKey?: (organizationId: string) => Uint8Array
  /** Asked to mask what is inserted; nobody when not given. */
  readonly masker?: MaskerSettings | undefined
  readonly maintenance?: Pick<
    MaintenanceOptions,
    'automatic' | 'limits' | 'onManifest' | 'scrubBytesPerSecond'
  >
}
