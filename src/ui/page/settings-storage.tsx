/** What the records take, and what is done with them in the background. */
import { bytes, duration, number } from '../component/format.ts'
import { ListTable } from '../component/list-table.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { request } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { byLabel, readMetrics, total } from './metrics-text.ts'
import { ClickHouseExport, useExportStatus } from './settings-clickhouse.tsx'

export function SettingsStorage() {
  const { data, error, reload } = useLoaded('metrics', async (signal) => {
    return readMetrics(await (await request('/metrics', { signal })).text())
  })
  const status = useExportStatus()
  if (error) return <Failure error={error} retry={reload} />
  if (!data || (!status.data && status.isLoading)) return <Loading what="the figures" />
  const stored = [...byLabel(data, 'assay_storage_bytes', 'part')]
  const steps = [...byLabel(data, 'assay_maintenance_steps', 'kind')]
  const seconds = byLabel(data, 'assay_maintenance_seconds', 'kind')
  const failures = byLabel(data, 'assay_maintenance_failures', 'kind')
  const memory = total(data, 'process_resident_memory_bytes')
  const figures = [
    ['Versions of records in segments', number(total(data, 'assay_segment_rows'))],
    ['Versions not yet in a segment', number(total(data, 'assay_delta_rows'))],
    ['Size of these versions', bytes(total(data, 'assay_delta_bytes'))],
    ['Segments', number(total(data, 'assay_segments'))],
    ['On disk', bytes(stored.reduce((sum, [, size]) => sum + size, 0))],
    ['Memory of the process', bytes(memory)],
    ['Threads for queries', number(total(data, 'assay_workers'))],
    ['Running queries', number(total(data, 'assay_queries_running'))],
    ['Slow queries', number(total(data, 'assay_slow_queries_total'))],
  ] as const
  return (
    <>
      <section class="settings-part" aria-label="Figures">
        <header class="page-head">
          <h2>Storage and queries</h2>
          <button type="button" onClick={reload}>
            Refresh
          </button>
        </header>
        <p class="hint">
          Of all organizations of this service, now. Slow queries are counted since it was started.
        </p>
        <dl class="figures">
          {figures.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      {status.data?.export && <ClickHouseExport status={status.data.export} />}
      <section class="settings-part" aria-label="On disk">
        <h2>On disk</h2>
        <ListTable
          label="On disk"
          items={stored}
          itemId={([part]) => part}
          columns={[
            { title: 'Part', cell: ([part]) => part },
            { title: 'Size', isNumber: true, cell: ([, size]) => bytes(size) },
          ]}
        />
      </section>
      <section class="settings-part" aria-label="Background work">
        <h2>Background work</h2>
        <p class="hint">Since the service was started.</p>
        <ListTable
          label="Background work"
          items={steps}
          itemId={([kind]) => kind}
          columns={[
            { title: 'Step', cell: ([kind]) => kind },
            { title: 'Times', isNumber: true, cell: ([, count]) => number(count) },
            { title: 'Took', isNumber: true, cell: ([kind]) => duration(seconds.get(kind) ?? 0) },
            { title: 'Failed', isNumber: true, cell: ([kind]) => number(failures.get(kind) ?? 0) },
          ]}
        />
      </section>
    </>
  )
}
