/** Groups: whom rights are given to together. */
import { FormDialog } from '../component/dialog.tsx'
import { ChecksField, TextField, textOf, textsOf } from '../component/field.tsx'
import { number } from '../component/format.ts'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { request } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { type Directory, type Group, loadDirectory, nameOfUser } from '../service/people.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { Removal } from './removal.tsx'
import { SettingsList } from './settings-list.tsx'
import type { SettingsProps } from './settings-parts.ts'

export function SettingsGroups({ rights }: SettingsProps) {
  const directory = useLoaded('groups', loadDirectory)
  const may = (permission: 'create' | 'update' | 'delete') =>
    rights.within.group?.includes(permission) ?? false
  const { data } = directory
  const open = openedOf('new', 'change', 'remove')
  const meant = data?.groups.find(({ id }) => id === open?.id)
  const isEdited =
    (open?.kind === 'new' && may('create')) ||
    (open?.kind === 'change' && may('update') && meant !== undefined)
  const nameOf = (id: string) => nameOfUser(data?.users.find((user) => user.id === id))
  return (
    <>
      <SettingsList
        title="Groups"
        add={
          may('create') && (
            <button type="button" class="primary" onClick={() => openWindow('new')}>
              New group
            </button>
          )
        }
        loaded={{ ...directory, data: data?.groups }}
        empty="There are no groups that you may see"
      >
        {(groups) => (
          <ListTable
            label="Groups"
            items={groups}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'What for', cell: ({ description }) => description ?? '' },
              { title: 'Members', cell: (group) => membersText(group, nameOf) },
              {
                title: 'Groups in it',
                isOptional: true,
                cell: ({ member_groups }) =>
                  groups
                    .filter(({ id }) => member_groups?.includes(id))
                    .map(({ name }) => name)
                    .join(', '),
              },
            ]}
            actions={(group) => (
              <>
                {may('update') && (
                  <LineAction
                    verb="Change"
                    of={group.name}
                    onChoose={() => openWindow('change', group.id)}
                  />
                )}
                {may('delete') && (
                  <LineAction
                    verb="Delete"
                    of={group.name}
                    onChoose={() => openWindow('remove', group.id)}
                  />
                )}
              </>
            )}
          />
        )}
      </SettingsList>
      {data && isEdited && (
        <GroupDialog
          directory={data}
          group={meant}
          onClose={closeWindow}
          onDone={() => {
            closeWindow()
            directory.reload()
          }}
        />
      )}
      {meant && open?.kind === 'remove' && may('delete') && (
        <Removal
          title={`Delete the group “${meant.name}”?`}
          path="/v1/group"
          id={meant.id}
          list={directory}
        >
          <p>Its members lose what they have through it.</p>
        </Removal>
      )}
    </>
  )
}

/** Some names, then how many more. */
function membersText({ member_users }: Group, nameOf: (id: string) => string): string {
  const ids = member_users ?? []
  const shown = ids.slice(0, 3).map(nameOf)
  const more = ids.length - shown.length
  return [...shown, ...(more > 0 ? [`${number(more)} more`] : [])].join(', ')
}

function GroupDialog({
  directory: { users, groups },
  group,
  onClose,
  onDone,
}: {
  readonly directory: Directory
  /** Undefined for a new one. */
  readonly group: Group | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const before = {
    users: new Set(group?.member_users ?? []),
    groups: new Set(group?.member_groups ?? []),
  }
  const submit = async (form: FormData) => {
    const name = textOf(form, 'name')
    const description = textOf(form, 'description')
    const after = { users: textsOf(form, 'users'), groups: textsOf(form, 'groups') }
    if (group) {
      const body = {
        name,
        description,
        add_member_users: after.users.filter((id) => !before.users.has(id)),
        remove_member_users: [...before.users].filter((id) => !after.users.includes(id)),
        add_member_groups: after.groups.filter((id) => !before.groups.has(id)),
        remove_member_groups: [...before.groups].filter((id) => !after.groups.includes(id)),
      }
      await request(`/v1/group/${group.id}`, { method: 'PATCH', body })
    } else {
      const body = { name, description, member_users: after.users, member_groups: after.groups }
      await request('/v1/group', { body })
    }
    onDone()
  }
  return (
    <FormDialog
      title={group ? `Change “${group.name}”` : 'New group'}
      verb={group ? 'Save' : 'Create'}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField label="Name" name="name" value={group?.name ?? ''} isRequired isFirst />
      <TextField label="What for" name="description" value={group?.description ?? ''} />
      <ChecksField
        label="Members"
        name="users"
        choices={users.map((user) => ({ value: user.id, label: nameOfUser(user) }))}
        chosen={before.users}
      />
      <ChecksField
        label="Groups in it"
        name="groups"
        choices={groups
          .filter(({ id }) => id !== group?.id)
          .map(({ id, name }) => ({ value: id, label: name }))}
        chosen={before.groups}
      />
    </FormDialog>
  )
}
