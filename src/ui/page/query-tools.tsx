/** What can be done with a query: run, save, find again, print in another form, take elsewhere. */
import { Menu } from '../component/menu.tsx'
import { tell } from '../component/toast.tsx'
import type { Checked } from '../editor/service.ts'
import type { Project } from '../service/project.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { CodeDialog } from './code-dialog.tsx'
import { ExportMenu } from './export-menu.tsx'
import { HistoryDialog } from './history-dialog.tsx'
import type { ShownAs } from './query-saved.ts'
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
  const open = openedOf('saved', 'history', 'code')?.kind
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
      <button type="button" onClick={() => openWindow('saved')}>
        Saved
      </button>
      <button type="button" onClick={() => openWindow('history')}>
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
      <ExportMenu query={text} />
      <button type="button" disabled={isEmpty} onClick={() => openWindow('code')}>
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
        <SavedDialog project={project} text={text} onOpen={onOpen} onClose={closeWindow} />
      )}
      {open === 'history' && (
        <HistoryDialog project={project.name} onPut={onPut} onClose={closeWindow} />
      )}
      {open === 'code' && <CodeDialog query={text} onClose={closeWindow} />}
    </div>
  )
}

/** Two hyphens in a text of quotes are none, and rare: asking once more does no harm. */
function hasComment(text: string): boolean {
  return text.includes('--')
}
