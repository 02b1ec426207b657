/** Groups: whom rights are given to together. */
import { useState } from 'preact/hooks'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { ChecksField, TextField, textOf, textsOf } from '../component/field.tsx'
import { number } from '../component/format.ts'
import { ListTable } from '../component/list-table.tsx'
import { request } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { type Directory, type Group, loadDirectory, nameOfUser, remove } from '../service/people.ts'
import type { SettingsProps } from './settings.tsx'
import { SettingsList } from './settings-list.tsx'

type Open = { readonly to: 'create' } | { readonly to: 'change' | 'remove'; readonly group: Group }

export function SettingsGroups({ rights }: SettingsProps) {
  const directory = useLoaded('groups', loadDirectory)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const may = (permission: 'create' | 'update' | 'delete') =>
    rights.within.group?.includes(permission) ?? false
  const { data } = directory
  const nameOf = (id: string) => nameOfUser(data?.users.find((user) => user.id === id))
  return (
    <>
      <SettingsList
        title="Groups"
        add={
          may('create') && (
            <button type="button" class="primary" onClick={() => setOpen({ to: 'create' })}>
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
                  <button
                    type="button"
                    aria-label={`Change ${group.name}`}
                    onClick={() => setOpen({ to: 'change', group })}
                  >
                    Change
                  </button>
                )}
                {may('delete') && (
                  <button
                    type="button"
                    aria-label={`Delete ${group.name}`}
                    onClick={() => setOpen({ to: 'remove', group })}
                  >
                    Delete
                  </button>
                )}
              </>
            )}
          />
        )}
      </SettingsList>
      {data && (open?.to === 'create' || open?.to === 'change') && (
        <GroupDialog
          directory={data}
          group={open.to === 'change' ? open.group : undefined}
          onClose={close}
          onDone={() => {
            close()
            directory.reload()
          }}
        />
      )}
      {open?.to === 'remove' && (
        <Confirm
          title={`Delete the group “${open.group.name}”?`}
          verb="Delete"
          onClose={close}
          onConfirm={async () => {
            await remove('/v1/group', open.group.id)
            directory.reload()
          }}
        >
          <p>Its members lose what they have through it.</p>
        </Confirm>
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
