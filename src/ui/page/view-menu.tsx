/** Views of the logs under names: opened, saved, renamed, deleted, and shared by their URL. */
import { useEffect } from 'preact/hooks'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { Icon } from '../component/icon.tsx'
import { Failure } from '../component/notice.tsx'
import { Popover } from '../component/popover.tsx'
import { tell, tellFailure } from '../component/toast.tsx'
import { useLoaded } from '../service/load.ts'
import { useMay } from '../service/rights.ts'
import {
  deleteView,
  listViews,
  renameView,
  type SavedView,
  saveView,
  type ViewContent,
} from '../service/saved-views.ts'
import { parameter, setParameters } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { type LogView, readView, type ViewParameters, viewOfUrl, writeView } from './log-view.ts'

export function ViewMenu({ projectId }: { readonly projectId: string }) {
  const mayChange = useMay('project', projectId)('update')
  const {
    data: views,
    error,
    reload,
  } = useLoaded(`views ${projectId}`, (signal) => {
    return listViews(projectId, signal)
  })
  const named = parameter('view')
  const current = views?.find(({ id }) => id === named)
  const task = mayChange ? openedOf('save-view', 'rename-view', 'delete-view') : undefined
  const meant = views?.find(({ id }) => id === task?.id)
  const here = JSON.stringify(writeView(viewOfUrl()))
  const isChanged = current !== undefined && JSON.stringify(parametersOf(current)) !== here

  // A URL that says no more than the view: what the view is is put beside it.
  useEffect(() => {
    const isBare = Object.values(writeView(viewOfUrl())).every((value) => !value)
    if (current && isBare) openView(current)
  }, [current?.id])

  const save = async (name: string) => {
    const { id } = await saveView(projectId, name, contentOf(viewOfUrl()))
    setParameters({ view: id })
    reload()
    tell(`Saved the view “${name}”`)
  }
  return (
    <>
      <Popover label={current ? `View: ${current.name}${isChanged ? ' *' : ''}` : 'Views'}>
        {(close) => (
          <div class="view-list">
            {error && <Failure error={error} retry={reload} />}
            {views?.length === 0 && (
              <p class="hint">
                A view keeps the search, the columns and the time under a name, for everybody who
                reads this project.
              </p>
            )}
            <ul>
              {views?.map((view) => (
                <li key={view.id}>
                  <button
                    type="button"
                    class="plain name"
                    aria-current={view.id === named}
                    onClick={() => {
                      openView(view)
                      close()
                    }}
                  >
                    {view.name}
                  </button>
                  {mayChange && (
                    <>
                      <button
                        type="button"
                        class="plain"
                        aria-label={`Rename the view ${view.name}`}
                        onClick={() => openWindow('rename-view', view.id)}
                      >
                        <Icon name="edit" />
                      </button>
                      <button
                        type="button"
                        class="plain"
                        aria-label={`Delete the view ${view.name}`}
                        onClick={() => openWindow('delete-view', view.id)}
                      >
                        <Icon name="close" />
                      </button>
                    </>
                  )}
                </li>
              ))}
            </ul>
            {mayChange && current && isChanged && (
              <button
                type="button"
                onClick={() => void save(current.name).then(close, tellFailure)}
              >
                Save the changes
              </button>
            )}
            {mayChange && (
              <button type="button" onClick={() => openWindow('save-view')}>
                Save as a new view…
              </button>
            )}
            {current && (
              <button type="button" onClick={() => leave(close)}>
                Leave the view
              </button>
            )}
          </div>
        )}
      </Popover>
      {task?.kind === 'save-view' && (
        <FormDialog
          title="Save this view"
          verb="Save"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const name = textOf(form, 'name')
            if (views?.some((view) => view.name === name)) {
              throw new Error(`There is a view “${name}” already: choose another name`)
            }
            await save(name)
            closeWindow()
          }}
        >
          <TextField label="Name" name="name" isRequired isFirst />
        </FormDialog>
      )}
      {meant && task?.kind === 'rename-view' && (
        <FormDialog
          title={`Rename the view “${meant.name}”`}
          verb="Rename"
          onClose={closeWindow}
          onSubmit={async (form) => {
            await renameView(projectId, meant.id, textOf(form, 'name'))
            closeWindow()
            reload()
          }}
        >
          <TextField label="Name" name="name" value={meant.name} isRequired isFirst />
        </FormDialog>
      )}
      {meant && task?.kind === 'delete-view' && (
        <Confirm
          title={`Delete the view “${meant.name}”?`}
          verb="Delete"
          onClose={closeWindow}
          onConfirm={async () => {
            await deleteView(projectId, meant.id)
            if (named === meant.id) setParameters({ view: undefined })
            reload()
          }}
        >
          <p>Nobody can open it then any more. The logs stay as they are.</p>
        </Confirm>
      )}
    </>
  )
}

export function openView(view: SavedView): void {
  setParameters(
    { ...parametersOf(view), view: view.id, trace: undefined, span: undefined },
    { replace: false },
  )
}

function leave(close: () => void): void {
  const none = Object.fromEntries(
    Object.keys(writeView(viewOfUrl())).map((name) => [name, undefined]),
  )
  setParameters({ ...none, view: undefined }, { replace: false })
  close()
}

function contentOf(view: LogView): ViewContent {
  const { text, rowsAre, columns, widths, time } = view
  const sort = writeView(view).sort ?? writeView(view).order
  return {
    view_data: {
      search: {
        ...(text !== '' && { filter: [{ text }] }),
        ...(sort && { sort: [{ text: sort }] }),
      },
    },
    options: {
      queryShape: rowsAre,
      columnSizing: widths,
      ...(columns && {
        columnOrder: columns,
        columnVisibility: Object.fromEntries(columns.map((id) => [id, true])),
      }),
      ...(time && { timeRangeFilter: time.kind === 'past' ? time.length : rangeOf(time) }),
    },
  }
}

function rangeOf({ from, to }: { readonly from: string; readonly to: string }) {
  return { from, to }
}

/** What of a view this page knows; views that others saved may say more, and less. */
function parametersOf({ view_data, options }: SavedView): ViewParameters {
  const order = options?.columnOrder
  const time = options?.timeRangeFilter
  const sort = textIn(view_data?.search?.sort)
  return writeView(
    readView({
      q: textIn(view_data?.search?.filter),
      rows: options?.queryShape ?? undefined,
      columns: order?.map(encodeURIComponent).join(','),
      widths: Object.entries(options?.columnSizing ?? {})
        .map(([id, width]) => `${encodeURIComponent(id)}:${width}`)
        .join(','),
      sort: sort === 'relevance' ? undefined : sort,
      order: sort === 'relevance' ? sort : undefined,
      time: typeof time === 'string' ? time : time ? `${time.from}~${time.to}` : undefined,
    }),
  )
}

function textIn(conditions: readonly unknown[] | null | undefined): string | undefined {
  const [first] = conditions ?? []
  if (typeof first === 'string') return first
  const text =
    typeof first === 'object' && first !== null && 'text' in first ? first.text : undefined
  return typeof text === 'string' ? text : undefined
}
