/** Objects of a list that are chosen, which the address says, and what can be done with them. */
import type { ComponentChildren } from 'preact'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { TextField } from '../component/field.tsx'
import { counted } from '../component/format.ts'
import { useMayOnAll } from '../service/rights.ts'
import { parameter, setParameters } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'

export interface Chosen {
  readonly ids: ReadonlySet<string>
  readonly choose: (ids: ReadonlySet<string>) => void
}

export function useChosen(): Chosen {
  return {
    ids: new Set((parameter('chosen') ?? '').split(',').filter((id) => id !== '')),
    choose: (ids) => setParameters({ chosen: [...ids].join(',') }),
  }
}

export interface ChosenObjectsProps {
  readonly kind: 'experiment' | 'dataset'
  readonly projectId: string
  /** At least one. */
  readonly items: readonly { readonly id: string; readonly name: string }[]
  /** Fields that are changed beside the name. */
  readonly fields?: ComponentChildren
  readonly rename: (id: string, form: FormData) => Promise<void>
  readonly remove: (id: string) => Promise<void>
  /** What is deleted with them. */
  readonly warning: string
  /** They are others now. */
  readonly onDone: () => void
  readonly onClear: () => void
  /** What else can be done, before renaming and deleting. */
  readonly children?: ComponentChildren
}

export function ChosenObjects(props: ChosenObjectsProps) {
  const { kind, projectId, items, fields, rename, remove, warning, children } = props
  const { onDone, onClear } = props
  const may = useMayOnAll(
    kind,
    projectId,
    items.map(({ id }) => id),
  )
  const asked = openedOf('rename', 'delete')
  const [first] = items
  if (!first) return null
  const isOne = items.length === 1
  const names = isOne ? `“${first.name}”` : counted(items.length, kind)
  return (
    <div class="chosen" role="toolbar" aria-label={`Chosen ${kind}s`}>
      <strong>{isOne ? first.name : `${items.length} chosen`}</strong>
      {children}
      {may('update') && (
        <button
          type="button"
          disabled={!isOne}
          title={isOne ? undefined : `Choose a single ${kind} to rename it`}
          onClick={() => openWindow('rename')}
        >
          Rename
        </button>
      )}
      {may('delete') && (
        <button type="button" class="danger" onClick={() => openWindow('delete')}>
          Delete
        </button>
      )}
      <button type="button" class="plain" onClick={onClear}>
        Clear
      </button>
      {isOne && may('update') && asked?.kind === 'rename' && (
        <FormDialog
          title={`Rename “${first.name}”`}
          verb="Rename"
          onClose={closeWindow}
          onSubmit={async (form) => {
            await rename(first.id, form)
            closeWindow()
            onDone()
          }}
        >
          <TextField label="Name" name="name" value={first.name} isRequired isFirst />
          {fields}
        </FormDialog>
      )}
      {may('delete') && asked?.kind === 'delete' && (
        <Confirm
          title={`Delete ${names}?`}
          verb="Delete"
          onClose={closeWindow}
          onConfirm={async () => {
            for (const { id } of items) await remove(id)
            onDone()
          }}
        >
          <p>{warning}</p>
        </Confirm>
      )}
    </div>
  )
}
