/** What the service answers to a query. */

export type Row = Readonly<Record<string, unknown>>

export interface ColumnSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
}

export interface ResultSchema {
  readonly items?: { readonly properties?: Readonly<Record<string, ColumnSchema>> }
}

export interface QueryWarning {
  readonly code: string
  readonly message: string
  readonly severity: string
  readonly hint?: string
}

/** One step of a query: see `scheduler/scan/audit-log.ts`. Times in milliseconds. */
export interface AuditEvent {
  readonly event: string
  readonly at: number
  readonly duration: number
  readonly [detail: string]: unknown
}

export interface Answer {
  readonly data: readonly Row[]
  readonly schema: ResultSchema
  readonly cursor?: string
  readonly warnings?: readonly QueryWarning[]
  readonly audit_log?: readonly AuditEvent[]
  readonly realtime_state?: { readonly read_bytes?: number }
}

export interface Progress {
  readonly rows_to_read: number
  readonly rows_read: number
}
