/** Who is in the organization: they are invited with groups, get a first key, and are removed. */
import { useState } from 'preact/hooks'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { ChecksField, LongTextField, TextField, textOf, textsOf } from '../component/field.tsx'
import { ListTable } from '../component/list-table.tsx'
import { tell } from '../component/toast.tsx'
import { When } from '../component/when.tsx'
import { request, requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { isServiceAccount, loadDirectory, nameOfUser, type User } from '../service/people.ts'
import { session } from '../service/session.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { NewSecret } from './new-secret.tsx'
import { SettingsList } from './settings-list.tsx'
import type { SettingsProps } from './settings-parts.ts'

export function SettingsMembers({ rights }: SettingsProps) {
  const directory = useLoaded('members', loadDirectory)
  const [made, setMade] = useState<{ readonly user: User; readonly text: string }>()
  const { data } = directory
  const may = (permission: 'create' | 'delete') =>
    rights.within.org_member?.includes(permission) ?? false
  const groupsOf = ({ id }: User) =>
    (data?.groups ?? []).filter(({ member_users }) => member_users?.includes(id))
  const isSelf = ({ id }: User) => id === session.value?.user.id
  const mayGetKey = (user: User) => rights.owner && !isSelf(user) && !isServiceAccount(user)
  const open = openedOf('invite', 'key', 'remove')
  const meant = data?.users.find(({ id }) => id === open?.id)
  return (
    <>
      <SettingsList
        title="Members"
        add={
          may('create') && (
            <button type="button" class="primary" onClick={() => openWindow('invite')}>
              Invite
            </button>
          )
        }
        loaded={{ ...directory, data: data?.users }}
        empty="There is nobody that you may see"
      >
        {(users) => (
          <ListTable
            label="Members"
            items={users}
            itemId={({ id }) => id}
            columns={[
              {
                title: 'Name',
                cell: (user) => `${nameOfUser(user)}${isSelf(user) ? ' — you' : ''}`,
              },
              {
                title: 'Groups',
                cell: (user) => groupsOf(user).map(({ id, name }) => <Tag key={id} text={name} />),
              },
              { title: 'Since', cell: ({ created }) => <When at={created} /> },
            ]}
            actions={(user) =>
              !isSelf(user) && (
                <>
                  {mayGetKey(user) && (
                    <button type="button" onClick={() => openWindow('key', user.id)}>
                      Make a key
                    </button>
                  )}
                  {may('delete') && (
                    <button
                      type="button"
                      aria-label={`Remove ${nameOfUser(user)}`}
                      onClick={() => openWindow('remove', user.id)}
                    >
                      Remove
                    </button>
                  )}
                </>
              )
            }
          />
        )}
      </SettingsList>
      {open?.kind === 'invite' && may('create') && (
        <FormDialog
          title="Invite"
          verb="Invite"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const emails = textOf(form, 'emails').split(/[\s,;]+/)
            const group_ids = textsOf(form, 'groups')
            const body = { invite_users: { emails, group_ids } }
            await request('/v1/organization/members', { method: 'PATCH', body })
            closeWindow()
            directory.reload()
            tell('They are members now. Make each of them a first key: this service sends no mail')
          }}
        >
          <LongTextField
            label="E-mail addresses"
            name="emails"
            rows={3}
            isRequired
            placeholder="ada@example.com"
            hint="One a line. No mail is sent: give each a key, by which they sign in and set a password."
          />
          <ChecksField
            label="Into groups"
            name="groups"
            choices={(data?.groups ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            chosen={new Set(usualGroup(data?.groups ?? []))}
            hint="Without a group they may do nothing until they are given a right."
          />
        </FormDialog>
      )}
      {meant && open?.kind === 'key' && mayGetKey(meant) && (
        <FormDialog
          title={`A key for ${nameOfUser(meant)}`}
          verb="Create"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const options = { body: { name: textOf(form, 'name') }, actFor: meant.id }
            const { key } = await requestJson<{ key: string }>('/v1/api_key', options)
            closeWindow()
            setMade({ user: meant, text: key })
          }}
        >
          <TextField
            label="Name"
            name="name"
            value="first key"
            isRequired
            isFirst
            hint="It has the rights of the member. That you made it is in the audit trail."
          />
        </FormDialog>
      )}
      {meant && open?.kind === 'remove' && may('delete') && !isSelf(meant) && (
        <Confirm
          title={`Remove ${nameOfUser(meant)}?`}
          verb="Remove"
          onClose={closeWindow}
          onConfirm={async () => {
            const body = { remove_users: { ids: [meant.id] } }
            await request('/v1/organization/members', { method: 'PATCH', body })
            directory.reload()
          }}
        >
          <p>
            Their keys, groups and grants here are gone at once, also if they are invited again.
          </p>
        </Confirm>
      )}
      {made && (
        <NewSecret
          title={`The key of ${nameOfUser(made.user)}`}
          text={made.text}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  )
}

/** Reading is what most begin with. */
function usualGroup(groups: readonly { readonly id: string; readonly name: string }[]): string[] {
  return groups.filter(({ name }) => name === 'Viewers').map(({ id }) => id)
}

export function Tag({ text }: { readonly text: string }) {
  return <span class="tag">{text}</span>
}
