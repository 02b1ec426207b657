import { useState } from 'preact/hooks'
import { Dialog } from '../component/dialog.tsx'
import { counted, duration } from '../component/format.ts'
import { Empty } from '../component/notice.tsx'
import { When } from '../component/when.tsx'
import { forgetHistory, readHistory } from './query-history.ts'

/** Queries that were run before, of all projects; one goes back into the editor. */
export function HistoryDialog({
  project,
  onPut,
  onClose,
}: {
  readonly project: string
  readonly onPut: (text: string) => void
  readonly onClose: () => void
}) {
  const [past, setPast] = useState(readHistory)
  const [wanted, setWanted] = useState('')
  const shown = past.filter(({ text }) => text.toLowerCase().includes(wanted.toLowerCase()))
  return (
    <Dialog title="History" size="large" onClose={onClose}>
      {past.length === 0 ? (
        <Empty title="Nothing yet">
          <p>Queries that you run are kept in this browser.</p>
        </Empty>
      ) : (
        <>
          <input
            type="search"
            aria-label="Find in the history"
            placeholder="Find in the history"
            data-autofocus
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
          <ul class="past">
            {shown.map((query) => (
              <li key={`${query.project} ${query.at} ${query.text}`}>
                <button
                  type="button"
                  onClick={() => {
                    onPut(query.text)
                    onClose()
                  }}
                >
                  <code>{query.text}</code>
                  <span class="hint">
                    <When at={query.at} />
                    {query.project !== project && ` · ${query.project}`}
                    {query.hasFailed
                      ? ' · failed'
                      : ` · ${counted(query.rows ?? 0, 'row')} · ${duration((query.milliseconds ?? 0) / 1000)}`}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <footer class="dialog-foot">
            <button
              type="button"
              onClick={() => {
                forgetHistory()
                setPast([])
              }}
            >
              Forget all
            </button>
          </footer>
        </>
      )}
    </Dialog>
  )
}
