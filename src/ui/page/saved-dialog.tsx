import { Dialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { Icon } from '../component/icon.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { tell, tellFailure } from '../component/toast.tsx'
import { When } from '../component/when.tsx'
import { useAction } from '../service/action.ts'
import { useLoaded } from '../service/load.ts'
import type { Project } from '../service/project.ts'
import { useRights } from '../service/rights.ts'
import { parameter, setParameters } from '../state/location.ts'
import { listSaved, removeSaved, type SavedQuery, type ShownAs, save } from './query-saved.ts'
import { shownParameters } from './result-view.ts'

/** Queries that all of the project have, and the one in the editor to be among them. */
export function SavedDialog({
  project,
  text,
  onOpen,
  onClose,
}: {
  readonly project: Project
  readonly text: string
  readonly onOpen: (text: string, shown: ShownAs) => void
  readonly onClose: () => void
}) {
  const saved = useLoaded(`saved ${project.id}`, (signal) => listSaved(project.id, signal))
  const rights = useRights('project', project.id)
  const mayChange = rights.data?.permissions.includes('update') ?? false
  // The form comes above the list, which is to stay where it was seen first.
  const list = rights.data || rights.error ? saved.data : undefined
  const current = saved.data?.find(({ id }) => id === parameter('saved'))
  const keep = useAction(async (form: FormData) => {
    const shown = Object.fromEntries(
      shownParameters.flatMap((name) => {
        const value = parameter(name)
        return value === undefined ? [] : [[name, value] as const]
      }),
    )
    const { id, name } = await save(project.id, { name: textOf(form, 'name'), text, shown })
    setParameters({ saved: id })
    tell(`Saved as “${name}”`)
    onClose()
  })
  return (
    <Dialog title="Saved queries" size="large" onClose={onClose}>
      {mayChange && text.trim() !== '' && (
        <form
          class="fields save"
          onSubmit={(event) => {
            event.preventDefault()
            void keep.run(new FormData(event.currentTarget))
          }}
        >
          <TextField
            key={current?.id ?? ''}
            label="Save the query in the editor as"
            name="name"
            isRequired
            isFirst
            {...(current && { value: current.name })}
            hint="Whoever sees the project sees it. A name that is taken gets this query."
          />
          <button type="submit" class="primary" disabled={keep.isBusy}>
            Save
          </button>
        </form>
      )}
      {keep.error && <Failure error={keep.error} />}
      {saved.error && <Failure error={saved.error} retry={saved.reload} />}
      {!list && !saved.error && <Loading what="saved queries" />}
      {list?.length === 0 && (
        <Empty title="None yet">
          <p>
            {mayChange
              ? 'Write a query, and save it here under a name.'
              : 'Saving one takes the right to change the project.'}
          </p>
        </Empty>
      )}
      {list && list.length > 0 && (
        <ul class="past">
          {list.map((query) => (
            <SavedLine
              key={query.id}
              query={query}
              onOpen={() => {
                onOpen(query.text, { ...query.shown, saved: query.id })
                onClose()
              }}
              remove={
                mayChange
                  ? async () => {
                      await removeSaved(project.id, query.id)
                      tell(`“${query.name}” is deleted`, {
                        label: 'Undo',
                        onChoose: () =>
                          void save(project.id, query).then(saved.reload, tellFailure),
                      })
                      if (parameter('saved') === query.id) setParameters({ saved: undefined })
                      saved.reload()
                    }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function SavedLine({
  query,
  onOpen,
  remove,
}: {
  readonly query: SavedQuery
  readonly onOpen: () => void
  readonly remove: (() => Promise<void>) | undefined
}) {
  const { run, isBusy, error } = useAction(async () => remove?.())
  return (
    <li>
      <button type="button" onClick={onOpen}>
        <strong>{query.name}</strong>
        <code>{query.text}</code>
        <span class="hint">
          <When at={query.created} />
        </span>
      </button>
      {remove && (
        <button
          type="button"
          class="plain"
          aria-label={`Delete ${query.name}`}
          disabled={isBusy}
          onClick={() => void run()}
        >
          <Icon name="close" />
        </button>
      )}
      {error && <Failure error={error} />}
    </li>
  )
}
