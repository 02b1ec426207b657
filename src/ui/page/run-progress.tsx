/** How far a query is that runs. */
import { useEffect, useState } from 'preact/hooks'
import { counted, duration, number } from '../component/format.ts'
import type { Run } from './query-run.ts'

/** Short queries are over before anybody could read how far they are. */
const quietMs = 300

export function RunProgress({
  run: { startedAt, progress },
  onCancel,
}: {
  readonly run: Run
  readonly onCancel: () => void
}) {
  const [now, setNow] = useState(performance.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(performance.now()), 200)
    return () => window.clearInterval(timer)
  }, [])
  const elapsed = now - startedAt
  if (elapsed < quietMs) return <p class="hint">Running…</p>
  const { rows_read = 0, rows_to_read = 0 } = progress ?? {}
  const isKnown = rows_to_read > 0
  return (
    <div class="progress" role="status">
      <progress
        aria-label="Rows read"
        {...(isKnown && { max: rows_to_read, value: Math.min(rows_read, rows_to_read) })}
      />
      <p>
        {duration(elapsed / 1000)}
        {isKnown && ` · ${number(rows_read)} of ${counted(rows_to_read, 'row')} read`}
      </p>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  )
}
