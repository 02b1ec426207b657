/** Projects are made, renamed and deleted in windows over their list. */
import { useState } from 'preact/hooks'
import { Dialog, FormDialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { Failure } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import { request, requestJson } from '../service/client.ts'
import { session } from '../service/session.ts'
import { goTo, pathOf } from '../state/location.ts'
import { closeWindow, openedOf } from '../state/opened.ts'

export interface ListedProject {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly created: string
}

/** The window that the address asks for, if any: those who may not do it are refused there. */
export function ProjectDialog({
  projects,
  mayCreate,
  onDone,
}: {
  readonly projects: readonly ListedProject[]
  readonly mayCreate: boolean
  /** The list is another now. */
  readonly onDone: () => void
}) {
  const open = openedOf('create', 'rename', 'delete')
  const project = projects.find(({ id }) => id === open?.id)
  if (open?.kind === 'create') return mayCreate ? <CreateProject onClose={closeWindow} /> : null
  if (!open || !project) return null
  const Change = open.kind === 'rename' ? ChangeProject : DeleteProject
  return <Change project={project} onClose={closeWindow} onDone={onDone} />
}

function CreateProject({ onClose }: { readonly onClose: () => void }) {
  return (
    <FormDialog
      title="New project"
      verb="Create"
      onClose={onClose}
      onSubmit={async (form) => {
        const description = textOf(form, 'description')
        const body = { name: textOf(form, 'name'), ...(description !== '' && { description }) }
        const project = await requestJson<ListedProject>('/v1/project', { body })
        onClose()
        const organization = session.value?.organization.name ?? ''
        goTo(pathOf('app', organization, 'p', project.name, 'home'))
      }}
    >
      <TextField label="Name" name="name" isRequired isFirst />
      <TextField label="Description" name="description" />
    </FormDialog>
  )
}

interface ChangeProps {
  readonly project: ListedProject
  readonly onClose: () => void
  readonly onDone: () => void
}

function ChangeProject({ project, onClose, onDone }: ChangeProps) {
  return (
    <FormDialog
      title={`Rename “${project.name}”`}
      verb="Save"
      onClose={onClose}
      onSubmit={async (form) => {
        const body = { name: textOf(form, 'name'), description: textOf(form, 'description') }
        await request(`/v1/project/${project.id}`, { method: 'PATCH', body })
        onClose()
        onDone()
      }}
    >
      <TextField
        label="Name"
        name="name"
        value={project.name}
        hint="Programs that log to the old name make a new project of that name."
        isRequired
        isFirst
      />
      <TextField label="Description" name="description" value={project.description ?? ''} />
    </FormDialog>
  )
}

/** All that it holds goes with it, so its name is asked for. */
function DeleteProject({ project, onClose, onDone }: ChangeProps) {
  const [written, setWritten] = useState('')
  const { run, isBusy, error } = useAction(async () => {
    await request(`/v1/project/${project.id}`, { method: 'DELETE' })
    onClose()
    onDone()
    tell(`Deleted the project “${project.name}”`)
  })
  return (
    <Dialog title={`Delete “${project.name}”?`} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <p>
          Its logs, experiments, datasets and prompts are deleted with it. This cannot be undone.
        </p>
        <TextField
          label={`Type ${project.name} to confirm`}
          name="name"
          onInput={setWritten}
          isFirst
        />
        {error && <Failure error={error} />}
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={isBusy || written.trim() !== project.name}>
            Delete
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
