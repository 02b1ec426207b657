/** What projects do by themselves, and rules of theirs: a list whose lines are made, changed and deleted in windows. */
import type { ComponentChildren } from 'preact'
import { LineAction, type ListColumn, ListTable } from '../component/list-table.tsx'
import type { Loaded } from '../service/load.ts'
import { openedOf, openWindow } from '../state/opened.ts'
import { Removal } from './removal.tsx'
import { SettingsList } from './settings-list.tsx'

interface Named {
  readonly id: string
  readonly name: string
}

interface Automation extends Named {
  /** None: of all projects. */
  readonly project_id?: string | null | undefined
}

export function SettingsAutomations<Item extends Automation>({
  title,
  hint,
  empty,
  kind,
  path,
  loaded,
  items,
  columns,
  beginNew,
  alsoBegin,
  actions,
  remains,
  dialog,
}: {
  readonly title: string
  readonly hint: string
  readonly empty: string
  /** Of the window in which one is made or changed: `kind`, and `remove-kind` where one is deleted. */
  readonly kind: string
  /** Where they are stored: `/v1/project_automation`. */
  readonly path: string
  readonly loaded: Loaded<{ readonly projects: readonly Named[] }>
  readonly items: readonly Item[] | undefined
  /** Behind the name and the project. */
  readonly columns: readonly ListColumn<Item>[]
  readonly beginNew: string
  /** What can be begun beside a new one. */
  readonly alsoBegin?: ComponentChildren
  /** What can be done with a line before it is changed or deleted. */
  readonly actions?: (item: Item) => ComponentChildren
  /** What stays when one is deleted. */
  readonly remains: string
  /** @param item what is changed; undefined where one is made */
  readonly dialog: (item: Item | undefined, projects: readonly Named[]) => ComponentChildren
}) {
  const removal = `remove-${kind}`
  const open = openedOf(kind, removal)
  const meant = items?.find(({ id }) => id === open?.id)
  const projects = loaded.data?.projects ?? []
  const nameOf = (id: string | null | undefined) =>
    id == null ? 'All' : (projects.find((project) => project.id === id)?.name ?? id)
  return (
    <>
      <SettingsList
        title={title}
        hint={hint}
        add={
          <span class="actions">
            {alsoBegin}
            <button type="button" class="primary" onClick={() => openWindow(kind)}>
              {beginNew}
            </button>
          </span>
        }
        loaded={{ ...loaded, data: items }}
        empty={empty}
      >
        {(all) => (
          <ListTable
            label={title}
            items={all}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Project', cell: ({ project_id }) => nameOf(project_id) },
              ...columns,
            ]}
            actions={(item) => (
              <>
                {actions?.(item)}
                <LineAction
                  verb="Change"
                  of={item.name}
                  onChoose={() => openWindow(kind, item.id)}
                />
                <LineAction
                  verb="Delete"
                  of={item.name}
                  onChoose={() => openWindow(removal, item.id)}
                />
              </>
            )}
          />
        )}
      </SettingsList>
      {open?.kind === kind && loaded.data && (open.id === '' || meant) && dialog(meant, projects)}
      {meant && open?.kind === removal && (
        <Removal title={`Delete “${meant.name}”?`} path={path} id={meant.id} list={loaded}>
          <p>{remains}</p>
        </Removal>
      )}
    </>
  )
}
