/** Service tokens: how programs come in with rights of their own, under accounts that are no person's. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { Expiry } from '../component/expiry.tsx'
import { ChecksField, ChoiceField, TextField, textOf, textsOf } from '../component/field.tsx'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { When } from '../component/when.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import {
  type Directory,
  isServiceAccount,
  listAll,
  loadDirectory,
  nameOfUser,
} from '../service/people.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { NewSecret } from './new-secret.tsx'
import { Revoke } from './revoke.tsx'
import { SettingsList } from './settings-list.tsx'

interface ServiceToken {
  readonly id: string
  readonly name: string
  readonly preview_name: string
  readonly service_account_name: string | null
  readonly created: string | null
  readonly used: string | null
  readonly expires_at: string | null
}

async function load(signal: AbortSignal) {
  const [directory, tokens] = await Promise.all([
    loadDirectory(signal),
    listAll<ServiceToken>('/v1/service_token', signal),
  ])
  return { directory, tokens }
}

export function SettingsTokens() {
  const loaded = useLoaded('tokens', load)
  const [made, setMade] = useState<string>()
  const open = openedOf('new', 'revoke')
  const revoked =
    open?.kind === 'revoke' ? loaded.data?.tokens.find(({ id }) => id === open.id) : undefined
  return (
    <>
      <SettingsList
        title="Service tokens"
        add={
          <button type="button" class="primary" onClick={() => openWindow('new')}>
            New token
          </button>
        }
        loaded={{ ...loaded, data: loaded.data?.tokens }}
        empty="There are no tokens yet"
      >
        {(tokens) => (
          <ListTable
            label="Service tokens"
            items={tokens}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              {
                title: 'Token',
                cell: ({ preview_name }) => <code class="whole">{preview_name}</code>,
              },
              { title: 'Account', cell: ({ service_account_name }) => service_account_name ?? '' },
              { title: 'Created', cell: ({ created }) => <When at={created} /> },
              { title: 'Last used', cell: ({ used }) => <When at={used} never="never" /> },
              { title: 'Expires', cell: ({ expires_at }) => <Expiry at={expires_at} /> },
            ]}
            actions={(token) => (
              <LineAction
                verb="Revoke"
                of={token.name}
                onChoose={() => openWindow('revoke', token.id)}
              />
            )}
          />
        )}
      </SettingsList>
      {loaded.data && open?.kind === 'new' && (
        <TokenDialog
          directory={loaded.data.directory}
          onClose={closeWindow}
          onMade={(text) => {
            closeWindow()
            setMade(text)
            loaded.reload()
          }}
        />
      )}
      {revoked && (
        <Revoke name={revoked.name} path="/v1/service_token" id={revoked.id} list={loaded} />
      )}
      {made !== undefined && (
        <NewSecret title="The new token" text={made} onClose={() => setMade(undefined)} />
      )}
    </>
  )
}

function TokenDialog({
  directory: { users, groups },
  onClose,
  onMade,
}: {
  readonly directory: Directory
  readonly onClose: () => void
  readonly onMade: (text: string) => void
}) {
  const accounts = users.filter(isServiceAccount)
  const [account, setAccount] = useState('')
  const submit = async (form: FormData) => {
    const name = textOf(form, 'name')
    if (account !== '') {
      const body = { name, service_account_id: account }
      onMade((await requestJson<{ key: string }>('/v1/service_token', { body })).key)
      return
    }
    const body = {
      invite_users: {
        service_accounts: [{ name: textOf(form, 'account_name'), token_name: name }],
        group_ids: textsOf(form, 'groups'),
      },
    }
    const { added_users } = await requestJson<{ added_users: readonly { api_key: string }[] }>(
      '/v1/organization/members',
      { method: 'PATCH', body },
    )
    const [added] = added_users
    if (added) onMade(added.api_key)
  }
  return (
    <FormDialog title="New service token" verb="Create" onClose={onClose} onSubmit={submit}>
      <TextField label="Name of the token" name="name" isRequired isFirst placeholder="deploy" />
      <ChoiceField
        label="Account"
        name="account"
        value={account}
        onChange={setAccount}
        choices={[
          { value: '', label: 'A new one' },
          ...accounts.map((user) => ({ value: user.id, label: nameOfUser(user) })),
        ]}
      />
      {account === '' && (
        <>
          <TextField label="Name of the account" name="account_name" isRequired placeholder="ci" />
          <ChecksField
            label="Into groups"
            name="groups"
            choices={groups.map(({ id, name }) => ({ value: id, label: name }))}
            hint="Its tokens may do what the account may."
          />
        </>
      )}
    </FormDialog>
  )
}
