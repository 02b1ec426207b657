/** What can be done with a query: run, save, find again, print in another form, take elsewhere. */
import { useState } from 'preact/hooks'
import { Menu } from '../component/menu.tsx'
import { tell } from '../component/toast.tsx'
import type { Checked } from '../editor/service.ts'
import type { Project } from '../service/project.ts'
import { CodeDialog } from './code-dialog.tsx'
import { HistoryDialog } from './history-dialog.tsx'
import type { ShownAs } from './query.tsx'
import { exportFormats, exportQuery } from './query-export.ts'
import { SavedDialog } from './saved-dialog.tsx'

export interface QueryToolsProps {
  readonly project: Project
  readonly text: string
  /** What is known of the text, if it is known already. */
  readonly checked: Checked | undefined
  readonly isRunning: boolean
  /** Puts a text into the editor. */
  readonly onPut: (text: string) => void
  /** Puts it there and runs it. */
  readonly onOpen: (text: string, shown: ShownAs) => void
  readonly onRun: () => void
  readonly onCancel: () => void
}

export function QueryTools(props: QueryToolsProps) {
  const { project, text, checked, isRunning, onPut, onOpen, onRun, onCancel } = props
  const [open, setOpen] = useState<'saved' | 'history' | 'code'>()
  const close = () => setOpen(undefined)
  const isEmpty = text.trim() === ''
  const canonical = checked?.canonical
  const print = (next: string) => {
    if (hasComment(text)) {
      const action = { label: 'Format without them', onChoose: () => onPut(next) }
      tell('The comments would be lost: they are no part of the query', action)
    } else onPut(next)
  }
  return (
    <div class="tools">
      <button type="button" onClick={() => setOpen('saved')}>
        Saved
      </button>
      <button type="button" onClick={() => setOpen('history')}>
        History
      </button>
      <Menu
        label="Format"
        isDisabled={!canonical}
        items={[
          { label: 'As clauses', onChoose: () => canonical && print(canonical.btql) },
          { label: 'As SQL', onChoose: () => canonical && print(canonical.sql) },
        ]}
      />
      <Menu
        label="Export"
        isDisabled={isEmpty}
        items={exportFormats.map(({ id, title, detail }) => ({
          label: title,
          detail,
          onChoose: () => void exportQuery(text, id),
        }))}
      />
      <button type="button" disabled={isEmpty} onClick={() => setOpen('code')}>
        Copy as…
      </button>
      {isRunning ? (
        <button type="button" class="primary" onClick={onCancel}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="primary"
          disabled={isEmpty}
          title="Ctrl+Enter in the editor"
          onClick={onRun}
        >
          Run
        </button>
      )}
      {open === 'saved' && (
        <SavedDialog project={project} text={text} onOpen={onOpen} onClose={close} />
      )}
      {open === 'history' && <HistoryDialog project={project.name} onPut={onPut} onClose={close} />}
      {open === 'code' && <CodeDialog query={text} onClose={close} />}
    </div>
  )
}

/** Two hyphens in a text of quotes are none, and rare: asking once more does no harm. */
function hasComment(text: string): boolean {
  return text.includes('--')
}
