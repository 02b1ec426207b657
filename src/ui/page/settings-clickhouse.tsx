/** How the export to ClickHouse is, where the service has one. */
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { bytes, counted, duration, number } from '../component/format.ts'
import { When } from '../component/when.tsx'
import { requestJson } from '../service/client.ts'
import { type Loaded, useLoaded } from '../service/load.ts'

interface ExportStatus {
  readonly state: 'starting' | 'exporting' | 'current' | 'waiting'
  readonly database: string
  readonly through_time: string | null
  readonly lag: { readonly transactions: number; readonly rows: number; readonly seconds: number }
  readonly sent: { readonly rows: number; readonly bytes: number }
  readonly retries: number
  readonly backfill: {
    readonly done: number
    readonly rows: number
    readonly seconds_left: number | null
  } | null
  readonly fault: { readonly message: string; readonly since: string } | null
}

const refreshMs = 2000

const stateWords: Readonly<Record<ExportStatus['state'], string>> = {
  starting: 'Connecting',
  exporting: 'Sending',
  current: 'Up to date',
  waiting: 'Waiting',
}

/** How it is, asked for again and again; null where the service has none. */
export function useExportStatus(): Loaded<{ readonly export: ExportStatus | null }> {
  const loaded = useLoaded('export to ClickHouse', (signal) =>
    requestJson<{ readonly export: ExportStatus | null }>('/admin/status', { signal }),
  )
  const { data, error, isLoading, reload } = loaded
  const status = data?.export
  useEffect(() => {
    if (isLoading || error || !status) return
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, refreshMs)
    return () => window.clearInterval(timer)
  }, [isLoading, error, status === null])
  return loaded
}

export function ClickHouseExport({ status }: { readonly status: ExportStatus }) {
  const { state, database, through_time, lag, sent, retries, backfill, fault } = status
  return (
    <section class="settings-part" aria-label="Export to ClickHouse">
      <h2>Export to ClickHouse</h2>
      <p class="hint">Database {database}. Refreshed every two seconds.</p>
      {fault && (
        <div class="notice warning" role="status">
          <p>
            The export is waiting to try again: {fault.message}. This began{' '}
            <When at={fault.since} />. Nothing is lost: the data directory keeps what has not
            arrived.
          </p>
        </div>
      )}
      {backfill && (
        <p class="hint">
          <progress max={backfill.rows} value={backfill.done} aria-label="Backfill" />{' '}
          {number(backfill.done)} of {counted(backfill.rows, 'row')}
          {backfill.seconds_left !== null && `, about ${duration(backfill.seconds_left)} left`}
        </p>
      )}
      <dl class="figures">
        <Figure name="State" value={stateWords[state]} />
        <Figure name="Complete up to" value={<When at={through_time} never="nothing yet" />} />
        <Figure name="Transactions to send" value={number(lag.transactions)} />
        <Figure name="Rows to send" value={number(lag.rows)} />
        <Figure name="Longest wait" value={duration(lag.seconds)} />
        <Figure name="Rows sent since the start" value={number(sent.rows)} />
        <Figure name="Size of these rows" value={bytes(sent.bytes)} />
        <Figure name="Retries" value={number(retries)} />
      </dl>
    </section>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: ComponentChild }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
