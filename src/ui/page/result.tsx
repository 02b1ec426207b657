/** What a query came to, or how far it is: as a table, a plot, JSON, or what each operator did. */
import { bytes, counted, duration, number } from '../component/format.ts'
import { JsonView } from '../component/json-view.tsx'
import { Empty, Failure } from '../component/notice.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import type { Problem } from '../editor/service.ts'
import { addressWith, parameter, setParameters } from '../state/location.ts'
import { ExportMenu } from './export-menu.tsx'
import { mostRows, QueryRefused, type Run } from './query-run.ts'
import { ResultPlot } from './result-plot.tsx'
import { ResultTable } from './result-table.tsx'
import { ResultTimeline } from './result-timeline.tsx'
import { readView, resultViews } from './result-view.ts'
import { RunProgress } from './run-progress.tsx'

export interface ResultProps {
  readonly run: Run
  /** What is said of the query already. */
  readonly known: readonly Problem[]
  readonly onMore: () => void
  readonly onExtend: () => void
  readonly onCancel: () => void
  readonly onRetry: () => void
  readonly onRunWithLog: () => void
}

export function Result(props: ResultProps) {
  const { run, known, onMore, onExtend, onCancel, onRetry, onRunWithLog } = props
  const warnings = run.warnings.filter(({ message }) => {
    return !known.some((problem) => problem.message === message)
  })
  const view = readView(parameter('show'))
  const { error, isRunning, isCancelled, elapsed, rows } = run
  if (error) {
    // What is wrong in the text stays wrong until it is written anew.
    const canRetry = !(error instanceof QueryRefused)
    return <Failure error={error} {...(canRetry && { retry: onRetry })} />
  }
  if (isRunning && elapsed === undefined) return <RunProgress run={run} onCancel={onCancel} />
  if (isCancelled && rows.length === 0) {
    return (
      <Empty title="Cancelled">
        <button type="button" onClick={onRetry}>
          Run it again
        </button>
      </Empty>
    )
  }
  return (
    <section class="result" aria-label="Result">
      <div class="result-head">
        <Tabs
          label="Result views"
          tabs={resultViews}
          current={view}
          onChoose={(show) => setParameters({ show }, { replace: false })}
          linkOf={(show) => addressWith({ show })}
        />
        <RunFigures run={run} />
      </div>
      {warnings.map(({ code, message, hint }) => (
        <p key={code} class="hint">
          {message}
          {hint !== undefined && ` — ${hint}`}
        </p>
      ))}
      {run.isFull && (
        <div class="notice tools" role="status">
          <span>The first {counted(rows.length, 'row')} are here, and there are more: </span>
          <button type="button" onClick={onExtend}>
            Load {number(mostRows)} more
          </button>
          <ExportMenu query={run.text} label="Export all rows" />
        </div>
      )}
      <TabPanel label="Result views" current={view}>
        {view === 'table' && <ResultTable run={run} onMore={onMore} />}
        {view === 'plot' && <ResultPlot run={run} onMore={onMore} />}
        {view === 'raw' && <JsonView value={rows} label="Rows" />}
        {view === 'log' &&
          (run.auditLog ? (
            <ResultTimeline events={run.auditLog} />
          ) : (
            <Empty title="It ran without a log">
              <p>With one, every step is measured, which takes some time by itself.</p>
              <button type="button" class="primary" onClick={onRunWithLog}>
                Run it again with the audit log
              </button>
            </Empty>
          ))}
      </TabPanel>
    </section>
  )
}

function RunFigures({ run }: { readonly run: Run }) {
  const { rows, hasMore, isFull, elapsed, readBytes } = run
  return (
    <p class="hint" role="status">
      {counted(rows.length, 'row')}
      {(hasMore || isFull) && ' and more'}
      {elapsed !== undefined && ` · ${duration(elapsed / 1000)}`}
      {readBytes !== undefined && readBytes > 0 && ` · ${bytes(readBytes)} read`}
    </p>
  )
}
